/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure the savings by a thread domain and huge pages: the CPU time to post and poll one copy, for queues
 * on parent domains of each kind. The kinds alternate in each round; --only selects one, to count its
 * instructions. With --create, only create and destroy domains, in measured_domains(). Only the CPU time of
 * this thread counts: the engine of an emulated device (dpumap-emu run --as dpu) is another thread of the
 * process.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <dpumap/arena.h>
#include <dpumap/parent_domain.h>

#include "base/array.h"
#include "device.h"
#include "stats.h"

#define DEPTH	   1024u
#define COPIES	   (8 * DEPTH) /* in a round */
#define MAX_ROUNDS 1000
#define ARENA_LEN  ((size_t)2 << 20)

struct kind {
	const char *name;
	bool single_thread;
	bool huge_pages;
	struct dpumap_arena *arena;
	struct dpumap_parent_domain *domain;
	struct dpumap_dma *dma;
	double post[MAX_ROUNDS], poll[MAX_ROUNDS];
};

static struct kind kinds[] = {
	{.name = "plain"},
	{.name = "thread domain", .single_thread = true},
	{.name = "huge pages", .huge_pages = true},
	{.name = "both", .single_thread = true, .huge_pages = true},
};
#define KINDS ARRAY_SIZE(kinds)

static uint8_t memory[4096];

static bool open_kind(struct doca_dev *dev, struct kind *kind)
{
	struct dpumap_parent_domain_attr attr = {.single_thread = kind->single_thread};
	struct dpumap_allocator allocator;

	if (kind->huge_pages) {
		if (!bench_is_ok(dpumap_arena_create_huge_pages(0, ARENA_LEN, &kind->arena),
				 "huge pages") ||
		    !bench_is_ok(dpumap_arena_get_allocator(kind->arena, &allocator),
				 "an allocator"))
			return false;
		attr.allocator = &allocator;
	}
	return bench_is_ok(dpumap_parent_domain_create(dev, &attr, &kind->domain), "a domain") &&
	       bench_is_ok(dpumap_dma_create_on(kind->domain, DEPTH, &kind->dma), "a queue");
}

static void close_kind(struct kind *kind)
{
	if (kind->dma)
		bench_is_ok(dpumap_dma_destroy(kind->dma), "destroying a queue");
	if (kind->domain)
		bench_is_ok(dpumap_parent_domain_destroy(kind->domain), "destroying a domain");
	if (kind->arena)
		bench_is_ok(dpumap_arena_destroy(kind->arena), "destroying an arena");
}

static double thread_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool fill(struct kind *kind, struct doca_mmap *map)
{
	for (uint32_t i = 0; i < DEPTH; i++)
		if (dpumap_dma_memcpy(kind->dma, map, memory + 64, map, memory, 8,
				      (union doca_data){.u64 = i}) != DOCA_SUCCESS)
			return false;
	return true;
}

/* Measure only polls that return completions, not the time of waiting for the device. */
static bool drain(struct kind *kind, double *spent)
{
	struct dpumap_dma_completion done[DEPTH];
	uint32_t left = DEPTH, n;

	while (left) {
		double start = thread_time();

		if (dpumap_dma_poll(kind->dma, done, DEPTH, &n) != DOCA_SUCCESS)
			return false;
		if (n)
			*spent += thread_time() - start;
		else
			bench_pause(1);
		for (uint32_t i = 0; i < n; i++)
			if (done[i].status != DOCA_SUCCESS)
				return false;
		left -= n;
	}
	return true;
}

static bool run(struct kind *kind, struct doca_mmap *map, size_t round)
{
	double post = 0, poll = 0, start;

	for (uint32_t i = 0; i < COPIES / DEPTH; i++) {
		start = thread_time();
		if (!fill(kind, map))
			return bench_is_ok(DOCA_ERROR_UNEXPECTED, "posting");
		post += thread_time() - start;
		bench_pause(1); /* until most copies have completed */
		if (!drain(kind, &poll))
			return bench_is_ok(DOCA_ERROR_UNEXPECTED, "polling");
	}
	kind->post[round] = post * 1e9 / COPIES;
	kind->poll[round] = poll * 1e9 / COPIES;
	return true;
}

static void report(struct kind *kind, size_t rounds)
{
	struct bench_stats post, poll;

	bench_stats(kind->post, rounds, &post);
	bench_stats(kind->poll, rounds, &poll);
	printf("%-14s %7.1f (%.1f to %.1f)  %7.1f (%.1f to %.1f)\n", kind->name, post.median,
	       post.min, post.max, poll.median, poll.min, poll.max);
}

static bool measure(struct doca_dev *dev, struct doca_mmap *map, const char *only, size_t rounds)
{
	for (size_t k = 0; k < KINDS; k++)
		if ((!only || !strcmp(only, kinds[k].name)) && !open_kind(dev, &kinds[k]))
			return false;
	for (size_t round = 0; round < rounds; round++)
		for (size_t k = 0; k < KINDS; k++)
			if (kinds[k].dma && !run(&kinds[k], map, round))
				return false;
	printf("one copy, ns of this thread: median (range) of %zu rounds\n"
	       "queue          post                     poll\n",
	       rounds);
	for (size_t k = 0; k < KINDS; k++)
		if (kinds[k].dma)
			report(&kinds[k], rounds);
	return true;
}

static bool bench(struct doca_dev *dev, const char *only, size_t rounds)
{
	struct doca_mmap *map = NULL;
	bool done;

	done = bench_is_ok(doca_mmap_create(&map), "creating a map") &&
	       bench_is_ok(doca_mmap_set_memrange(map, memory, sizeof(memory)), "its range") &&
	       bench_is_ok(doca_mmap_add_dev(map, dev), "its device") &&
	       bench_is_ok(doca_mmap_start(map), "starting it") && measure(dev, map, only, rounds);
	for (size_t k = 0; k < KINDS; k++)
		close_kind(&kinds[k]);
	if (map)
		bench_is_ok(doca_mmap_destroy(map), "destroying the map");
	return done;
}

/* Not inlined, so that callgrind can detect calls and returns. */
__attribute__((noinline)) static bool measured_domains(struct doca_dev *dev, size_t n)
{
	struct dpumap_parent_domain *domain;

	for (size_t i = 0; i < n; i++)
		if (dpumap_parent_domain_create(dev, NULL, &domain) != DOCA_SUCCESS ||
		    dpumap_parent_domain_destroy(domain) != DOCA_SUCCESS)
			return false;
	return true;
}

static int usage(FILE *to)
{
	fprintf(to, "usage: bench_domain [--rounds N] [--only KIND]\n"
		    "       bench_domain --create N\n"
		    "KIND is plain, \"thread domain\", \"huge pages\" or both\n");
	return to == stderr ? 2 : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"rounds", required_argument, NULL, 'r'},
						{"only", required_argument, NULL, 'o'},
						{"create", required_argument, NULL, 'n'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	const char *only = NULL;
	struct doca_dev *dev;
	size_t rounds = 51, domains = 0;
	bool done;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt == 'r')
			rounds = strtoul(optarg, NULL, 10);
		else if (opt == 'o')
			only = optarg;
		else if (opt == 'n')
			domains = strtoul(optarg, NULL, 10);
		else
			return usage(opt == 'h' ? stdout : stderr);
	}
	if (rounds < 1 || rounds > MAX_ROUNDS)
		return usage(stderr);
	dev = bench_open_device(NULL);
	if (!dev)
		return 1;
	done = domains ? measured_domains(dev, domains) : bench(dev, only, rounds);
	return bench_is_ok(doca_dev_close(dev), "closing the device") && done ? 0 : 1;
}
