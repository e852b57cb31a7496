/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The target of copied bytes: a file or standard output. */
#ifndef DPUMAP_HOST_SINK_H
#define DPUMAP_HOST_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/digest.h"
#include "common/outfile.h"
#include "host/copy/hexdump.h"
#include "local/error.h"

enum sink_form {
	SINK_BYTES,
	SINK_HEXDUMP,
	SINK_HEX, /* digits alone */
};

struct sink {
	const char *name;
	bool is_sparse;
	struct dpumap_outfile *out; /* NULL: standard output */
	enum sink_form form;
	struct hexdump hexdump;
	struct dpumap_hasher *hasher;
	bool differs;	     /* from what sink_check() expected */
	uint64_t differs_at; /* the first byte */
};

/* The file gets its name with sink_commit(). */
doca_error_t sink_open_file(struct sink *sink, const char *path, bool is_sparse,
			    struct dpumap_error *error);
/* at is the offset that a dump shows for the first byte. */
void sink_open_stdout(struct sink *sink, enum sink_form form, uint64_t at);
/* Before bytes are checked. */
doca_error_t sink_choose_hash(struct sink *sink, enum dpumap_hash hash, struct dpumap_error *error);
doca_error_t sink_write(struct sink *sink, const void *buf, size_t len, struct dpumap_error *error);
/*
 * Compares the len bytes at offset at, which were written, with those that are expected, or adds them to the digest if
 * expected is NULL: those of a file are read back, those of standard output are at buf. Another thread may write at the
 * same time.
 */
doca_error_t sink_check(struct sink *sink, uint64_t at, const uint8_t *buf, const uint8_t *expected,
			size_t len, struct dpumap_error *error);
/* Prints the end of a dump. */
void sink_end(struct sink *sink);
doca_error_t sink_digest(struct sink *sink, struct dpumap_digest *digest,
			 struct dpumap_error *error);
doca_error_t sink_commit(struct sink *sink, struct dpumap_error *error);
/* Removes what was not committed. All zero is allowed. */
void sink_close(struct sink *sink);

#endif
