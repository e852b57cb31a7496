/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure the speed of copies between a host process and a process on the DPU's function, compared with the
 * limits of the machine: memcpy in one process, and process_vm_readv between the same two processes. The
 * methods alternate in each round, so each ratio compares adjacent measurements.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <dpumap/dma.h>

#include "base/array.h"
#include "peer.h"
#include "stats.h"

#define MEMORY	   ((size_t)16 << 20) /* each method copies it piece by piece */
#define BIG	   ((size_t)1 << 20)
#define SMALL	   ((size_t)64)
#define QUEUE	   32
#define MAX_ROUNDS 1000
#define PATIENCE   10.0 /* seconds without a completion after which the queue counts as stuck */
#define IDLE	   2	/* seconds */

struct bench {
	struct bench_peer peer;
	struct doca_dev *dev;
	struct doca_mmap *local_map;
	struct doca_mmap *remote_map;
	struct dpumap_dma *dma;
	uint8_t *local;
	uint8_t *other; /* the source of memcpy */
	uint8_t *remote;
	int far; /* the peer is on another machine, so process_vm_readv cannot be used */
};

/* Copy len bytes n times; return 0, or -1 after printing an error. */
typedef int method_run(struct bench *bench, size_t len, unsigned int n);

static size_t offset_of(size_t len, unsigned int i)
{
	return (size_t)i * len % MEMORY;
}

static int run_memcpy(struct bench *bench, size_t len, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		size_t offset = offset_of(len, i);

		memcpy(bench->local + offset, bench->other + offset, len);
		__asm__ volatile("" ::: "memory");
	}
	return 0;
}

static int run_readv(struct bench *bench, size_t len, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		size_t offset = offset_of(len, i);
		struct iovec to = {bench->local + offset, len};
		struct iovec from = {bench->remote + offset, len};

		if (process_vm_readv(bench->peer.exported.pid, &to, 1, &from, 1, 0) !=
		    (ssize_t)len) {
			perror("bench: process_vm_readv");
			return -1;
		}
	}
	return 0;
}

static int collect(struct bench *bench, unsigned int *done)
{
	struct dpumap_dma_completion completions[QUEUE];
	doca_error_t error;
	uint32_t n;

	error = dpumap_dma_poll(bench->dma, completions, QUEUE, &n);
	if (error != DOCA_SUCCESS)
		return bench_fail("the queue cannot be polled", error);
	for (uint32_t i = 0; i < n; i++) {
		if (completions[i].status != DOCA_SUCCESS)
			return bench_fail("a copy failed", completions[i].status);
	}
	*done += n;
	return 0;
}

static doca_error_t post(struct bench *bench, size_t offset, size_t len, int to_remote)
{
	union doca_data none = {.u64 = 0};

	if (to_remote)
		return dpumap_dma_memcpy(bench->dma, bench->remote_map, bench->remote + offset,
					 bench->local_map, bench->local + offset, len, none);
	return dpumap_dma_memcpy(bench->dma, bench->local_map, bench->local + offset,
				 bench->remote_map, bench->remote + offset, len, none);
}

static int run_queue(struct bench *bench, size_t len, unsigned int n, int to_remote)
{
	unsigned int posted = 0;
	unsigned int done = 0;
	unsigned int seen = 0;
	double deadline = bench_now() + PATIENCE;

	while (done < n) {
		while (posted < n && posted - done < QUEUE) {
			doca_error_t error = post(bench, offset_of(len, posted), len, to_remote);

			if (error != DOCA_SUCCESS)
				return bench_fail("a copy is not accepted", error);
			posted++;
		}
		if (collect(bench, &done) != 0)
			return -1;
		if (done != seen) {
			seen = done;
			deadline = bench_now() + PATIENCE;
		} else if (bench_now() > deadline) {
			return bench_fail("a copy does not complete", DOCA_ERROR_TIME_OUT);
		}
	}
	return 0;
}

static int run_get(struct bench *bench, size_t len, unsigned int n)
{
	return run_queue(bench, len, n, 0);
}

static int run_put(struct bench *bench, size_t len, unsigned int n)
{
	return run_queue(bench, len, n, 1);
}

static const struct {
	const char *name;
	method_run *run;
} methods[] = {
	{"memcpy in one process", run_memcpy},
	{"process_vm_readv", run_readv},
	{"dpumap, DPU to host", run_get},
	{"dpumap, host to DPU", run_put},
};

