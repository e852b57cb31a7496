/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Digests of bytes. XXH128 (XXH3 of 128 bits, as xxh128sum prints it) finds every accident, as fast as memory is read;
 * SHA-256 also what somebody changed on purpose.
 */
#ifndef DPUMAP_COMMON_DIGEST_H
#define DPUMAP_COMMON_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "local/error.h"

enum dpumap_hash {
	DPUMAP_SHA256,
	DPUMAP_XXH128,
	DPUMAP_HASHES,
};

#define DPUMAP_HASH_NAME_MAX   15 /* without the NUL */
#define DPUMAP_DIGEST_MAX      32
#define DPUMAP_DIGEST_TEXT_MAX (2 * DPUMAP_DIGEST_MAX + 1)

struct dpumap_digest {
	enum dpumap_hash hash;
	uint8_t bytes[DPUMAP_DIGEST_MAX]; /* as many as the hash has; 0 after them */
};

struct dpumap_hasher;

const char *dpumap_hash_name(enum dpumap_hash hash);
/* False: there is no hash of this name. */
bool dpumap_hash_find(const char *name, enum dpumap_hash *hash);
size_t dpumap_hash_len(enum dpumap_hash hash);

doca_error_t dpumap_hasher_create(enum dpumap_hash hash, struct dpumap_hasher **hasher,
				  struct dpumap_error *error);
/* NULL is allowed. */
void dpumap_hasher_destroy(struct dpumap_hasher *hasher);
doca_error_t dpumap_hasher_update(struct dpumap_hasher *hasher, const void *data, size_t len,
				  struct dpumap_error *error);
/* Writes the digest and starts a new one. */
doca_error_t dpumap_hasher_final(struct dpumap_hasher *hasher, struct dpumap_digest *digest,
				 struct dpumap_error *error);

bool dpumap_digest_is_equal(const struct dpumap_digest *a, const struct dpumap_digest *b);
void dpumap_digest_format(const struct dpumap_digest *digest,
			  char text[static DPUMAP_DIGEST_TEXT_MAX]);

#endif
