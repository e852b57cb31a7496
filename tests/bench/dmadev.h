/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DPDK's dma_skeleton driver, for comparison: a DMA device that is a thread of the process and
 * memcpy. In a library of its own, since DPDK's headers want compiler flags that nothing else here
 * is built with.
 */
#ifndef DPUMAP_BENCH_DMADEV_H
#define DPUMAP_BENCH_DMADEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dmadev_copy {
	const void *src;
	void *dst;
	size_t len;
};

/* Without huge pages and devices. False after a line on stderr. */
bool dmadev_open(uint16_t depth);
void dmadev_close(void);
/* Its thread looks for work all the time: it exists only while it is needed. */
bool dmadev_run(bool on);

/* Copies behind each other, with one doorbell. */
bool dmadev_post(const struct dmadev_copy *copies, size_t n);
/* How many of at most n completed; -1 when one failed. */
int dmadev_reap(uint16_t n);

#endif
