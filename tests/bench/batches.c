/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "batches.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "stats.h"

#define MAX_ROUNDS  1000
#define PATIENCE_MS 10000

unsigned long batches_empty;

/* The device writes the completion immediately after the bytes. After a failure there are none. */
static void await_bytes(const volatile uint64_t *last)
{
	for (int i = 0; !*last && i < PATIENCE_MS; i++)
		bench_pause(1);
	bench_pause(2);
}

static bool run_batch(const struct batches *b, enum batches_way way, size_t n)
{
	volatile uint64_t *last = b->prepare(way, n);

	*last = 0;
	if (!b->post[way](n))
		return false;
	await_bytes(last);
	return b->reap[way](n);
}

/* The first batch includes one-time work, and is measured by the tool as well. */
static bool count(const struct batches *b, enum batches_way way, size_t batch, size_t tasks)
{
	unsigned long allocations, locks;

	if (!run_batch(b, way, batch))
		return false;
	allocations = bench_allocations;
	locks = bench_locks;
	for (size_t i = 0; i < tasks; i += batch)
		if (!run_batch(b, way, batch))
			return false;
	printf("%s: %zu %s in batches of %zu, %lu allocations, %lu locks, %lu empty polls\n",
	       way == BATCHES_TASK ? "task" : "raw", tasks, b->many, batch,
	       bench_allocations - allocations, bench_locks - locks, batches_empty);
	return true;
}

/* --- time ------------------------------------------------------------------------------------- */

/* Add the time. */
static bool time_of(const struct batches *b, enum batches_way way, double *us)
{
	double begin;

	b->prepare(way, 1);
	begin = bench_now();
	if (!b->post[way](1) || !b->reap[way](1))
		return false;
	*us += (bench_now() - begin) * 1e6;
	return true;
}

static bool time_on_cpu(const struct batches *b, double *us)
{
	double begin = bench_now();

	if (b->on_cpu && !b->on_cpu())
		return false;
	*us += (bench_now() - begin) * 1e6;
	return true;
}

/*
 * Each way is the first one once, because the first operation after work on the CPU may have to wake the device. The
 * times are those of two operations.
 */
static bool run_round(const struct batches *b, double us[BATCHES_NUM_WAYS], double *on_cpu)
{
	us[BATCHES_RAW] = us[BATCHES_TASK] = *on_cpu = 0;
	return time_on_cpu(b, on_cpu) && time_of(b, BATCHES_RAW, &us[BATCHES_RAW]) &&
	       time_of(b, BATCHES_TASK, &us[BATCHES_TASK]) && time_on_cpu(b, on_cpu) &&
	       time_of(b, BATCHES_TASK, &us[BATCHES_TASK]) &&
	       time_of(b, BATCHES_RAW, &us[BATCHES_RAW]);
}

static void print_time(const char *name, double *us, size_t rounds, const char *remark)
{
	struct bench_stats stats;

	bench_stats(us, rounds, &stats);
	printf("  %-11s %6.1f (%.1f to %.1f)%s\n", name, stats.median, stats.min, stats.max,
	       remark);
}

static bool compare(const struct batches *b, size_t rounds)
{
	static double times[BATCHES_NUM_WAYS][MAX_ROUNDS], on_cpu[MAX_ROUNDS], ratios[MAX_ROUNDS];
	struct bench_stats ratio;

	for (size_t i = 0; i <= rounds; i++) {
		size_t at = i ? i - 1 : 0; /* the first round warms up */
		double us[BATCHES_NUM_WAYS];

		if (!run_round(b, us, &on_cpu[at]))
			return false;
		for (int way = 0; way < BATCHES_NUM_WAYS; way++)
			times[way][at] = us[way] / 2;
		on_cpu[at] /= 2;
		ratios[at] = us[BATCHES_TASK] / us[BATCHES_RAW];
	}
	printf("%s, one at a time, us: median (range) of %zu rounds\n", b->title, rounds);
	for (int way = 0; way < BATCHES_NUM_WAYS; way++)
		print_time(b->names[way], times[way], rounds, "");
	if (b->on_cpu)
		print_time(b->cpu, on_cpu, rounds, ", by this thread");
	bench_stats(ratios, rounds, &ratio);
	printf("  %-11s %6.3f (%.3f to %.3f) of %s : %s%s%s%s\n", "ratio", ratio.median, ratio.min,
	       ratio.max, b->names[BATCHES_TASK], b->names[BATCHES_RAW], *b->goal ? " (goal: " : "",
	       b->goal, *b->goal ? ")" : "");
	bench_record(&ratio, b->goal, "%s", b->ratio);
	return true;
}

/* --- the program ------------------------------------------------------------------------------ */

struct options {
	enum batches_way only; /* BATCHES_NUM_WAYS: compare */
	size_t batch, tasks, rounds;
};

/* Return false if an option is invalid. */
static bool parse(const struct batches *b, int argc, char **argv, struct options *options)
{
	static const struct option long_options[] = {{"only", required_argument, NULL, 'o'},
						     {"batch", required_argument, NULL, 'b'},
						     {"tasks", required_argument, NULL, 't'},
						     {"rounds", required_argument, NULL, 'r'},
						     {0}};
	int opt;

	while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		size_t number = opt == '?' ? 0 : strtoul(optarg, NULL, 10);

		switch (opt) {
		case 'o':
			options->only = strcmp(optarg, "task") ? BATCHES_RAW : BATCHES_TASK;
			break;
		case 'b':
			options->batch = number;
			break;
		case 't':
			options->tasks = number;
			break;
		case 'r':
			options->rounds = number;
			break;
		default:
			return false;
		}
	}
	return options->batch && options->batch <= b->max_batch && options->rounds &&
	       options->rounds <= MAX_ROUNDS;
}

int batches_main(const struct batches *b, int argc, char **argv)
{
	struct options options = {BATCHES_NUM_WAYS, 1, 64, 101};
	bool is_small, done;

	if (!parse(b, argc, argv, &options))
		return 2;
	is_small = options.only != BATCHES_NUM_WAYS;
	done = b->open(is_small) && (is_small ? count(b, options.only, options.batch, options.tasks)
					      : compare(b, options.rounds));
	b->close();
	if (!done)
		fprintf(stderr, "%s: an operation has failed\n", program_invocation_short_name);
	return done ? 0 : 1;
}
