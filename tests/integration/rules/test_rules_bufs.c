/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Maps that bufs point into, and thread safety, which does not count them. */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <pthread.h>

#include "base/array.h"
#include "rules.h"

#define ELEMENTS 64
#define THREADS	 4
#define ROUNDS	 200

static struct doca_buf_inventory *inventory;

static int open_inventory(void **state)
{
	if (rules_open(state) || doca_buf_inventory_create(ELEMENTS, &inventory) != DOCA_SUCCESS)
		return -1;
	return doca_buf_inventory_start(inventory) == DOCA_SUCCESS ? 0 : -1;
}

static int close_inventory(void **state)
{
	if (doca_buf_inventory_destroy(inventory) != DOCA_SUCCESS)
		return -1;
	return rules_close(state);
}

static struct doca_buf *take(struct doca_mmap *mmap)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, mmap, rules.memory, 64, &buf));
	return buf;
}

static void give(struct doca_buf *buf)
{
	assert_ok(doca_buf_dec_refcount(buf, NULL));
}

static struct doca_mmap *started_thread_safe(void)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_ok(doca_mmap_enable_thread_safety(mmap));
	assert_ok(doca_mmap_start(mmap));
	return mmap;
}

/* rule: M-BUF-1 */
static void bufs_outside_the_range_are_invalid(void **state)
{
	struct doca_mmap *mmaps[] = {rules_map(STARTED), rules_map(IMPORTED)};
	uint8_t *end = rules.memory + RULES_LEN;
	struct doca_buf *buf = NULL;

	for (size_t i = 0; i < 2; i++) {
		assert_error(
			doca_buf_inventory_buf_get_by_addr(inventory, mmaps[i], end - 7, 8, &buf),
			DOCA_ERROR_INVALID_VALUE);
		assert_error(doca_buf_inventory_buf_get_by_data(inventory, mmaps[i], end, 1, &buf),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(doca_buf_inventory_buf_get_by_args(inventory, mmaps[i],
								rules.memory - 1, 8, rules.memory,
								1, &buf),
			     DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(rules_count_bufs(mmaps[i]), 0);
	}
	assert_null(buf);
}

/* rule: M-DES-2, T-2.3-any-destroy-bufs */
static void destroy_with_bufs_is_not_permitted(void **state)
{
	static const enum rules_state states[] = {STARTED, EXPORTED, IMPORTED};

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		struct doca_mmap *mmap = rules_map(states[i]);
		struct doca_buf *buf = take(mmap);

		assert_error(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
		assert_int_equal(rules_count_bufs(mmap), 1);
		give(take(mmap));
		give(buf);
		rules_destroy(mmap);
	}
}

/* rule: M-DES-4, T-2.3-any-destroy-bufs-thread-safe */
static void destroy_with_bufs_succeeds_under_thread_safety(void **state)
{
	struct doca_mmap *mmap = started_thread_safe();
	struct doca_buf *buf = take(mmap);

	rules_destroy(mmap);
	give(buf);
}

static unsigned int frees;

static void count_free(void *addr, size_t len, void *cookie)
{
	frees++;
}

/* rule: M-DES-9 */
static void failed_destroy_calls_no_callback(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);
	struct doca_buf *buf;

	frees = 0;
	assert_ok(doca_mmap_set_free_cb(mmap, count_free, NULL));
	assert_ok(doca_mmap_start(mmap));
	buf = take(mmap);
	assert_error(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(frees, 0);
	give(buf);
	rules_destroy(mmap);
	assert_int_equal(frees, 1);
}

/* rule: M-STO-2, T-2.3-STARTED-stop-bufs */
static void stop_with_bufs_is_not_permitted(void **state)
{
	struct doca_mmap *mmap = rules_map(STARTED);
	struct doca_buf *buf = take(mmap);

	assert_error(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	rules_export(mmap);
	assert_error(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	rules_import(rules_export(mmap));
	give(buf);
	assert_ok(doca_mmap_stop(mmap));
}

/* rule: M-GET-1 */
static void bufs_of_all_inventories_are_counted(void **state)
{
	struct doca_mmap *mmap = rules_map(STARTED);
	struct doca_buf_inventory *other;
	struct doca_buf *bufs[3];

	assert_ok(doca_buf_inventory_create(1, &other));
	assert_ok(doca_buf_inventory_start(other));
	assert_int_equal(rules_count_bufs(mmap), 0);
	bufs[0] = take(mmap);
	bufs[1] = take(mmap);
	assert_ok(doca_buf_inventory_buf_get_by_addr(other, mmap, rules.memory, 1, &bufs[2]));
	assert_int_equal(rules_count_bufs(mmap), 3);
	assert_int_equal(rules_count_bufs(rules_map(STARTED)), 0);
	for (int i = 0; i < 3; i++)
		give(bufs[i]);
	assert_int_equal(rules_count_bufs(mmap), 0);
	assert_ok(doca_buf_inventory_destroy(other));
}

/* rule: M-GET-2, M-THR-4 */
static void bufs_are_not_counted_under_thread_safety(void **state)
{
	struct doca_mmap *mmap = started_thread_safe();
	struct doca_buf *buf = take(mmap);

	assert_int_equal(rules_count_bufs(mmap), 0);
	assert_ok(doca_mmap_stop(mmap));
	give(buf);
	assert_int_equal(rules_count_bufs(mmap), 0);
}

/* rule: M-THR-1 */
static void thread_safety_of_null_is_invalid(void **state)
{
	assert_error(doca_mmap_enable_thread_safety(NULL), DOCA_ERROR_INVALID_VALUE);
}

/* rule: M-THR-2 */
static void thread_safety_with_bufs_is_not_permitted(void **state)
{
	struct doca_mmap *mmap = rules_map(IMPORTED);
	struct doca_buf *buf = take(mmap);

	assert_error(doca_mmap_enable_thread_safety(mmap), DOCA_ERROR_NOT_PERMITTED);
	give(buf);
	assert_ok(doca_mmap_enable_thread_safety(mmap));
}

/* rule: M-THR-6 */
static void thread_safe_import_still_gives_bufs(void **state)
{
	struct doca_mmap *mmap = rules_map(IMPORTED);

	assert_ok(doca_mmap_enable_thread_safety(mmap));
	rules_check_bufs(inventory, mmap, DOCA_SUCCESS);
}

/* rule: M-THR-5 */
static void thread_safety_lasts(void **state)
{
	struct doca_mmap *mmap = started_thread_safe();
	struct doca_buf *buf;

	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_enable_thread_safety(mmap));
	assert_ok(doca_mmap_start(mmap));
	buf = take(mmap);
	assert_int_equal(rules_count_bufs(mmap), 0);
	give(buf);
}

/* An inventory belongs to one thread, whatever the map allows. */
static doca_error_t get_and_put(struct doca_mmap *mmap)
{
	struct doca_buf_inventory *own;
	struct doca_buf *buf;
	doca_error_t result, end;

	result = doca_buf_inventory_create(1, &own);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_buf_inventory_start(own);
	for (int i = 0; i < ROUNDS && result == DOCA_SUCCESS; i++) {
		result = doca_buf_inventory_buf_get_by_addr(own, mmap, rules.memory, 64, &buf);
		if (result == DOCA_SUCCESS)
			result = doca_buf_dec_refcount(buf, NULL);
	}
	end = doca_buf_inventory_destroy(own);
	return result == DOCA_SUCCESS ? end : result;
}

static doca_error_t get_map(struct doca_mmap *mmap)
{
	doca_error_t result = DOCA_SUCCESS;

	for (int i = 0; i < ROUNDS && result == DOCA_SUCCESS; i++) {
		doca_dpa_dev_mmap_t handle;
		struct rules_blob blob;
		uint8_t exported;

		result = doca_mmap_export_pci(mmap, rules.fixture.dev, &blob.bytes, &blob.len);
		DOCA_ERROR_PROPAGATE(
			result, doca_mmap_dev_get_dpa_handle(mmap, rules.fixture.dev, &handle));
		DOCA_ERROR_PROPAGATE(result, doca_mmap_get_exported(mmap, &exported));
	}
	return result;
}

struct user {
	pthread_t thread;
	struct doca_mmap *mmap;
	doca_error_t result;
};

static void *use_map(void *arg)
{
	struct user *user = arg;

	user->result = get_and_put(user->mmap);
	DOCA_ERROR_PROPAGATE(user->result, get_map(user->mmap));
	return NULL;
}

/* rule: M-THR-3 */
static void thread_safe_map_serves_several_threads(void **state)
{
	struct doca_mmap *mmap = started_thread_safe();
	struct user users[THREADS];

	for (int i = 0; i < THREADS; i++) {
		users[i].mmap = mmap;
		assert_int_equal(pthread_create(&users[i].thread, NULL, use_map, &users[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(users[i].thread, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		assert_ok(users[i].result);
}

#define buf_test(function) \
	cmocka_unit_test_setup_teardown(function, open_inventory, close_inventory)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		buf_test(bufs_outside_the_range_are_invalid),
		buf_test(destroy_with_bufs_is_not_permitted),
		buf_test(destroy_with_bufs_succeeds_under_thread_safety),
		buf_test(failed_destroy_calls_no_callback),
		buf_test(stop_with_bufs_is_not_permitted),
		buf_test(bufs_of_all_inventories_are_counted),
		buf_test(bufs_are_not_counted_under_thread_safety),
		buf_test(thread_safety_of_null_is_invalid),
		buf_test(thread_safety_with_bufs_is_not_permitted),
		buf_test(thread_safe_import_still_gives_bufs),
		buf_test(thread_safety_lasts),
		buf_test(thread_safe_map_serves_several_threads),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
