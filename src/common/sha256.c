/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common/sha256.h"

#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>

struct dpumap_sha256 {
	EVP_MD_CTX *ctx;
};

static doca_error_t begin(struct dpumap_sha256 *sha, struct dpumap_error *error)
{
	if (EVP_DigestInit_ex(sha->ctx, EVP_sha256(), NULL) != 1)
		return dpumap_error_set(error, DOCA_ERROR_NOT_SUPPORTED,
					"libcrypto does not support SHA-256");
	return DOCA_SUCCESS;
}

doca_error_t dpumap_sha256_create(struct dpumap_sha256 **sha, struct dpumap_error *error)
{
	struct dpumap_sha256 *s = calloc(1, sizeof(*s));
	doca_error_t result;

	if (!s)
		goto no_memory;
	s->ctx = EVP_MD_CTX_new();
	if (!s->ctx)
		goto no_memory;
	result = begin(s, error);
	if (result != DOCA_SUCCESS) {
		dpumap_sha256_destroy(s);
		return result;
	}
	*sha = s;
	return DOCA_SUCCESS;

no_memory:
	dpumap_sha256_destroy(s);
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a SHA-256 digest");
}

void dpumap_sha256_destroy(struct dpumap_sha256 *sha)
{
	if (!sha)
		return;
	EVP_MD_CTX_free(sha->ctx);
	free(sha);
}

doca_error_t dpumap_sha256_update(struct dpumap_sha256 *sha, const void *data, size_t len,
				  struct dpumap_error *error)
{
	if (EVP_DigestUpdate(sha->ctx, data, len) != 1)
		return dpumap_error_set(error, DOCA_ERROR_UNEXPECTED,
					"libcrypto failed to hash %zu bytes", len);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_sha256_final(struct dpumap_sha256 *sha,
				 uint8_t digest[static DPUMAP_SHA256_LEN],
				 struct dpumap_error *error)
{
	if (EVP_DigestFinal_ex(sha->ctx, digest, NULL) != 1)
		return dpumap_error_set(error, DOCA_ERROR_UNEXPECTED,
					"libcrypto failed to finish a SHA-256 digest");
	return begin(sha, error);
}

void dpumap_sha256_format(const uint8_t digest[static DPUMAP_SHA256_LEN],
			  char text[static DPUMAP_SHA256_TEXT_MAX])
{
	for (size_t i = 0; i < DPUMAP_SHA256_LEN; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
}
