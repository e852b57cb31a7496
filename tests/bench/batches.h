/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Operations that a program executes in two ways: by hand, which is called "raw", and by the library, which is called
 * "task". Without options, compare the times of single operations. With --only raw or --only task, execute batches of
 * small operations for another tool: valgrind --tool=callgrind --toggle-collect='measured_*' counts the instructions
 * in the functions measured_*() of the program. Allocations and locks are counted here.
 */
#ifndef DPUMAP_BENCH_BATCHES_H
#define DPUMAP_BENCH_BATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum batches_way { BATCHES_RAW, BATCHES_TASK, BATCHES_NUM_WAYS };

struct batches {
	const char *many;  /* what is printed for operations: "writes" */
	const char *title; /* for the one that is timed: "RDMA write of 64 bytes" */
	const char *names[BATCHES_NUM_WAYS];
	const char *ratio; /* the name of the ratio of times in a report */
	const char *goal;  /* of this ratio, or "" */
	size_t max_batch;
	/* is_small: for batches. */
	bool (*open)(bool is_small);
	void (*close)(void);
	/* Prepare n operations. Return the last 8 bytes that the device will write, which will not all be 0. */
	volatile uint64_t *(*prepare)(enum batches_way way, size_t n);
	/* Start the operations, and wait for their ends. */
	bool (*post[BATCHES_NUM_WAYS])(size_t n);
	bool (*reap[BATCHES_NUM_WAYS])(size_t n);
	/* Do the work of one operation on the CPU. NULL: it is not compared. */
	const char *cpu;
	bool (*on_cpu)(void);
};

/* Polls that found nothing, for the program to count. */
extern unsigned long batches_empty;

/* Return the exit status. */
int batches_main(const struct batches *batches, int argc, char **argv);

#endif
