/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Try the patterns of docs/memory-order.md on this machine: two threads, on two processors, each
 * pattern a billion times, or ROUNDS. A comment before each pattern names its rows. Usage:
 * hil_order [--without] [ROUNDS]. The exit status is 1 if an outcome was seen that must not happen.
 * With --without there are no barriers, so the outcomes show that the machine reorders.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/queue/barrier.h"

#define CELLS  4096u /* pairs of places per meeting of the threads */
#define BATCH  ((uint64_t)CELLS)
#define ROUNDS 1000000000u

struct cell {
	_Alignas(64) _Atomic uint32_t x;
	_Alignas(64) _Atomic uint32_t y;
	_Alignas(64) uint32_t a, b; /* what the threads loaded */
};

static struct cell cell[CELLS];
static _Atomic uint64_t arrived;
static bool without;

#define STORE(p, v) atomic_store_explicit(p, v, memory_order_relaxed)
#define LOAD(p)	    atomic_load_explicit(p, memory_order_relaxed)
#define UNORDERED   __asm__ volatile("" ::: "memory")

/* rows: wqe-record. The library's stores, and an engine's load-acquire. */
static void wqe_first(struct cell *c)
{
	STORE(&c->x, 1);
	if (without)
		UNORDERED;
	else
		dpumap_barrier_to_device();
	STORE(&c->y, 1);
}

static void acquire_second(struct cell *c)
{
	c->a = without ? LOAD(&c->y) : atomic_load_explicit(&c->y, memory_order_acquire);
	UNORDERED;
	c->b = LOAD(&c->x);
}

static bool is_passed_bad(const struct cell *c)
{
	return c->a && !c->b;
}

/* rows: record-page. The same with the barrier before the store to a doorbell page. */
static void page_first(struct cell *c)
{
	STORE(&c->x, 1);
	if (without)
		UNORDERED;
	else
		dpumap_barrier_doorbell();
	STORE(&c->y, 1);
}

/* rows: gid-serial, record-head, map-state, link-up. A store-release and a load-acquire. */
static void release_first(struct cell *c)
{
	STORE(&c->x, 1);
	if (without)
		STORE(&c->y, 1);
	else
		atomic_store_explicit(&c->y, 1, memory_order_release);
}

/* rows: cqe-owner. An engine's store-release, and the library's loads. */
static void owner_second(struct cell *c)
{
	c->a = LOAD(&c->y);
	if (without)
		UNORDERED;
	else
		dpumap_barrier_from_device();
	c->b = LOAD(&c->x);
}

/* rows: fill-serial, message-state, rule-action, value-data. A sequentially consistent store and load. */
static void store_first(struct cell *c)
{
	STORE(&c->x, 1);
	if (without)
		STORE(&c->y, 1);
	else
		atomic_store(&c->y, 1);
}

static void load_second(struct cell *c)
{
	c->a = without ? LOAD(&c->y) : atomic_load(&c->y);
	UNORDERED;
	c->b = LOAD(&c->x);
}

/*
 * rows: armed-wake, change-wake, attributes-state, event-set, socket-armed. A read-modify-write
 * instead of the store.
 */
static void change_first(struct cell *c)
{
	STORE(&c->x, 1);
	if (without)
		atomic_fetch_add_explicit(&c->y, 1, memory_order_relaxed);
	else
		atomic_fetch_add(&c->y, 1);
}

/* rows: cqe-index. A store in a branch that depends on a load, and a load-acquire before a store. */
static void index_first(struct cell *c)
{
	c->a = LOAD(&c->x);
	if (without || c->a < 2)
		STORE(&c->y, 1);
}

static void reuse_second(struct cell *c)
{
	c->b = without ? LOAD(&c->y) : atomic_load_explicit(&c->y, memory_order_acquire);
	UNORDERED;
	STORE(&c->x, 1);
}

static bool is_reuse_bad(const struct cell *c)
{
	return c->a && c->b;
}

/* rows: record-tail. The same with a store-release. */
static void tail_first(struct cell *c)
{
	c->a = LOAD(&c->x);
	if (without)
		STORE(&c->y, 1);
	else
		atomic_store_explicit(&c->y, 1, memory_order_release);
}

/* rows: use-epoch. The same with a read-modify-write. */
static void epoch_first(struct cell *c)
{
	c->a = LOAD(&c->x);
	if (without)
		atomic_fetch_add_explicit(&c->y, 1, memory_order_relaxed);
	else
		atomic_fetch_add(&c->y, 1);
}

