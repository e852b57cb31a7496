/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure getting and releasing a buf, compared with getting and putting an object of DPDK's rte_mempool
 * in the same process, and with two calls of a shared library that do nothing. They alternate in each round,
 * so each ratio compares adjacent measurements. With --count, only get and put bufs, in measured_bufs().
 * Runs on any device that supports maps: dpumap-emu run --as dpu.
 */
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_mmap.h>

#include "device.h"
#include "empty.h"
#ifdef DPUMAP_BENCH_DPDK
#include "mempool.h"
#endif
#include "base/array.h"
#include "stats.h"

#define ELEMENTS    1024
#define BUF_SIZE    64 /* size of a struct doca_buf; objects of the mempool get the same size */
#define MAX_BURST   128
#define PAIRS	    100000 /* in a round */
#define MAX_ROUNDS  1000

#define MAX_WORKERS 2
#define WORK_ROUNDS 11
#define WORK_BURST  32
#define WORK	    4000000 /* bufs of a thread in a round */

static uint8_t memory[4096];

struct bench {
	struct doca_dev *dev;
	struct doca_mmap *map, *shared; /* the other is for several threads */
	struct doca_buf_inventory *inventory;
	size_t rounds;
	bool has_mempool;
};

static struct doca_mmap *start_shared(struct doca_dev *dev)
{
	struct doca_mmap *map = NULL;
	doca_error_t result = doca_mmap_create(&map);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_memrange(map, memory, sizeof(memory));
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(map, dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_enable_thread_safety(map);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(map);
	return bench_is_ok(result, "a map for several threads") ? map : NULL;
}

static bool open_device(struct bench *bench)
{
	bench->dev = bench_open_device(NULL);
	if (bench->dev)
		bench->map = bench_map(bench->dev, memory, sizeof(memory),
				       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (bench->map)
		bench->shared = start_shared(bench->dev);
	return bench->shared;
}

static bool start_inventory(struct doca_buf_inventory **inventory)
{
	return bench_is_ok(doca_buf_inventory_create(ELEMENTS, inventory), "an inventory") &&
	       bench_is_ok(doca_buf_inventory_start(*inventory), "starting it");
}

static void close_bench(struct bench *bench)
{
	if (bench->inventory)
		bench_is_ok(doca_buf_inventory_destroy(bench->inventory),
			    "destroying the inventory");
	if (bench->map)
		bench_is_ok(doca_mmap_destroy(bench->map), "destroying the map");
	if (bench->shared)
		bench_is_ok(doca_mmap_destroy(bench->shared), "destroying the map");
	if (bench->dev)
		bench_is_ok(doca_dev_close(bench->dev), "closing the device");
}

static bool get_and_put(struct doca_buf_inventory *inventory, struct doca_mmap *map, size_t burst,
			size_t n)
{
	struct doca_buf *bufs[MAX_BURST];

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < burst; j++)
			if (doca_buf_inventory_buf_get_by_addr(inventory, map, memory + j, 64,
							       &bufs[j]) != DOCA_SUCCESS)
				return false;
		for (size_t j = 0; j < burst; j++)
			if (doca_buf_dec_refcount(bufs[j], NULL) != DOCA_SUCCESS)
				return false;
	}
	return true;
}

static bool run_bufs(struct bench *bench, size_t burst, size_t n)
{
	return get_and_put(bench->inventory, bench->map, burst, n);
}

/* Not inlined, so that callgrind can detect calls and returns. */
__attribute__((noinline)) static bool measured_bufs(struct bench *bench, size_t n)
{
	return get_and_put(bench->inventory, bench->map, WORK_BURST, n / WORK_BURST);
}

static bool run_shared(struct bench *bench, size_t burst, size_t n)
{
	return get_and_put(bench->inventory, bench->shared, burst, n);
}

