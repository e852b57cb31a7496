/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Compression and decompression by work requests (MMO). The card has one engine for them: queues take turns, and
 * each request is executed to its end. It is read as a whole, transformed piece by piece, and written piece by piece,
 * as a pass has other queues to serve, too.
 */
#ifndef EMU_ENGINE_COMPRESS_H
#define EMU_ENGINE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/engine/stream/stream.h"

struct emu_send;
struct engine;

struct emu_compressor {
	struct emu_stream *stream; /* of a request that has begun, or NULL */
	uint32_t qpn, serial, resets;
	uint64_t in_len;
	void *memory; /* for streams, mapped by the first request and enlarged by longer ones */
	size_t memory_bytes;
	const uint8_t *piece; /* that is not yet written */
	size_t piece_len;
	enum emu_stream_state state; /* after the piece */
};

/* Execute a piece of the request; returns as emu_send_step(). */
int emu_compress_step(struct emu_send *s);
/* The queue's request is finished or flushed. */
void emu_compress_end(struct engine *e, uint32_t qpn);
/* Give its memory back. */
void emu_compress_close(struct engine *e);

#endif
