/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bufs in several threads, for ThreadSanitizer: one inventory and one pool for each thread, on one
 * map that is shared, and on one that is not. No device: the map is started by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <doca_buf_pool.h>
#include <pthread.h>

#include "core/buf/buf.h"
#include "core/mmap/mmap.h"

#define THREADS	 8
#define ROUNDS	 2000
#define ELEMENTS 16

static uint8_t memory[4096];

static struct doca_mmap *started_map(void)
{
	struct doca_mmap *map;

	assert_int_equal(doca_mmap_create(&map), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(map, memory, sizeof(memory)), DOCA_SUCCESS);
	return map;
}

struct worker {
	pthread_t thread;
	struct doca_mmap *map;
	unsigned int failures;
};

/* A list of all elements of the inventory; copying it is refused; all are released. */
static unsigned int turn(struct doca_buf_inventory *inventory, struct doca_mmap *map)
{
	struct doca_buf *bufs[ELEMENTS], *extra;
	unsigned int failures = 0;

	for (size_t i = 0; i < ELEMENTS; i++)
		failures += doca_buf_inventory_buf_get_by_data(inventory, map, memory + i, 64,
							       &bufs[i]) != DOCA_SUCCESS;
	if (failures)
		return failures;
	for (size_t i = 1; i < ELEMENTS; i++)
		failures += doca_buf_chain_list(bufs[0], bufs[i]) != DOCA_SUCCESS;
	failures += doca_buf_inventory_buf_dup(inventory, bufs[0], &extra) != DOCA_ERROR_NO_MEMORY;
	failures += doca_buf_inventory_buf_reuse_by_addr(bufs[1], memory, 1) != DOCA_SUCCESS;
	failures += doca_buf_dec_refcount(bufs[0], NULL) != DOCA_SUCCESS;
	return failures;
}

/* All bufs of a pool are allocated and released. */
static unsigned int turn_of_pool(struct doca_buf_pool *pool)
{
	struct doca_buf *bufs[ELEMENTS], *extra;
	unsigned int failures = 0;

	for (size_t i = 0; i < ELEMENTS; i++)
		failures += doca_buf_pool_buf_alloc(pool, &bufs[i]) != DOCA_SUCCESS;
	if (failures)
		return failures;
	failures += doca_buf_pool_buf_alloc(pool, &extra) != DOCA_ERROR_EMPTY;
	for (size_t i = 0; i < ELEMENTS; i++)
		failures += doca_buf_dec_refcount(bufs[i], NULL) != DOCA_SUCCESS;
	return failures;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct doca_buf_inventory *inventory;
	struct doca_buf_pool *pool;

	if (doca_buf_inventory_create(ELEMENTS, &inventory) != DOCA_SUCCESS ||
	    doca_buf_pool_create(ELEMENTS, 64, worker->map, &pool) != DOCA_SUCCESS) {
		worker->failures = 1;
		return NULL;
	}
	worker->failures += doca_buf_inventory_start(inventory) != DOCA_SUCCESS;
	worker->failures += doca_buf_pool_start(pool) != DOCA_SUCCESS;
	for (unsigned int i = 0; i < ROUNDS; i++)
		worker->failures += turn(inventory, worker->map) + turn_of_pool(pool);
	worker->failures += doca_buf_pool_destroy(pool) != DOCA_SUCCESS;
	worker->failures += doca_buf_inventory_destroy(inventory) != DOCA_SUCCESS;
	return NULL;
}

static void start_workers(struct worker *workers, struct doca_mmap *const *maps)
{
	for (size_t i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.map = maps[i]};
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
}

static void join_workers(struct worker *workers)
{
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		assert_int_equal(workers[i].failures, 0);
	}
}

static void threads_share_a_map_that_allows_it(void **state)
{
	struct doca_mmap *map = started_map(), *maps[THREADS];
	struct worker workers[THREADS];
	uint32_t n = 1;
	size_t len;
	void *addr;

	assert_int_equal(doca_mmap_enable_thread_safety(map), DOCA_SUCCESS);
	dpumap_mmap_set_state(map, MMAP_STARTED);
	for (size_t i = 0; i < THREADS; i++)
		maps[i] = map;
	start_workers(workers, maps);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		assert_int_equal(doca_mmap_get_memrange(map, &addr, &len), DOCA_SUCCESS);
		assert_int_equal(doca_mmap_get_num_bufs(map, &n), DOCA_SUCCESS);
		assert_int_equal(n, 0);
	}
	join_workers(workers);
	assert_int_equal(doca_mmap_destroy(map), DOCA_SUCCESS);
}

static void threads_with_maps_of_their_own_share_nothing(void **state)
{
	struct worker workers[THREADS];
	struct doca_mmap *maps[THREADS];
	uint32_t n = 1;

	for (size_t i = 0; i < THREADS; i++) {
		maps[i] = started_map();
		dpumap_mmap_set_state(maps[i], MMAP_STARTED);
	}
	start_workers(workers, maps);
	join_workers(workers);
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(doca_mmap_get_num_bufs(maps[i], &n), DOCA_SUCCESS);
		assert_int_equal(n, 0);
		assert_int_equal(doca_mmap_destroy(maps[i]), DOCA_SUCCESS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_a_map_that_allows_it),
		cmocka_unit_test(threads_with_maps_of_their_own_share_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
