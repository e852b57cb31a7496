/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bounded little-endian cursors. A step past the end moves nothing, yields zero and sticks in
 * `overrun`, so that a run of steps is judged once at its end. Bytes only: any alignment, any host
 * byte order.
 */
#ifndef DPUMAP_DESC_CURSOR_H
#define DPUMAP_DESC_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reader {
	const uint8_t *at;
	size_t left;
	bool overrun;
};

struct writer {
	uint8_t *at;
	size_t left;
	bool overrun;
};

static inline const uint8_t *take(struct reader *r, size_t n)
{
	const uint8_t *at = r->at;

	if (r->overrun || n > r->left) {
		r->overrun = true;
		return NULL;
	}
	r->at += n;
	r->left -= n;
	return at;
}

static inline uint64_t get_le(struct reader *r, size_t width)
{
	const uint8_t *at = take(r, width);
	uint64_t value = 0;

	if (!at)
		return 0;
	for (size_t i = width; i > 0; i--)
		value = value << 8 | at[i - 1];
	return value;
}

static inline uint8_t get_u8(struct reader *r)
{
	return (uint8_t)get_le(r, 1);
}

static inline uint16_t get_u16(struct reader *r)
{
	return (uint16_t)get_le(r, 2);
}

static inline uint32_t get_u32(struct reader *r)
{
	return (uint32_t)get_le(r, 4);
}

static inline uint64_t get_u64(struct reader *r)
{
	return get_le(r, 8);
}

static inline void get_bytes(struct reader *r, uint8_t *dst, size_t n)
{
	const uint8_t *at = take(r, n);

	if (at)
		memcpy(dst, at, n);
}

static inline uint8_t *claim(struct writer *w, size_t n)
{
	uint8_t *at = w->at;

	if (w->overrun || n > w->left) {
		w->overrun = true;
		return NULL;
	}
	w->at += n;
	w->left -= n;
	return at;
}

static inline void put_le(struct writer *w, uint64_t value, size_t width)
{
	uint8_t *at = claim(w, width);

	if (!at)
		return;
	for (size_t i = 0; i < width; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static inline void put_u8(struct writer *w, uint8_t value)
{
	put_le(w, value, 1);
}

static inline void put_u16(struct writer *w, uint16_t value)
{
	put_le(w, value, 2);
}

static inline void put_u32(struct writer *w, uint32_t value)
{
	put_le(w, value, 4);
}

static inline void put_u64(struct writer *w, uint64_t value)
{
	put_le(w, value, 8);
}

static inline void put_bytes(struct writer *w, const uint8_t *src, size_t n)
{
	uint8_t *at = claim(w, n);

	if (at)
		memcpy(at, src, n);
}

#endif
