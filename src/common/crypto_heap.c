/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common/crypto_heap.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

/* Private keys and those of up to 256 handshakes, in blocks of at least 32 bytes. */
#define SECURE_HEAP ((size_t)512 * 1024)
#define BLOCK	    32

static void *take(size_t len, const char *file, int line)
{
	(void)file, (void)line;
	return malloc(len);
}

/* OpenSSL frees the encoded form of a private key without wiping it. */
static void give(void *memory, const char *file, int line)
{
	(void)file, (void)line;
	if (memory)
		explicit_bzero(memory, malloc_usable_size(memory));
	free(memory);
}

/* realloc() may leave a copy behind. */
static void *resize(void *memory, size_t len, const char *file, int line)
{
	size_t old = memory ? malloc_usable_size(memory) : 0;
	void *moved = len ? take(len, file, line) : NULL;

	if (moved && old)
		memcpy(moved, memory, old < len ? old : len);
	if (moved || !len)
		give(memory, file, line);
	return moved;
}

void dpumap_crypto_heap_protect(void)
{
	CRYPTO_set_mem_functions(take, resize, give);
	CRYPTO_secure_malloc_init(SECURE_HEAP, BLOCK);
}
