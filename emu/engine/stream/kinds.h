/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What stream.c shares with deflate.c, lz4.c and gcm.c, which have a kind of streams each. */
#ifndef EMU_ENGINE_STREAM_KINDS_H
#define EMU_ENGINE_STREAM_KINDS_H

#include <zlib.h>

#include "emu/engine/stream/stream.h"
#include "emu/engine/stream/sums.h"

#define EMU_STREAM_PIECE (64u << 10)

struct emu_stream {
	const struct emu_stream_ops *ops;
	struct emu_stream_format format;
	struct emu_sums sums;
	uint8_t *in;
	size_t in_len;
	size_t taken; /* bytes of the input */
	uint8_t *out;
	uint8_t *work;	   /* memory of the library that does the work, */
	size_t work_taken; /* of which zlib has taken the first bytes */
	z_stream z;
	size_t history; /* LZ4: bytes before the block, which it may refer to */
};

/* Each kind has one table of these; `open` is false if zlib needs more memory, and `close` may be NULL. */
struct emu_stream_ops {
	size_t out_bytes, work_bytes;
	bool (*open)(struct emu_stream *s);
	enum emu_stream_state (*next)(struct emu_stream *s, const uint8_t **bytes, size_t *len);
	void (*close)(struct emu_stream *s);
};

extern const struct emu_stream_ops emu_stream_deflate, emu_stream_inflate, emu_stream_lz4,
	emu_stream_gcm;

#endif
