/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Work requests (MMO) whose destination gets other bytes than those of the source. A process has one engine for them:
 * queues take turns, and each request is executed to its end. It is read as a whole, transformed piece by piece, and
 * written piece by piece, as a pass has other queues to serve, too.
 */
#ifndef EMU_ENGINE_TRANSFORM_H
#define EMU_ENGINE_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/engine/stream/stream.h"

struct emu_send;
struct engine;

/* What kinds of requests differ in. */
struct emu_transform_ops {
	/* EMU_STEP_MORE: the format is complete; EMU_STEP_WAIT; else the syndrome. */
	int (*read_format)(struct emu_send *s, struct emu_stream_format *f);
	/* Write the result into the first piece of memory; false: it cannot be written. */
	bool (*put_result)(struct emu_send *s, const struct emu_stream *stream, uint8_t syndrome);
	uint32_t result_rights; /* that the key of the result needs */
	uint8_t bad_input;	/* emu_cqe.hw_syndrome */
};

extern const struct emu_transform_ops emu_transform_compress, emu_transform_crypto;

struct emu_transform {
	struct emu_stream *stream; /* of a request that has begun, or NULL */
	const struct emu_transform_ops *ops;
	uint32_t qpn, serial, resets;
	uint64_t in_len;
	void *memory; /* for streams, mapped by the first request and enlarged by longer ones */
	size_t memory_bytes;
	const uint8_t *piece; /* that is not yet written */
	size_t piece_len;
	enum emu_stream_state state; /* after the piece */
};

/* Execute a piece of the request; returns as emu_send_step(). */
int emu_transform_step(struct emu_send *s);
/* The queue's request is finished or flushed. */
void emu_transform_end(struct engine *e, uint32_t qpn);
/* End the request of a queue that was destroyed or reset. */
void emu_transform_prune(struct engine *e);
/* Give its memory back. */
void emu_transform_close(struct engine *e);

#endif
