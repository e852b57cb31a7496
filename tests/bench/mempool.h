/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DPDK's rte_mempool, for comparison, with a per-core cache. Its objects have the size and number of the
 * bufs in the inventory. It is a separate library, because DPDK's headers need other compiler flags.
 */
#ifndef DPUMAP_BENCH_MEMPOOL_H
#define DPUMAP_BENCH_MEMPOOL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Start DPDK without huge pages and without devices. The options are those of DPDK's EAL. Returns false
 * after printing an error.
 */
bool mempool_open(size_t objects, size_t size, char **options, int num_options);
void mempool_close(void);

/* n times: get `burst` objects one by one and put them back. Returns false if a get failed. */
bool mempool_run(void **objects, size_t burst, size_t n);

#endif
