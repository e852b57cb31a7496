/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <stdlib.h>
#include <time.h>

#include "stats.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

void bench_stats(double *values, size_t n, struct bench_stats *stats)
{
	qsort(values, n, sizeof(*values), compare);
	stats->min = values[0];
	stats->max = values[n - 1];
	stats->median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_now(void)
{
	return seconds(CLOCK_MONOTONIC);
}

double bench_cpu_time(void)
{
	return seconds(CLOCK_PROCESS_CPUTIME_ID);
}