static bool run_empty(struct bench *bench, size_t burst, size_t n)
{
	struct doca_buf *bufs[MAX_BURST];

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < burst; j++)
			if (bench_empty_get(bench->inventory, bench->map, memory + j, 64,
					    memory + j, 0, &bufs[j]) != DOCA_SUCCESS)
				return false;
		for (size_t j = 0; j < burst; j++)
			if (bench_empty_put(bufs[j], NULL) != DOCA_SUCCESS)
				return false;
	}
	return true;
}

static bool run_mempool(struct bench *bench, size_t burst, size_t n)
{
#ifdef DPUMAP_BENCH_DPDK
	void *objects[MAX_BURST];

	return mempool_run(objects, burst, n);
#else
	return burst && n;
#endif
}

typedef bool method_run(struct bench *bench, size_t burst, size_t n);

/* Return the nanoseconds for one get and its put; negative after printing an error. */
static double measure(struct bench *bench, method_run *run, size_t burst)
{
	size_t n = PAIRS / burst;
	double start = bench_now();

	if (!run(bench, burst, n)) {
		fprintf(stderr, "bench: a get or a put failed\n");
		return -1;
	}
	return (bench_now() - start) * 1e9 / (double)(n * burst);
}

/* The last one is what the others are compared with. */
static const struct method {
	const char *name;
	method_run *run;
	const char *goal;
} methods[] = {
	{"bufs", run_bufs, "at most 1.0"},
	{"thread-safe map", run_shared, "at most 1.5"},
	{"empty calls", run_empty, ""},
	{"rte_mempool", run_mempool, ""},
};

#define METHODS ARRAY_SIZE(methods)

static bool run_round(struct bench *bench, size_t burst, size_t round,
		      double times[METHODS][MAX_ROUNDS])
{
	for (size_t m = 0; m < METHODS; m++) {
		times[m][round] = measure(bench, methods[m].run, burst);
		if (times[m][round] < 0)
			return false;
	}
	return true;
}

static void print_row(struct bench *bench, const struct method *method, size_t burst,
		      const double *reference, double *times)
{
	double ratios[MAX_ROUNDS];
	struct bench_stats time, ratio;

	for (size_t i = 0; i < bench->rounds; i++)
		ratios[i] = times[i] / reference[i];
	bench_stats(times, bench->rounds, &time);
	bench_stats(ratios, bench->rounds, &ratio);
	printf("%5zu  %-15s  %6.2f (%.2f to %.2f)", burst, method->name, time.median, time.min,
	       time.max);
	if (bench->has_mempool)
		printf("  %5.2f (%.2f to %.2f)", ratio.median, ratio.min, ratio.max);
	printf("\n");
	if (bench->has_mempool && method != &methods[METHODS - 1])
		bench_record(&ratio, method->goal, "%s : rte_mempool, bursts of %zu", method->name,
			     burst);
}

static bool compare(struct bench *bench, size_t burst)
{
	static double times[METHODS][MAX_ROUNDS], reference[MAX_ROUNDS];

	for (size_t i = 0; i < bench->rounds; i++)
		if (!run_round(bench, burst, i, times))
			return false;
	for (size_t i = 0; i < bench->rounds; i++)
		reference[i] = times[METHODS - 1][i];
	for (size_t m = 0; m < METHODS - !bench->has_mempool; m++)
		print_row(bench, &methods[m], burst, reference, times[m]);
	return true;
}

static bool compare_all(struct bench *bench)
{
	static const size_t bursts[] = {1, 8, 32, MAX_BURST};

	if (!bench->has_mempool)
		printf("rte_mempool is not measured: bench_buf was built without libdpdk-dev\n");
	printf("get and put of one: median (range) of %zu rounds\nburst  %-15s  ns%s\n",
	       bench->rounds, "",
	       bench->has_mempool ? "                      ratio to rte_mempool" : "");
	for (size_t i = 0; i < ARRAY_SIZE(bursts); i++)
		if (!compare(bench, bursts[i]))
			return false;
	return true;
}

