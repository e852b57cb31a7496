/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure getting and releasing a buf, compared with getting and putting an object of DPDK's rte_mempool
 * in the same process. The two alternate in each round, so each ratio compares adjacent measurements. Runs
 * on any device that supports maps: dpumap-emu run --as dpu.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_mmap.h>

#include "device.h"
#ifdef DPUMAP_BENCH_DPDK
#include "mempool.h"
#endif
#include "stats.h"

#define ELEMENTS   1024
#define BUF_SIZE   64 /* size of a struct doca_buf; objects of the mempool get the same size */
#define MAX_BURST  128
#define PAIRS	   100000 /* in a round */
#define MAX_ROUNDS 1000

static uint8_t memory[4096];

struct bench {
	struct doca_dev *dev;
	struct doca_mmap *map;
	struct doca_buf_inventory *inventory;
	size_t rounds;
	bool has_mempool;
};

static bool open_device(struct bench *bench)
{
	bench->dev = bench_open_device(NULL);
	if (bench->dev)
		bench->map = bench_map(bench->dev, memory, sizeof(memory),
				       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	return bench->map;
}

static bool start_inventory(struct bench *bench)
{
	return bench_is_ok(doca_buf_inventory_create(ELEMENTS, &bench->inventory),
			   "an inventory") &&
	       bench_is_ok(doca_buf_inventory_start(bench->inventory), "starting it");
}

static void close_bench(struct bench *bench)
{
	if (bench->inventory)
		bench_is_ok(doca_buf_inventory_destroy(bench->inventory),
			    "destroying the inventory");
	if (bench->map)
		bench_is_ok(doca_mmap_destroy(bench->map), "destroying the map");
	if (bench->dev)
		bench_is_ok(doca_dev_close(bench->dev), "closing the device");
}

static bool run_bufs(struct bench *bench, size_t burst, size_t n)
{
	struct doca_buf *bufs[MAX_BURST];

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < burst; j++)
			if (doca_buf_inventory_buf_get_by_addr(bench->inventory, bench->map,
							       memory + j, 64,
							       &bufs[j]) != DOCA_SUCCESS)
				return false;
		for (size_t j = 0; j < burst; j++)
			if (doca_buf_dec_refcount(bufs[j], NULL) != DOCA_SUCCESS)
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

static bool compare(struct bench *bench, size_t burst)
{
	static double bufs[MAX_ROUNDS], objects[MAX_ROUNDS], ratios[MAX_ROUNDS];
	struct bench_stats buf, object, ratio;

	for (size_t i = 0; i < bench->rounds; i++) {
		bufs[i] = measure(bench, run_bufs, burst);
		objects[i] = bench->has_mempool ? measure(bench, run_mempool, burst) : 1;
		if (bufs[i] < 0 || objects[i] < 0)
			return false;
		ratios[i] = bufs[i] / objects[i];
	}
	bench_stats(bufs, bench->rounds, &buf);
	bench_stats(objects, bench->rounds, &object);
	bench_stats(ratios, bench->rounds, &ratio);
	printf("%5zu  %6.2f (%.2f to %.2f)", burst, buf.median, buf.min, buf.max);
	if (bench->has_mempool)
		printf("  %6.2f (%.2f to %.2f)  %5.2f (%.2f to %.2f)", object.median, object.min,
		       object.max, ratio.median, ratio.min, ratio.max);
	printf("\n");
	return true;
}

static bool compare_all(struct bench *bench)
{
	static const size_t bursts[] = {1, 8, 32, MAX_BURST};

	if (!bench->has_mempool)
		printf("rte_mempool is not measured: bench_buf was built without libdpdk-dev\n");
	printf("get and put of one, ns: median (range) of %zu rounds\nburst  bufs%s\n",
	       bench->rounds,
	       bench->has_mempool ? "                   rte_mempool            ratio" : "");
	for (size_t i = 0; i < sizeof(bursts) / sizeof(bursts[0]); i++)
		if (!compare(bench, bursts[i]))
			return false;
	return true;
}

static int usage(FILE *to)
{
	fprintf(to, "usage: bench_buf [--rounds N] [-- EAL-OPTION...]\n");
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
	static const struct option options[] = {
		{"rounds", required_argument, NULL, 'r'}, {"help", no_argument, NULL, 'h'}, {0}};
	struct bench bench = {.rounds = 101};
	bool done;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt == 'h')
			return usage(stdout);
		if (opt != 'r')
			return usage(stderr);
		bench.rounds = strtoul(optarg, NULL, 10);
	}
	if (bench.rounds < 1 || bench.rounds > MAX_ROUNDS)
		return usage(stderr);
	done = open_mempool(&bench, argv + optind, argc - optind) && open_device(&bench) &&
	       start_inventory(&bench) && compare_all(&bench);
	close_bench(&bench);
	close_mempool(&bench);
	return done ? 0 : 1;
}
