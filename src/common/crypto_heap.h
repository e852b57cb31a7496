/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The memory that OpenSSL allocates, in a program of ours. */
#ifndef DPUMAP_COMMON_CRYPTO_HEAP_H
#define DPUMAP_COMMON_CRYPTO_HEAP_H

/*
 * Lets OpenSSL keep private keys in memory that core dumps leave out, and wipe everything that it
 * frees. To be called before anything else of OpenSSL; without effect if that is too late.
 */
void dpumap_crypto_heap_protect(void);

#endif