/* A thread with its own inventory on the map for several threads. */
struct worker {
	pthread_t thread;
	struct doca_mmap *map;
	struct doca_buf_inventory *inventory;
	bool ok;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	w->ok = get_and_put(w->inventory, w->map, WORK_BURST, WORK / WORK_BURST);
	return NULL;
}

/* Return the millions of bufs that n threads together get and put in a second; negative: a failure. */
static double rate(struct bench *bench, size_t n)
{
	struct worker workers[MAX_WORKERS] = {0};
	size_t begun = 0, i;
	bool ok = true;
	double start;

	for (i = 0; i < n; i++) {
		workers[i].map = bench->shared;
		ok &= start_inventory(&workers[i].inventory);
	}
	start = bench_now();
	while (ok && begun < n &&
	       !pthread_create(&workers[begun].thread, NULL, work, &workers[begun]))
		begun++;
	for (i = 0; i < begun; i++) {
		pthread_join(workers[i].thread, NULL);
		ok &= workers[i].ok;
	}
	start = bench_now() - start;
	for (i = 0; i < n; i++)
		if (workers[i].inventory)
			doca_buf_inventory_destroy(workers[i].inventory);
	return ok && begun == n ? (double)(n * WORK) / start / 1e6 : -1;
}

/* DPDK has bound this thread, and so those that it creates, to one processor. */
static void use_all_processors(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all))
		perror("bench: sched_setaffinity");
}

static bool scale(struct bench *bench)
{
	double rates[MAX_WORKERS][WORK_ROUNDS];
	struct bench_stats one, several;

	use_all_processors();
	for (size_t i = 0; i < WORK_ROUNDS; i++)
		for (size_t n = 0; n < MAX_WORKERS; n++) {
			rates[n][i] = rate(bench, n + 1);
			if (rates[n][i] < 0)
				return false;
		}
	bench_stats(rates[0], WORK_ROUNDS, &one);
	bench_stats(rates[MAX_WORKERS - 1], WORK_ROUNDS, &several);
	printf("thread-safe map, million bufs a second: 1 thread %.0f (at most %.0f), %d threads "
	       "%.0f "
	       "(at most %.0f), %.2fx\n",
	       one.median, one.max, MAX_WORKERS, several.median, several.max,
	       several.median / one.median);
	return true;
}

static int usage(FILE *to)
{
	fprintf(to, "usage: bench_buf [--rounds N] [-- EAL-OPTION...]\n"
		    "       bench_buf --count N\n");
	return to == stderr ? 2 : 0;
}

static bool open_mempool(struct bench *bench, char **options, int num_options)
{
#ifdef DPUMAP_BENCH_DPDK
	bench->has_mempool = mempool_open(ELEMENTS, BUF_SIZE, options, num_options);
	return bench->has_mempool;
#else
	return num_options == 0;
#endif
}

static void close_mempool(const struct bench *bench)
{
#ifdef DPUMAP_BENCH_DPDK
	if (bench->has_mempool)
		mempool_close();
#else
#endif
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"rounds", required_argument, NULL, 'r'},
						{"count", required_argument, NULL, 'n'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct bench bench = {.rounds = 101};
	size_t count = 0;
	bool done;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt == 'r')
			bench.rounds = strtoul(optarg, NULL, 10);
		else if (opt == 'n')
			count = strtoul(optarg, NULL, 10);
		else
			return usage(opt == 'h' ? stdout : stderr);
	}
	if (bench.rounds < 1 || bench.rounds > MAX_ROUNDS)
		return usage(stderr);
	done = (count || open_mempool(&bench, argv + optind, argc - optind)) &&
	       open_device(&bench) && start_inventory(&bench.inventory) &&
	       (count ? measured_bufs(&bench, count) : compare_all(&bench) && scale(&bench));
	close_bench(&bench);
	close_mempool(&bench);
	return done ? 0 : 1;
}
