/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One end of a stream of messages of equal length, from the process on the host to the one on the
 * DPU: by ibv_post_send() and ibv_post_recv(), by the producer and consumer of doca_comch, or by
 * the copy engine, which pulls from exported memory. A message is in a slot of the memory; a
 * receiver has as many slots as the sender.
 */
#ifndef DPUMAP_BENCH_STREAM_H
#define DPUMAP_BENCH_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "duo.h"

#define STREAM_MAX_SLOTS 128u
#define STREAM_MEMORY	 ((size_t)16 << 20)

struct stream {
	const struct duo *duo;
	bool is_sender;
	uint8_t *memory; /* STREAM_MEMORY bytes */
	size_t len;	 /* of a message */
	size_t stride;	 /* between slots */
	size_t slots;
	void *own; /* the kind's */
};

struct stream_kind {
	const char *name;
	/* False after printing an error. */
	bool (*open)(struct stream *stream);
	void (*close)(struct stream *stream);
	/* Send or receive the next n messages, with one doorbell. At most `slots` are posted. */
	bool (*post)(struct stream *stream, size_t n);
	/* Take up to `max` completions of posted ones, as many as there are; -1 if one failed. */
	int (*reap)(struct stream *stream, size_t max);
};

extern const struct stream_kind stream_verbs;
extern const struct stream_kind stream_sparse; /* the same, with a completion for each batch */
extern const struct stream_kind stream_comch;
extern const struct stream_kind stream_dma;

/* Wait by the handles of both engines of a stream_comch. Returns how often one became readable, or -1. */
long stream_comch_wait(struct stream *stream, double seconds);

#endif