#define METHODS	     ARRAY_SIZE(methods)
#define FIRST_DPUMAP 2

/* A measurement of copies of one length, and its title and unit. */
static const struct trial {
	size_t len;
	unsigned int n;
	const char *title;
	const char *unit;
	double scale; /* converts bytes per second to the unit */
} trials[] = {
	{BIG, 64, "1 MiB tasks", "GB/s", 1e-9},
	{SMALL, 20000, "64-byte tasks", "Mop/s", 1e-6 / SMALL},
};

static int is_left_out(const struct bench *bench, size_t m)
{
	return bench->far && methods[m].run == run_readv;
}

/* First wake the threads that slept while another method ran: one sixteenth is not measured. */
static int measure_one(struct bench *bench, const struct trial *trial, method_run *run,
		       double *speed)
{
	double begin;

	if (run(bench, trial->len, trial->n / 16) != 0)
		return -1;
	begin = bench_now();
	if (run(bench, trial->len, trial->n) != 0)
		return -1;
	*speed = (double)trial->len * trial->n * trial->scale / (bench_now() - begin);
	return 0;
}

static int measure(struct bench *bench, const struct trial *trial, size_t rounds,
		   double speed[METHODS][MAX_ROUNDS])
{
	for (size_t round = 0; round < rounds; round++) {
		for (size_t turn = 0; turn < METHODS; turn++) {
			size_t m = (round + turn) % METHODS;

			if (is_left_out(bench, m))
				continue;
			if (measure_one(bench, trial, methods[m].run, &speed[m][round]) != 0)
				return -1;
		}
	}
	return 0;
}

static void print_stats(const char *name, double *values, size_t n, const char *unit)
{
	struct bench_stats stats;

	bench_stats(values, n, &stats);
	printf("  %-42s %8.3f  (%.3f - %.3f) %s\n", name, stats.median, stats.min, stats.max, unit);
}

static void print_ratios(const struct bench *bench, const struct trial *trial,
			 double speed[METHODS][MAX_ROUNDS], size_t rounds)
{
	struct bench_stats stats;
	double ratio[MAX_ROUNDS];
	char name[64];

	for (size_t m = FIRST_DPUMAP; m < METHODS; m++) {
		for (size_t anchor = 0; anchor < FIRST_DPUMAP; anchor++) {
			if (is_left_out(bench, anchor))
				continue;
			for (size_t i = 0; i < rounds; i++)
				ratio[i] = speed[m][i] / speed[anchor][i];
			snprintf(name, sizeof(name), "%s : %s",
				 methods[m].name + strlen("dpumap, "), methods[anchor].name);
			print_stats(name, ratio, rounds, "x");
			bench_stats(ratio, rounds, &stats);
			bench_record(&stats, "", "%s, %s", name, trial->title);
		}
	}
}

static int run_trial(struct bench *bench, const struct trial *trial, size_t rounds)
{
	static double speed[METHODS][MAX_ROUNDS];

	if (measure(bench, trial, 1, speed) != 0 || measure(bench, trial, rounds, speed) != 0)
		return -1;
	printf("\n%s, median (min - max) of %zu rounds\n", trial->title, rounds);
	/* Print ratios first: they pair the values of a round, and printing the speeds sorts the values. */
	print_ratios(bench, trial, speed, rounds);
	for (size_t m = 0; m < METHODS; m++) {
		if (!is_left_out(bench, m))
			print_stats(methods[m].name, speed[m], rounds, trial->unit);
	}
	return 0;
}

/* The copied bytes must be the exporter's; otherwise the speeds are meaningless. */
static int verify(struct bench *bench)
{
	bench_fill(bench->other, MEMORY);
	if (run_get(bench, BIG, MEMORY / BIG) != 0)
		return -1;
	if (memcmp(bench->local, bench->other, MEMORY) != 0)
		return bench_fail("the copied bytes differ from the exporter's",
				  DOCA_ERROR_UNEXPECTED);
	return 0;
}

static void print_idle(void)
{
	double cpu = bench_cpu_time();
	double begin = bench_now();

	sleep(IDLE);
	printf("\nidle for %d s with the queue open: %.2f %% of a core in this process\n", IDLE,
	       100 * (bench_cpu_time() - cpu) / (bench_now() - begin));
}

