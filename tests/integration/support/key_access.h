/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Access with a key, but without an alias of it, as a program with plain verbs and its own context. */
#ifndef DPUMAP_TESTS_KEY_ACCESS_H
#define DPUMAP_TESTS_KEY_ACCESS_H

#include <stdint.h>

enum key_use { KEY_REMOTE_READ, KEY_REMOTE_WRITE, KEY_LOCAL };

/* Use the key for 64 bytes: an ibv_wc_status, or -1 if the test itself failed. */
int key_access(uint32_t key, uint64_t addr, enum key_use use);

#endif
