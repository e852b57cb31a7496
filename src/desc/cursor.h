/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bounded little-endian cursors. A step past the end does not move, returns zero and sets
 * `overrun`, which stays set: check it once after many steps. Works with any alignment and byte
 * order.
 */
#ifndef DPUMAP_DESC_CURSOR_H
#define DPUMAP_DESC_CURSOR_H

#include "bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Freestanding compilers optimize only the builtins, which may call memcpy() or memset(). */
#ifdef __GNUC__
#define copy __builtin_memcpy
#define fill __builtin_memset
#else
#define copy memcpy
#define fill memset
#endif

/* The next byte is at end - left. One number says all, so that nothing has to agree with it. */
struct reader {
	const uint8_t *end;
	size_t left;
	bool overrun;
};

struct writer {
	uint8_t *end;
	size_t left;
	bool overrun;
};

/* Assignments: a structure as result costs 12 bytes of code more in each caller on a Cortex-M3. */
static inline void read_from(struct reader *r, const uint8_t *bytes, size_t len)
{
	r->end = bytes + len;
	r->left = len;
	r->overrun = false;
}

static inline const uint8_t *take(struct reader *r, size_t n)
{
	const size_t left = r->left;

	if (r->overrun || n > left) {
		r->overrun = true;
		return NULL;
	}
	r->left = left - n;
	return r->end - left;
}

static inline uint8_t get_u8(struct reader *r)
{
	const uint8_t *at = take(r, 1);

	return at ? *at : 0;
}

static inline uint16_t get_u16(struct reader *r)
{
	const uint8_t *at = take(r, 2);

	return at ? load_u16(at) : 0;
}

static inline uint32_t get_u32(struct reader *r)
{
	const uint8_t *at = take(r, 4);

	return at ? load_u32(at) : 0;
}

static inline uint64_t get_u64(struct reader *r)
{
	const uint8_t *at = take(r, 8);

	return at ? load_u64(at) : 0;
}

static inline void get_bytes(struct reader *r, uint8_t *dst, size_t n)
{
	const uint8_t *at = take(r, n);

	if (at)
		copy(dst, at, n);
}

static inline struct writer writer_of(uint8_t *bytes, size_t len)
{
	return (struct writer){.end = bytes + len, .left = len};
}

static inline uint8_t *reserve(struct writer *w, size_t n)
{
	const size_t left = w->left;

	if (w->overrun || n > left) {
		w->overrun = true;
		return NULL;
	}
	w->left = left - n;
	return w->end - left;
}

static inline void put_u8(struct writer *w, uint8_t value)
{
	uint8_t *at = reserve(w, 1);

	if (at)
		*at = value;
}

static inline void put_u16(struct writer *w, uint16_t value)
{
	uint8_t *at = reserve(w, 2);

	if (at)
		store_u16(at, value);
}

static inline void put_u32(struct writer *w, uint32_t value)
{
	uint8_t *at = reserve(w, 4);

	if (at)
		store_u32(at, value);
}

static inline void put_u64(struct writer *w, uint64_t value)
{
	uint8_t *at = reserve(w, 8);

	if (at)
		store_u64(at, value);
}

static inline void put_bytes(struct writer *w, const uint8_t *src, size_t n)
{
	uint8_t *at = reserve(w, n);

	if (at)
		copy(at, src, n);
}

#endif
