/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory for access keys and other secrets, which core dumps leave out. */
#ifndef DPUMAP_SECRET_H
#define DPUMAP_SECRET_H

#include <stddef.h>

/* Zeroed memory; NULL if there is none. Any thread may call this. */
void *dpumap_secret_alloc(size_t len);
/* Wipes and frees what dpumap_secret_alloc(len) returned. NULL is allowed. */
void dpumap_secret_free(void *secret, size_t len);
/*
 * Wipes what called functions left on the stack. The dynamic linker and signals save registers
 * there, and registers hold the bytes that were copied or decrypted last.
 */
void dpumap_secret_wipe_stack(void);

#endif
