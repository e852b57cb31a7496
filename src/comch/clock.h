/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A clock that is cheap to read, for time limits; it steps every few milliseconds. */
#ifndef DPUMAP_COMCH_CLOCK_H
#define DPUMAP_COMCH_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t comch_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#endif
