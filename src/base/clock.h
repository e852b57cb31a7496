/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The clock of all time limits. */
#ifndef DPUMAP_BASE_CLOCK_H
#define DPUMAP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)

static inline uint64_t timespec_ns(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * NSEC_PER_SEC + (uint64_t)ts->tv_nsec;
}

static inline uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return timespec_ns(&now);
}

static inline uint64_t monotonic_ms(void)
{
	return monotonic_ns() / NSEC_PER_MSEC;
}

/* Cheaper to read; it steps every few milliseconds. */
static inline uint64_t monotonic_coarse_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return timespec_ns(&now) / NSEC_PER_MSEC;
}

#endif
