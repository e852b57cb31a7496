/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/stream/stream.h"

#include <string.h>

#include "emu/engine/stream/kinds.h"

static const struct emu_stream_ops *const ops_of[] = {
	[EMU_STREAM_DEFLATE] = &emu_stream_deflate, [EMU_STREAM_INFLATE] = &emu_stream_inflate,
	[EMU_STREAM_LZ4] = &emu_stream_lz4,	    [EMU_STREAM_SEAL] = &emu_stream_gcm,
	[EMU_STREAM_OPEN] = &emu_stream_gcm,
};

/* The parts of its memory begin at multiples of this. */
static size_t whole(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

size_t emu_stream_bytes(const struct emu_stream_format *format, size_t in_len)
{
	const struct emu_stream_ops *ops = ops_of[format->kind];

	return whole(sizeof(struct emu_stream)) + whole(in_len) + whole(ops->out_bytes) +
	       whole(ops->work_bytes);
}

struct emu_stream *emu_stream_open(void *memory, const struct emu_stream_format *format,
				   size_t in_len)
{
	struct emu_stream *s = memory;

	memset(s, 0, sizeof(*s));
	s->ops = ops_of[format->kind];
	s->format = *format;
	s->in_len = in_len;
	s->in = (uint8_t *)memory + whole(sizeof(*s));
	s->out = s->in + whole(in_len);
	s->work = s->out + whole(s->ops->out_bytes);
	emu_sums_begin(&s->sums);
	return s->ops->open(s) ? s : NULL;
}

uint8_t *emu_stream_in(struct emu_stream *s)
{
	return s->in;
}

enum emu_stream_state emu_stream_next(struct emu_stream *s, const uint8_t **bytes, size_t *len)
{
	return s->ops->next(s, bytes, len);
}

const struct emu_sums *emu_stream_sums(const struct emu_stream *s)
{
	return &s->sums;
}

void emu_stream_close(struct emu_stream *s)
{
	if (s->ops->close)
		s->ops->close(s);
}
