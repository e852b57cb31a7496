/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The clock of all time limits. */
#ifndef DPUMAP_LOCAL_CLOCK_H
#define DPUMAP_LOCAL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define DPUMAP_NSEC_PER_SEC  UINT64_C(1000000000)
#define DPUMAP_NSEC_PER_MSEC UINT64_C(1000000)

/* Nanoseconds of the monotonic clock. */
static inline uint64_t dpumap_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * DPUMAP_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

#endif
