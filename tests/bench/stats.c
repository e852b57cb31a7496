/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

void bench_record(const struct bench_stats *ratio, const char *goal, const char *name, ...)
{
	const char *path = getenv("DPUMAP_BENCH_RESULTS");
	FILE *file = path ? fopen(path, "a") : NULL;
	va_list args;

	if (!file)
		return;
	fprintf(file, "%s\t", program_invocation_short_name + strlen("bench_"));
	va_start(args, name);
	vfprintf(file, name, args);
	va_end(args);
	fprintf(file, "\t%g\t%g\t%g\t%s\n", ratio->median, ratio->min, ratio->max, goal);
	fclose(file);
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

void bench_pause(unsigned int ms)
{
	const char *patience = getenv("DPUMAP_BENCH_PATIENCE");
	unsigned long all = ms * (patience ? strtoul(patience, NULL, 10) : 1);

	nanosleep(&(struct timespec){(time_t)(all / 1000), (long)(all % 1000) * 1000000}, NULL);
}
