/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The source of bytes for an export: a file, a stream or a pattern. */
#ifndef DPUMAP_HOST_SOURCE_H
#define DPUMAP_HOST_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/digest.h"
#include "local/error.h"

#define SOURCE_PATTERN_MAX 64

struct source {
	const char *name;
	int fd; /* -1: a pattern */
	bool is_stream;
	bool is_endless; /* a stream without a length */
	uint64_t at;	 /* the next byte of a file */
	uint64_t left;	 /* UINT64_MAX if endless, which is a valid length, too */
	uint8_t pattern[SOURCE_PATTERN_MAX];
	size_t pattern_len;
	size_t pattern_at;
	struct dpumap_hasher *hasher;
	atomic_bool is_stopped;
};

/*
 * path "-" is standard input. length is the number of bytes from offset on; NULL means all. A
 * shorter file is an error.
 */
doca_error_t source_open_file(struct source *source, const char *path, uint64_t offset,
			      const uint64_t *length, struct dpumap_error *error);
/* hex is 1 to SOURCE_PATTERN_MAX bytes that are repeated. */
doca_error_t source_open_pattern(struct source *source, const char *hex, uint64_t length,
				 struct dpumap_error *error);
/* Before bytes are hashed. */
doca_error_t source_choose_hash(struct source *source, enum dpumap_hash hash,
				struct dpumap_error *error);
/* len bytes, or fewer at the end. */
doca_error_t source_read(struct source *source, void *buf, size_t size, size_t *len,
			 struct dpumap_error *error);
/* Adds bytes that were read to the digest. Another thread may read at the same time. */
doca_error_t source_hash(struct source *source, const void *buf, size_t len,
			 struct dpumap_error *error);
/* The digest of all bytes that were hashed. */
doca_error_t source_digest(struct source *source, struct dpumap_digest *digest,
			   struct dpumap_error *error);
/* Another thread no longer waits for a stream. */
void source_stop(struct source *source);
/* All zero, or one that could not be opened, is allowed. */
void source_close(struct source *source);

bool source_is_pattern(const char *hex);

#endif
