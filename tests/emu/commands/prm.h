/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Fields of PRM commands and their answers, by their first bit and their width. */
#ifndef DPUMAP_TESTS_PRM_H
#define DPUMAP_TESTS_PRM_H

#include <stdint.h>

static inline uint64_t prm_get(const uint8_t *p, unsigned int bit, unsigned int width)
{
	uint64_t value = 0;

	for (; width; width--, bit++)
		value = value << 1 | (p[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

static inline void prm_put(uint8_t *p, unsigned int bit, unsigned int width, uint64_t value)
{
	for (bit += width; width; width--, value >>= 1) {
		uint8_t mask = (uint8_t)(0x80u >> (--bit % 8));

		p[bit / 8] = (uint8_t)((p[bit / 8] & ~mask) | (value & 1 ? mask : 0));
	}
}

#endif
