/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A store to a write-protected page, which another thread unprotects (userfaultfd): what waking a sleeping
 * device costs at least, as the thread that stores sleeps until the other one has run.
 */
#ifndef DPUMAP_BENCH_RING_H
#define DPUMAP_BENCH_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct bench_ring {
	int uffd;
	volatile uint64_t *page;
	pthread_t thread;
};

/* False if the kernel does not permit it. */
bool bench_ring_open(struct bench_ring *ring);
void bench_ring_close(struct bench_ring *ring);
/* Protect the page. The next store waits for the other thread. */
bool bench_ring_arm(const struct bench_ring *ring);

#endif
