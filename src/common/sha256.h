/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* SHA-256 digests. */
#ifndef DPUMAP_COMMON_SHA256_H
#define DPUMAP_COMMON_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "local/error.h"

#define DPUMAP_SHA256_LEN      32
#define DPUMAP_SHA256_TEXT_MAX (2 * DPUMAP_SHA256_LEN + 1)

struct dpumap_sha256;

doca_error_t dpumap_sha256_create(struct dpumap_sha256 **sha, struct dpumap_error *error);
void dpumap_sha256_destroy(struct dpumap_sha256 *sha);
doca_error_t dpumap_sha256_update(struct dpumap_sha256 *sha, const void *data, size_t len,
				  struct dpumap_error *error);
/* Writes the digest and starts a new one. */
doca_error_t dpumap_sha256_final(struct dpumap_sha256 *sha,
				 uint8_t digest[static DPUMAP_SHA256_LEN],
				 struct dpumap_error *error);
void dpumap_sha256_format(const uint8_t digest[static DPUMAP_SHA256_LEN],
			  char text[static DPUMAP_SHA256_TEXT_MAX]);

#endif
