/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Raw streams of RFC 1951, in both directions. */
#include "emu/engine/stream/kinds.h"

#define LEVEL	  6
#define MEM_LEVEL 8
#define ZLIB_BYTES \
	(1u << 20) /* zlib 1.2.13 takes 268 KiB to compress; other implementations take more */

static void *zlib_take(void *opaque, unsigned int items, unsigned int size)
{
	struct emu_stream *s = opaque;
	size_t bytes = ((size_t)items * size + 63) & ~(size_t)63;

	if (bytes > ZLIB_BYTES - s->work_taken)
		return NULL;
	s->work_taken += bytes;
	return s->work + s->work_taken - bytes;
}

static void zlib_give_back(void *opaque, void *memory)
{
	(void)opaque;
	(void)memory;
}

static void lend_memory(struct emu_stream *s)
{
	s->z.zalloc = zlib_take;
	s->z.zfree = zlib_give_back;
	s->z.opaque = s;
}

static void give_output(struct emu_stream *s)
{
	s->z.next_out = s->out;
	s->z.avail_out = EMU_STREAM_PIECE;
}

/* At most `max` bytes more. */
static void give_input(struct emu_stream *s, size_t max)
{
	size_t left = s->in_len - s->taken;

	s->z.next_in = s->in + s->taken;
	s->z.avail_in = (uInt)(left < max ? left : max);
}

static size_t take_input(struct emu_stream *s)
{
	size_t n = (size_t)(s->z.next_in - (s->in + s->taken));

	s->taken += n;
	return n;
}

static bool open_deflate(struct emu_stream *s)
{
	lend_memory(s);
	return deflateInit2(&s->z, LEVEL, Z_DEFLATED, -s->format.log_window, MEM_LEVEL,
			    s->format.fixed ? Z_FIXED : Z_DEFAULT_STRATEGY) == Z_OK;
}

static enum emu_stream_state next_deflate(struct emu_stream *s, const uint8_t **bytes, size_t *len)
{
	const uint8_t *from = s->in + s->taken;
	bool is_last;
	int result;

	give_output(s);
	give_input(s, EMU_STREAM_PIECE);
	is_last = s->taken + s->z.avail_in == s->in_len;
	result = deflate(&s->z, is_last ? Z_FINISH : Z_NO_FLUSH);
	emu_sums_add(&s->sums, from, take_input(s));
	*bytes = s->out;
	*len = EMU_STREAM_PIECE - s->z.avail_out;
	return result == Z_STREAM_END ? EMU_STREAM_END : EMU_STREAM_MORE;
}

static bool open_inflate(struct emu_stream *s)
{
	lend_memory(s);
	return inflateInit2(&s->z, -MAX_WBITS) == Z_OK;
}

/* A stream ends with its final block; what follows is ignored. */
static enum emu_stream_state next_inflate(struct emu_stream *s, const uint8_t **bytes, size_t *len)
{
	int result;

	give_output(s);
	give_input(s, s->in_len);
	result = inflate(&s->z, Z_NO_FLUSH);
	take_input(s);
	*bytes = s->out;
	*len = EMU_STREAM_PIECE - s->z.avail_out;
	emu_sums_add(&s->sums, s->out, *len);
	if (result == Z_STREAM_END)
		return EMU_STREAM_END;
	return result == Z_OK && !s->z.avail_out ? EMU_STREAM_MORE : EMU_STREAM_BAD;
}

const struct emu_stream_ops emu_stream_deflate = {
	.out_bytes = EMU_STREAM_PIECE,
	.work_bytes = ZLIB_BYTES,
	.open = open_deflate,
	.next = next_deflate,
};

const struct emu_stream_ops emu_stream_inflate = {
	.out_bytes = EMU_STREAM_PIECE,
	.work_bytes = ZLIB_BYTES,
	.open = open_inflate,
	.next = next_inflate,
};
