/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Each allocation of buf pools and advise contexts fails once. The call returns the documented error,
 * leaves nothing behind, and succeeds when it is repeated.
 */
#include <errno.h>

#include <doca_buf_pool.h>
#include <doca_ctx.h>
#include <doca_mmap_advise.h>
#include <doca_pe.h>

#include "bufs.h"
#include "faults.h"

static struct doca_buf_pool *pool;
static struct doca_mmap_advise *advise;

static doca_error_t create_pool(void)
{
	return doca_buf_pool_create(4, 64, map, &pool);
}

static doca_error_t create_advise(void)
{
	return doca_mmap_advise_create(dev, &advise);
}

static doca_error_t start_advise(void)
{
	return doca_ctx_start(doca_mmap_advise_as_ctx(advise));
}

/* Let the first allocation fail, then the second, and so on until the call needs no more. */
static void assert_each_failure(doca_error_t (*call)(void), unsigned int wanted, doca_error_t error)
{
	unsigned int n = 0, live;
	doca_error_t result;
	bool fired;

	do {
		live = fault_count_live();
		fault_arm(FAULT_ALLOC, ++n, ENOMEM);
		result = call();
		fired = fault_fired();
		fault_disarm();
		if (fired) {
			assert_error(result, error);
			assert_int_equal(fault_count_live(), live);
		}
	} while (fired);
	assert_ok(result);
	assert_int_equal(n - 1, wanted);
}

static void pool_without_memory_is_not_created(void **state)
{
	unsigned int live = fault_count_live();

	pool = NULL;
	assert_each_failure(create_pool, 4, DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_buf_pool_destroy(pool));
	assert_int_equal(fault_count_live(), live);
}

/* The largest number is valid: only its memory is missing. */
static void largest_number_of_bufs_needs_memory(void **state)
{
	struct doca_buf_inventory *large;

	fault_arm(FAULT_ALLOC, 3, ENOMEM);
	assert_error(doca_buf_pool_create(UINT32_MAX, 64, map, &pool), DOCA_ERROR_NO_MEMORY);
	assert_true(fault_fired());
	fault_arm(FAULT_ALLOC, 2, ENOMEM);
	assert_error(doca_buf_inventory_create(UINT32_MAX, &large), DOCA_ERROR_NO_MEMORY);
	assert_true(fault_fired());
	fault_disarm();
	assert_error(doca_buf_pool_create((size_t)UINT32_MAX + 1, 64, map, &pool),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_create((size_t)UINT32_MAX + 1, &large),
		     DOCA_ERROR_INVALID_VALUE);
}

static void expanding_keeps_what_is_free_and_destroying_frees_all(void **state)
{
	unsigned int live = fault_count_live();
	struct doca_buf_inventory *grown;
	uint32_t n = 0;

	assert_ok(doca_buf_inventory_create(2, &grown));
	assert_ok(doca_buf_inventory_start(grown));
	fault_arm(FAULT_ALLOC, 1, ENOMEM);
	assert_error(doca_buf_inventory_expand(grown, UINT32_MAX - 2), DOCA_ERROR_NO_MEMORY);
	assert_true(fault_fired());
	fault_disarm();
	assert_ok(doca_buf_inventory_expand(grown, 3));
	assert_ok(doca_buf_inventory_get_num_free_elements(grown, &n));
	assert_int_equal(n, 5);
	assert_ok(doca_buf_inventory_destroy(grown));
	assert_int_equal(fault_count_live(), live);
}

static void token_needs_memory_until_its_device_is_removed(void **state)
{
	struct doca_mmap *other = new_map();
	unsigned int live;

	fault_arm(FAULT_ALLOC, 1, ENOMEM);
	assert_error(doca_mmap_set_export_access_token(other, dev, memory, 8),
		     DOCA_ERROR_NO_MEMORY);
	assert_true(fault_fired());
	fault_disarm();
	live = fault_count_live();
	assert_ok(doca_mmap_set_export_access_token(other, dev, memory, 8));
	assert_int_equal(fault_count_live(), live + 1);
	assert_ok(doca_mmap_rm_dev(other, dev));
	assert_int_equal(fault_count_live(), live);
	assert_ok(doca_mmap_destroy(other));
}

static void ignore(struct doca_mmap_advise_task_invalidate_cache *task, union doca_data task_data,
		   union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
}

static void advise_context_without_memory_is_neither_created_nor_started(void **state)
{
	unsigned int live = fault_count_live();
	struct doca_pe *pe;

	advise = NULL;
	assert_ok(doca_pe_create(&pe));
	assert_each_failure(create_advise, 1, DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_pe_connect_ctx(pe, doca_mmap_advise_as_ctx(advise)));
	assert_ok(doca_mmap_advise_task_invalidate_cache_set_conf(advise, ignore, ignore, 8));
	assert_each_failure(start_advise, 1, DOCA_ERROR_INITIALIZATION);
	assert_ok(doca_ctx_stop(doca_mmap_advise_as_ctx(advise)));
	assert_ok(start_advise());
	assert_ok(doca_ctx_stop(doca_mmap_advise_as_ctx(advise)));
	assert_ok(doca_mmap_advise_destroy(advise));
	assert_ok(doca_pe_destroy(pe));
	assert_int_equal(fault_count_live(), live);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		bufs_test(pool_without_memory_is_not_created),
		bufs_test(largest_number_of_bufs_needs_memory),
		bufs_test(expanding_keeps_what_is_free_and_destroying_frees_all),
		bufs_test(token_needs_memory_until_its_device_is_removed),
		bufs_test(advise_context_without_memory_is_neither_created_nor_started),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