/* rows: maps-serial, asleep-message, link-events. Each thread stores, then loads what the other one stores. */
static void both_first(struct cell *c)
{
	if (without)
		STORE(&c->x, 1);
	else
		atomic_store(&c->x, 1);
	c->a = without ? LOAD(&c->y) : atomic_load(&c->y);
}

static void both_second(struct cell *c)
{
	if (without)
		STORE(&c->y, 1);
	else
		atomic_store(&c->y, 1);
	c->b = without ? LOAD(&c->x) : atomic_load(&c->x);
}

static bool is_both_bad(const struct cell *c)
{
	return !c->a && !c->b;
}

/* rows: epoch-serial, epoch-ended, frozen-epoch. The same with a read-modify-write of the first thread. */
static void pass_first(struct cell *c)
{
	if (without)
		atomic_fetch_add_explicit(&c->x, 1, memory_order_relaxed);
	else
		atomic_fetch_add(&c->x, 1);
	c->a = without ? LOAD(&c->y) : atomic_load(&c->y);
}

/* rows: event-armed. The same with fences. */
static void fence_first(struct cell *c)
{
	STORE(&c->x, 1);
	if (!without)
		atomic_thread_fence(memory_order_seq_cst);
	c->a = LOAD(&c->y);
}

static void fence_second(struct cell *c)
{
	STORE(&c->y, 1);
	if (!without)
		atomic_thread_fence(memory_order_seq_cst);
	c->b = LOAD(&c->x);
}

struct pattern {
	const char *name;
	void (*first)(struct cell *);
	void (*second)(struct cell *);
	bool (*is_bad)(const struct cell *);
};

static const struct pattern patterns[] = {
	{"wqe-record", wqe_first, acquire_second, is_passed_bad},
	{"record-page", page_first, acquire_second, is_passed_bad},
	{"gid-serial", release_first, acquire_second, is_passed_bad},
	{"cqe-owner", release_first, owner_second, is_passed_bad},
	{"fill-serial", store_first, load_second, is_passed_bad},
	{"armed-wake", change_first, load_second, is_passed_bad},
	{"cqe-index", index_first, reuse_second, is_reuse_bad},
	{"record-tail", tail_first, reuse_second, is_reuse_bad},
	{"use-epoch", epoch_first, reuse_second, is_reuse_bad},
	{"maps-serial", both_first, both_second, is_both_bad},
	{"epoch-serial", pass_first, both_second, is_both_bad},
	{"event-armed", fence_first, fence_second, is_both_bad},
};

/* The threads go on together. */
static void meet(uint64_t *n)
{
	*n += 2;
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < *n)
		sched_yield(); /* with more threads than processors */
}

struct run {
	const struct pattern *pattern;
	uint64_t batches;
};

static void *be_second(void *arg)
{
	const struct run *r = arg;
	uint64_t n = 0, i;

	for (i = 0; i < r->batches; i++) {
		meet(&n);
		for (uint32_t k = 0; k < CELLS; k++)
			r->pattern->second(&cell[k]);
		meet(&n);
	}
	return NULL;
}

static uint64_t be_first(const struct run *r)
{
	uint64_t n = 0, bad = 0, i;

	for (i = 0; i < r->batches; i++) {
		memset(cell, 0, sizeof(cell));
		meet(&n);
		for (uint32_t k = 0; k < CELLS; k++)
			r->pattern->first(&cell[k]);
		meet(&n);
		for (uint32_t k = 0; k < CELLS; k++)
			bad += r->pattern->is_bad(&cell[k]);
	}
	return bad;
}

static bool try_pattern(const struct pattern *p, uint64_t rounds)
{
	struct run r = {p, (rounds + BATCH - 1) / BATCH};
	pthread_t second;
	uint64_t bad;

	atomic_store(&arrived, 0);
	if (pthread_create(&second, NULL, be_second, &r)) {
		fprintf(stderr, "hil_order: no second thread; raise the limit of processes\n");
		exit(2);
	}
	bad = be_first(&r);
	pthread_join(second, NULL);
	printf("%s%s: %" PRIu64 " of %" PRIu64 " out of order\n", p->name,
	       without ? " without barriers" : "", bad, r.batches * BATCH);
	return bad;
}

int main(int argc, char **argv)
{
	uint64_t rounds = ROUNDS;
	bool bad = false;

	if (argc > 1 && !strcmp(argv[1], "--without")) {
		without = true;
		argc--;
		argv++;
	}
	if (argc > 1)
		rounds = strtoull(argv[1], NULL, 0);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		bad |= try_pattern(&patterns[i], rounds);
	return bad && !without;
}
