/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The blocks of an LZ4 frame, without the frame. A piece of the output is a block. */
#include "emu/engine/stream/kinds.h"

#include <string.h>

#include <lz4.h>

#define WINDOW	   (64u << 10) /* how far a block refers back */
#define STORED	   0x80000000u /* in the word before a block: its bytes are not compressed */
#define WORD_BYTES 4u

static bool open_lz4(struct emu_stream *s)
{
	(void)s;
	return true;
}

static size_t left_of(const struct emu_stream *s)
{
	return s->in_len - s->taken;
}

/* Little endian; false if the input has ended. */
static bool take_word(struct emu_stream *s, uint32_t *word)
{
	const uint8_t *p = s->in + s->taken;

	if (left_of(s) < WORD_BYTES)
		return false;
	*word = (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
	s->taken += WORD_BYTES;
	return true;
}

static const uint8_t *take_bytes(struct emu_stream *s, size_t len)
{
	const uint8_t *p = s->in + s->taken;

	if (left_of(s) < len)
		return NULL;
	s->taken += len;
	return p;
}

/* The block's bytes and its header; a block of no bytes ends the frame. */
static const uint8_t *take_block(struct emu_stream *s, uint32_t *word)
{
	const uint8_t *data;
	uint32_t sum;

	if (s->format.form == EMU_LZ4_DATA) {
		*word = (uint32_t)left_of(s);
		return take_bytes(s, *word);
	}
	if (!take_word(s, word))
		return NULL;
	data = take_bytes(s, *word & ~STORED);
	if (!data || !*word || s->format.form != EMU_LZ4_CHECKED)
		return data;
	return take_word(s, &sum) && sum == XXH32(data, *word & ~STORED, 0) ? data : NULL;
}

/* What earlier blocks have written is before `to`; returns the length, negative if the block is not valid. */
static int expand(const struct emu_stream *s, const uint8_t *data, uint32_t word, uint8_t *to)
{
	uint32_t len = word & ~STORED;

	if (word & STORED) {
		if (len > EMU_LZ4_BLOCK_MAX)
			return -1;
		memcpy(to, data, len);
		return (int)len;
	}
	return LZ4_decompress_safe_usingDict((const char *)data, (char *)to, (int)len,
					     EMU_LZ4_BLOCK_MAX, (const char *)to - s->history,
					     (int)s->history);
}

/* The end of the output, for the next block. */
static void keep_history(struct emu_stream *s, size_t len)
{
	size_t all = s->history + len, kept = all < WINDOW ? all : WINDOW;

	if (s->format.independent)
		return;
	memmove(s->out + WINDOW - kept, s->out + WINDOW + len - kept, kept);
	s->history = kept;
}

static enum emu_stream_state next_lz4(struct emu_stream *s, const uint8_t **bytes, size_t *len)
{
	uint8_t *to = s->out + WINDOW;
	const uint8_t *data;
	uint32_t word;
	int n;

	*len = 0;
	data = take_block(s, &word);
	if (!data)
		return EMU_STREAM_BAD;
	if (!word)
		return EMU_STREAM_END;
	n = expand(s, data, word, to);
	if (n < 0)
		return EMU_STREAM_BAD;
	*bytes = to;
	*len = (size_t)n;
	emu_sums_add(&s->sums, to, *len);
	keep_history(s, *len);
	return left_of(s) ? EMU_STREAM_MORE : EMU_STREAM_END;
}

const struct emu_stream_ops emu_stream_lz4 = {
	.out_bytes = WINDOW + EMU_LZ4_BLOCK_MAX,
	.open = open_lz4,
	.next = next_lz4,
};