static int run_all(struct bench *bench, size_t rounds)
{
	enum dpumap_dma_engine engine;
	doca_error_t error;

	error = dpumap_dma_get_engine(bench->dma, &engine);
	if (error != DOCA_SUCCESS)
		return bench_fail("the engine of the queue is unknown", error);
	if (verify(bench) != 0)
		return -1;
	printf("engine %s, %d copies in flight, %zu MiB of memory\n",
	       engine == DPUMAP_DMA_ENGINE_MMO ? "MMO" : "RDMA", QUEUE, MEMORY >> 20);
	for (size_t i = 0; i < ARRAY_SIZE(trials); i++) {
		if (run_trial(bench, &trials[i], rounds) != 0)
			return -1;
	}
	print_idle();
	return 0;
}

static int with_queue(struct bench *bench, size_t rounds)
{
	const struct bench_export *exported = &bench->peer.exported;
	doca_error_t error;
	int status;

	bench->remote = (uint8_t *)(uintptr_t)exported->addr;
	error = doca_mmap_create_from_export(NULL, exported->desc, exported->desc_len, bench->dev,
					     &bench->remote_map);
	if (error != DOCA_SUCCESS)
		return bench_fail("the peer's memory cannot be imported", error);
	error = dpumap_dma_create(bench->dev, QUEUE, &bench->dma);
	if (error != DOCA_SUCCESS) {
		doca_mmap_destroy(bench->remote_map);
		return bench_fail("a queue cannot be created", error);
	}
	status = run_all(bench, rounds);
	dpumap_dma_destroy(bench->dma);
	doca_mmap_destroy(bench->remote_map);
	return status;
}

static int with_memory(struct bench *bench, size_t rounds)
{
	int status = -1;

	bench->local = mmap(NULL, 2 * MEMORY, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (bench->local == MAP_FAILED)
		return bench_fail("memory cannot be allocated", DOCA_ERROR_NO_MEMORY);
	bench->other = bench->local + MEMORY;
	bench->local_map =
		bench_map(bench->dev, bench->local, MEMORY, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (bench->local_map) {
		status = with_queue(bench, rounds);
		doca_mmap_destroy(bench->local_map);
	}
	munmap(bench->local, 2 * MEMORY);
	return status;
}

static int with_device(struct bench *bench, size_t rounds)
{
	int status;

	if (bench->peer.exported.len < MEMORY)
		return bench_fail("the peer exports too little", DOCA_ERROR_INVALID_VALUE);
	bench->dev = bench_open_device(doca_mmap_cap_is_create_from_export_pci_supported);
	if (!bench->dev)
		return -1;
	status = with_memory(bench, rounds);
	doca_dev_close(bench->dev);
	return status;
}

static int run_bench(char *const command[], size_t rounds, int far)
{
	struct bench bench = {.far = far};
	int status;

	if (bench_peer_start(&bench.peer, command) != 0)
		return 1;
	status = with_device(&bench, rounds);
	bench_peer_stop(&bench.peer);
	return status == 0 ? 0 : 1;
}

static int usage(FILE *out)
{
	fprintf(out,
		"usage: bench_copy [--rounds N] [--far] -- COMMAND...\n"
		"       bench_copy --export | --export-private\n\n"
		"Runs on the host's function. COMMAND starts `bench_copy --export` on the DPU's\n"
		"function of the same card; with --far on another machine, where process_vm_readv\n"
		"cannot be compared. With --export-private the other process cannot map the\n"
		"memory.\n");
	return out == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"export", no_argument, NULL, 'e'},
		{"export-private", no_argument, NULL, 'p'},
		{"rounds", required_argument, NULL, 'r'},
		{"far", no_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	unsigned long rounds = 15;
	char *end;
	int option;
	int far = 0;

	while ((option = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
		switch (option) {
		case 'e':
			return bench_export_memory(MEMORY, true);
		case 'p':
			return bench_export_memory(MEMORY, false);
		case 'r':
			rounds = strtoul(optarg, &end, 10);
			if (*end || rounds < 1 || rounds > MAX_ROUNDS)
				return usage(stderr);
			break;
		case 'f':
			far = 1;
			break;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	}
	if (optind == argc)
		return usage(stderr);
	return run_bench(argv + optind, rounds, far);
}
