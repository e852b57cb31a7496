/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DPDK's rte_mempool, for comparison: the same number of objects of the same size as an inventory
 * of bufs, with the cache of a core in front. In a library of its own, since DPDK's headers want
 * compiler flags that nothing else here is built with.
 */
#ifndef DPUMAP_BENCH_MEMPOOL_H
#define DPUMAP_BENCH_MEMPOOL_H

#include <stdbool.h>
#include <stddef.h>

/* Start DPDK without huge pages and devices; options as of its EAL. False after a line on stderr.
 */
bool mempool_open(size_t objects, size_t size, char **options, int num_options);
void mempool_close(void);

/* n times: get burst objects one by one and put them back one by one. False if one was missing. */
bool mempool_run(void **objects, size_t burst, size_t n);

#endif
