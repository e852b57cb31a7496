/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <xxhash.h>

struct dpumap_hasher {
	enum dpumap_hash hash;
	EVP_MD_CTX *sha;     /* of SHA-256 alone */
	XXH3_state_t *state; /* of XXH128 alone */
};

static const struct {
	const char *name;
	size_t len;
} hashes[DPUMAP_HASHES] = {
	[DPUMAP_SHA256] = {"sha256", 32},
	[DPUMAP_XXH128] = {"xxh128", sizeof(XXH128_canonical_t)},
};

const char *dpumap_hash_name(enum dpumap_hash hash)
{
	return hashes[hash].name;
}

bool dpumap_hash_find(const char *name, enum dpumap_hash *hash)
{
	for (int i = 0; i < DPUMAP_HASHES; i++) {
		*hash = i;
		if (strcmp(name, hashes[i].name) == 0)
			return true;
	}
	return false;
}

size_t dpumap_hash_len(enum dpumap_hash hash)
{
	return hashes[hash].len;
}

static doca_error_t begin(struct dpumap_hasher *hasher, struct dpumap_error *error)
{
	if (hasher->state)
		XXH3_128bits_reset(hasher->state);
	else if (EVP_DigestInit_ex(hasher->sha, EVP_sha256(), NULL) != 1)
		return dpumap_error_set(error, DOCA_ERROR_NOT_SUPPORTED,
					"libcrypto does not support SHA-256");
	return DOCA_SUCCESS;
}

doca_error_t dpumap_hasher_create(enum dpumap_hash hash, struct dpumap_hasher **hasher,
				  struct dpumap_error *error)
{
	struct dpumap_hasher *h = calloc(1, sizeof(*h));
	doca_error_t result;

	if (!h)
		goto no_memory;
	h->hash = hash;
	if (hash == DPUMAP_XXH128)
		h->state = XXH3_createState();
	else
		h->sha = EVP_MD_CTX_new();
	if (!h->state && !h->sha)
		goto no_memory;
	result = begin(h, error);
	if (result != DOCA_SUCCESS) {
		dpumap_hasher_destroy(h);
		return result;
	}
	*hasher = h;
	return DOCA_SUCCESS;

no_memory:
	dpumap_hasher_destroy(h);
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a digest");
}

void dpumap_hasher_destroy(struct dpumap_hasher *hasher)
{
	if (!hasher)
		return;
	XXH3_freeState(hasher->state);
	EVP_MD_CTX_free(hasher->sha);
	free(hasher);
}

doca_error_t dpumap_hasher_update(struct dpumap_hasher *hasher, const void *data, size_t len,
				  struct dpumap_error *error)
{
	if (hasher->state)
		XXH3_128bits_update(hasher->state, data, len);
	else if (EVP_DigestUpdate(hasher->sha, data, len) != 1)
		return dpumap_error_set(error, DOCA_ERROR_UNEXPECTED,
					"libcrypto failed to hash %zu bytes", len);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_hasher_final(struct dpumap_hasher *hasher, struct dpumap_digest *digest,
				 struct dpumap_error *error)
{
	XXH128_canonical_t canonical;

	*digest = (struct dpumap_digest){.hash = hasher->hash};
	if (hasher->state) {
		XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hasher->state));
		memcpy(digest->bytes, canonical.digest, sizeof(canonical.digest));
	} else if (EVP_DigestFinal_ex(hasher->sha, digest->bytes, NULL) != 1) {
		return dpumap_error_set(error, DOCA_ERROR_UNEXPECTED,
					"libcrypto failed to finish a SHA-256 digest");
	}
	return begin(hasher, error);
}

bool dpumap_digest_is_equal(const struct dpumap_digest *a, const struct dpumap_digest *b)
{
	return a->hash == b->hash && memcmp(a->bytes, b->bytes, dpumap_hash_len(a->hash)) == 0;
}

void dpumap_digest_format(const struct dpumap_digest *digest,
			  char text[static DPUMAP_DIGEST_TEXT_MAX])
{
	for (size_t i = 0; i < dpumap_hash_len(digest->hash); i++)
		snprintf(text + 2 * i, 3, "%02x", digest->bytes[i]);
}
