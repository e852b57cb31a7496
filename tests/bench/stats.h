/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_BENCH_STATS_H
#define DPUMAP_BENCH_STATS_H

#include <stddef.h>

struct bench_stats {
	double median;
	double min;
	double max;
};

/* Compute the statistics of n values, at least 1. Sorts the values. */
void bench_stats(double *values, size_t n, struct bench_stats *stats);

/*
 * Add a ratio to the file of results (scripts/bench --report), if the environment variable
 * DPUMAP_BENCH_RESULTS names one. GOAL is "at most N", "at least N" or "". NAME is a format of printf.
 */
__attribute__((format(printf, 3, 4))) void bench_record(const struct bench_stats *ratio,
							const char *goal, const char *name, ...);

/* Return the time of CLOCK_MONOTONIC, and the CPU time of this process, in seconds. */
double bench_now(void);
double bench_cpu_time(void);

/*
 * Sleep that long, so that the device can finish meanwhile what it was given; as many times as long as the environment
 * variable DPUMAP_BENCH_PATIENCE says, on a machine that gives the engine no processor for a while.
 */
void bench_pause(unsigned int ms);

#endif
