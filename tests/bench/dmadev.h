/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DPDK's dma_skeleton driver, for comparison: a DMA device that a thread of the process implements with
 * memcpy. It is a separate library, because DPDK's headers need other compiler flags.
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

/* Start DPDK without huge pages and without hardware. Returns false after printing an error. */
bool dmadev_open(uint16_t depth);
void dmadev_close(void);
/* Start or stop the driver's thread, which polls continuously. */
bool dmadev_run(bool on);

/* Post copies of consecutive pieces, with one doorbell. */
bool dmadev_post(const struct dmadev_copy *copies, size_t n);
/* Return the number of completions, at most n; -1 if a copy failed. */
int dmadev_reap(uint16_t n);

#endif
