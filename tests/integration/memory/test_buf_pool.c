/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Pools of bufs: a test for each rule of doca_buf_pool.h. */
#include <doca_buf_pool.h>

#include "base/array.h"
#include "bufs.h"

#define PIECES 4u
#define SIZE   100u

static struct doca_buf_pool *pool; /* PIECES elements of SIZE bytes of map, started */

static int open_pool(void **state)
{
	if (bufs_open(state) || doca_buf_pool_create(PIECES, SIZE, map, &pool) != DOCA_SUCCESS)
		return -1;
	return doca_buf_pool_start(pool) == DOCA_SUCCESS ? 0 : -1;
}

static int close_pool(void **state)
{
	return doca_buf_pool_destroy(pool) == DOCA_SUCCESS ? bufs_close(state) : -1;
}

#define pool_test(function) cmocka_unit_test_setup_teardown(function, open_pool, close_pool)

static struct doca_buf *take(struct doca_buf_pool *from)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_pool_buf_alloc(from, &buf));
	return buf;
}

static void take_all(struct doca_buf_pool *from, struct doca_buf **bufs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		bufs[i] = take(from);
}

static void put_all(struct doca_buf **bufs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		put_buf(bufs[i]);
}

static uint32_t free_elements(void)
{
	uint32_t n;

	assert_ok(doca_buf_pool_get_num_free_elements(pool, &n));
	return n;
}

static uint8_t *head_of(const struct doca_buf *buf)
{
	void *head;

	assert_ok(doca_buf_get_head(buf, &head));
	return head;
}

static void create_with_bad_values_is_invalid(void **state)
{
	struct doca_buf_pool *created = NULL;

	assert_error(doca_buf_pool_create(1, 1, NULL, &created), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_create(1, 1, map, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_create(0, 1, map, &created), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_create(1, 0, map, &created), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_create((size_t)UINT32_MAX + 1, 1, map, &created),
		     DOCA_ERROR_INVALID_VALUE);
	assert_null(created);
}

static void null_is_invalid(void **state)
{
	union doca_data data = {.u64 = 0};
	struct doca_buf *buf;
	uint32_t n;
	size_t size;

	assert_error(doca_buf_pool_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_buf_alloc(NULL, &buf), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_buf_alloc(pool, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_get_user_data(pool, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_set_element_alignment(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_get_element_alignment(NULL, &size), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_get_element_alignment(pool, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_get_num_elements(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_get_num_elements(pool, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_get_num_free_elements(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_get_num_free_elements(pool, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void allocated_bufs_are_empty_and_cover_every_piece_once(void **state)
{
	struct doca_buf *bufs[PIECES];
	unsigned int seen = 0;

	take_all(pool, bufs, PIECES);
	for (uint32_t i = 0; i < PIECES; i++) {
		size_t offset = (size_t)(head_of(bufs[i]) - memory);

		assert_int_equal(offset % SIZE, 0);
		assert_true(offset / SIZE < PIECES);
		seen |= 1u << (offset / SIZE);
		assert_buf(bufs[i], memory + offset, SIZE, memory + offset, 0);
		assert_int_equal(refcount(bufs[i]), 1);
	}
	assert_int_equal(seen, (1u << PIECES) - 1);
	put_all(bufs, PIECES);
}

static void pool_and_map_count_the_bufs(void **state)
{
	struct doca_buf *bufs[PIECES];
	uint32_t n = 0;

	assert_ok(doca_buf_pool_get_num_elements(pool, &n));
	assert_int_equal(n, PIECES);
	assert_int_equal(free_elements(), PIECES);
	take_all(pool, bufs, 3);
	assert_int_equal(free_elements(), PIECES - 3);
	assert_int_equal(num_bufs(map), 3);
	assert_error(doca_mmap_stop(map), DOCA_ERROR_NOT_PERMITTED);
	put_all(bufs, 3);
	assert_int_equal(free_elements(), PIECES);
	assert_int_equal(num_bufs(map), 0);
	assert_ok(doca_buf_pool_get_num_elements(pool, &n));
	assert_int_equal(n, PIECES);
}

static void alloc_from_an_empty_pool_is_empty(void **state)
{
	struct doca_buf *bufs[PIECES], *extra = NULL;

	take_all(pool, bufs, PIECES);
	assert_error(doca_buf_pool_buf_alloc(pool, &extra), DOCA_ERROR_EMPTY);
	assert_null(extra);
	assert_int_equal(num_bufs(map), PIECES);
	put_buf(bufs[2]);
	bufs[2] = take(pool);
	assert_error(doca_buf_pool_buf_alloc(pool, &extra), DOCA_ERROR_EMPTY);
	put_all(bufs, PIECES);
}

static void last_reference_returns_the_buf(void **state)
{
	struct doca_buf *buf = take(pool), *again;
	uint8_t *head = head_of(buf);
	uint16_t old = 0;

	assert_ok(doca_buf_set_data(buf, head + 5, 20));
	assert_ok(doca_buf_inc_refcount(buf, &old));
	assert_ok(doca_buf_dec_refcount(buf, &old));
	assert_int_equal(free_elements(), PIECES - 1);
	put_buf(buf);
	assert_int_equal(free_elements(), PIECES);
	again = take(pool);
	assert_buf(again, head, SIZE, head, 0);
	put_buf(again);
}

static void moved_buf_frees_its_own_piece(void **state)
{
	struct doca_buf *buf = take(pool), *again;
	uint8_t *head = head_of(buf);

	assert_ok(doca_buf_inventory_buf_reuse_by_data(buf, memory + 3000, 7));
	put_buf(buf);
	again = take(pool);
	assert_buf(again, head, SIZE, head, 0);
	put_buf(again);
}

static void lists_may_mix_pools_and_inventories(void **state)
{
	struct doca_buf *head = get_buf(0, 10), *inner = take(pool), *copy;

	assert_ok(doca_buf_chain_list(head, inner));
	assert_ok(doca_buf_inventory_buf_dup(inventory, head, &copy));
	put_buf(head);
	assert_int_equal(free_elements(), PIECES);
	assert_int_equal(num_free(), BUFS_ELEMENTS - 2);
	put_buf(copy);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
}

static void alloc_from_a_stopped_pool_is_bad_state(void **state)
{
	struct doca_buf_pool *fresh;
	struct doca_buf *buf = NULL;

	assert_ok(doca_buf_pool_create(1, 1, map, &fresh));
	assert_error(doca_buf_pool_buf_alloc(fresh, &buf), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_pool_start(fresh));
	put_buf(take(fresh));
	assert_ok(doca_buf_pool_stop(fresh));
	assert_error(doca_buf_pool_buf_alloc(fresh, &buf), DOCA_ERROR_BAD_STATE);
	assert_null(buf);
	assert_ok(doca_buf_pool_start(fresh));
	put_buf(take(fresh));
	assert_ok(doca_buf_pool_destroy(fresh));
}

static void start_and_stop_twice_change_nothing(void **state)
{
	struct doca_buf *buf = take(pool);

	assert_ok(doca_buf_pool_start(pool));
	assert_int_equal(free_elements(), PIECES - 1);
	put_buf(buf);
	assert_ok(doca_buf_pool_stop(pool));
	assert_ok(doca_buf_pool_stop(pool));
	assert_ok(doca_buf_pool_start(pool));
	put_buf(take(pool));
}

static void start_on_a_map_that_is_not_started_is_bad_state(void **state)
{
	struct doca_mmap *fresh = new_map();
	struct doca_buf_pool *other;

	assert_ok(doca_buf_pool_create(1, 1, fresh, &other));
	assert_error(doca_buf_pool_start(other), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_start(fresh));
	assert_ok(doca_buf_pool_start(other));
	/* It is started already, so the map does not matter. */
	assert_ok(doca_mmap_stop(fresh));
	assert_ok(doca_buf_pool_start(other));
	assert_ok(doca_mmap_start(fresh));
	assert_ok(doca_buf_pool_stop(other));
	assert_ok(doca_mmap_stop(fresh));
	assert_error(doca_buf_pool_start(other), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_pool_destroy(other));
	assert_ok(doca_mmap_destroy(fresh));
}

static doca_error_t start_pool_of(const struct doca_mmap *on, size_t num, size_t size,
				  size_t alignment)
{
	struct doca_buf_pool *other;
	doca_error_t result;

	assert_ok(doca_buf_pool_create(num, size, on, &other));
	assert_ok(doca_buf_pool_set_element_alignment(other, alignment));
	result = doca_buf_pool_start(other);
	assert_ok(doca_buf_pool_destroy(other));
	return result;
}

/* A map that begins one byte behind an address that is aligned to 64. */
static struct doca_mmap *odd_map(size_t len)
{
	static uint8_t bytes[2048] __attribute__((aligned(64)));
	struct doca_mmap *created;

	assert_ok(doca_mmap_create(&created));
	assert_ok(doca_mmap_set_memrange(created, bytes + 1, len));
	assert_ok(doca_mmap_add_dev(created, dev));
	assert_ok(doca_mmap_start(created));
	return created;
}

static void start_with_a_range_that_is_too_small_is_initialization(void **state)
{
	static const struct {
		size_t num, size, alignment;
		doca_error_t wanted;
	} cases[] = {
		{1, 1000, 1, DOCA_SUCCESS},
		{1, 1001, 1, DOCA_ERROR_INITIALIZATION},
		{10, 100, 1, DOCA_SUCCESS},
		{11, 100, 1, DOCA_ERROR_INITIALIZATION},
		/* 63 bytes before the first piece, 64 for each but the last, 1 for the last */
		{15, 1, 64, DOCA_SUCCESS},
		{16, 1, 64, DOCA_ERROR_INITIALIZATION},
		{1, 937, 64, DOCA_SUCCESS},
		{1, 938, 64, DOCA_ERROR_INITIALIZATION},
		{2, SIZE_MAX, 1, DOCA_ERROR_INITIALIZATION},
		{1, SIZE_MAX, 2, DOCA_ERROR_INITIALIZATION},
		{3, SIZE_MAX / 2 + 1, 1, DOCA_ERROR_INITIALIZATION},
		{1, 1, (size_t)1 << 63, DOCA_ERROR_INITIALIZATION},
	};
	struct doca_mmap *odd = odd_map(1000);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_error(start_pool_of(odd, cases[i].num, cases[i].size, cases[i].alignment),
			     cases[i].wanted);
	assert_ok(doca_mmap_destroy(odd));
}

static void pieces_are_aligned_and_do_not_overlap(void **state)
{
	struct doca_mmap *odd = odd_map(1000);
	struct doca_buf_pool *aligned;
	struct doca_buf *bufs[3];
	unsigned int seen = 0;
	void *begin;
	size_t len;

	assert_ok(doca_mmap_get_memrange(odd, &begin, &len));
	assert_ok(doca_buf_pool_create(3, 65, odd, &aligned));
	assert_ok(doca_buf_pool_set_element_alignment(aligned, 64));
	assert_ok(doca_buf_pool_start(aligned));
	take_all(aligned, bufs, 3);
	for (uint32_t i = 0; i < 3; i++) {
		size_t offset = (size_t)(head_of(bufs[i]) - (uint8_t *)begin) - 63;

		assert_buf(bufs[i], head_of(bufs[i]), 65, head_of(bufs[i]), 0);
		assert_int_equal((uintptr_t)head_of(bufs[i]) % 64, 0);
		assert_int_equal(offset % 128, 0);
		seen |= 1u << (offset / 128);
	}
	assert_int_equal(seen, 7);
	put_all(bufs, 3);
	assert_ok(doca_buf_pool_destroy(aligned));
	assert_ok(doca_mmap_destroy(odd));
}

static void alignment_is_1_and_must_be_a_power_of_two(void **state)
{
	size_t alignment = 0;

	assert_ok(doca_buf_pool_get_element_alignment(pool, &alignment));
	assert_int_equal(alignment, 1);
	assert_ok(doca_buf_pool_stop(pool));
	assert_error(doca_buf_pool_set_element_alignment(pool, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_set_element_alignment(pool, 3), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_pool_set_element_alignment(pool, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_buf_pool_set_element_alignment(pool, 128));
	assert_ok(doca_buf_pool_get_element_alignment(pool, &alignment));
	assert_int_equal(alignment, 128);
}

static void user_data_is_0_unless_set(void **state)
{
	union doca_data data = {.u64 = 1};

	assert_ok(doca_buf_pool_get_user_data(pool, &data));
	assert_int_equal(data.u64, 0);
	assert_ok(doca_buf_pool_stop(pool));
	assert_ok(doca_buf_pool_set_user_data(pool, (union doca_data){.u64 = 0x0123456789abcdef}));
	assert_ok(doca_buf_pool_start(pool));
	assert_ok(doca_buf_pool_get_user_data(pool, &data));
	assert_int_equal(data.u64, 0x0123456789abcdef);
}

static void setters_on_a_started_pool_are_bad_state(void **state)
{
	assert_error(doca_buf_pool_set_user_data(pool, (union doca_data){.u64 = 1}),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_buf_pool_set_element_alignment(pool, 2), DOCA_ERROR_BAD_STATE);
	assert_error(doca_buf_pool_set_element_alignment(pool, 3), DOCA_ERROR_BAD_STATE);
}

static void stop_and_destroy_with_bufs_out_are_in_use(void **state)
{
	struct doca_buf *buf = take(pool);

	assert_error(doca_buf_pool_stop(pool), DOCA_ERROR_IN_USE);
	assert_error(doca_buf_pool_destroy(pool), DOCA_ERROR_IN_USE);
	put_buf(take(pool));
	put_buf(buf);
	assert_ok(doca_buf_pool_stop(pool));
}

static void destroy_stops_first(void **state)
{
	struct doca_buf_pool *other;

	assert_ok(doca_buf_pool_create(1, 1, map, &other));
	assert_ok(doca_buf_pool_destroy(other));
	assert_ok(doca_buf_pool_create(1, 1, map, &other));
	assert_ok(doca_buf_pool_start(other));
	assert_ok(doca_buf_pool_destroy(other));
}

static void pool_may_divide_an_imported_map(void **state)
{
	struct doca_mmap *imported = imported_map();
	struct doca_buf_pool *other;
	struct doca_buf *buf;

	assert_ok(doca_buf_pool_create(1, sizeof(memory), imported, &other));
	assert_ok(doca_buf_pool_start(other));
	buf = take(other);
	assert_buf(buf, memory, sizeof(memory), memory, 0);
	assert_int_equal(num_bufs(imported), 1);
	put_buf(buf);
	assert_ok(doca_buf_pool_destroy(other));
	assert_ok(doca_mmap_destroy(imported));
}

static void alloc_after_the_map_was_stopped_is_bad_state(void **state)
{
	struct doca_buf *buf = NULL;

	assert_ok(doca_mmap_stop(map));
	assert_error(doca_buf_pool_buf_alloc(pool, &buf), DOCA_ERROR_BAD_STATE);
	assert_null(buf);
	assert_int_equal(free_elements(), PIECES);
	assert_int_equal(num_bufs(map), 0);
	assert_ok(doca_mmap_start(map));
	put_buf(take(pool));
}

static void with_thread_safety_the_map_does_not_count_bufs(void **state)
{
	struct doca_mmap *shared = new_map();
	struct doca_buf_pool *other;
	struct doca_buf *buf;

	assert_ok(doca_mmap_enable_thread_safety(shared));
	assert_ok(doca_mmap_start(shared));
	assert_ok(doca_buf_pool_create(1, 1, shared, &other));
	assert_ok(doca_buf_pool_start(other));
	buf = take(other);
	assert_int_equal(num_bufs(shared), 0);
	put_buf(buf);
	assert_int_equal(num_bufs(shared), 0);
	assert_ok(doca_buf_pool_destroy(other));
	assert_ok(doca_mmap_destroy(shared));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		pool_test(create_with_bad_values_is_invalid),
		pool_test(null_is_invalid),
		pool_test(allocated_bufs_are_empty_and_cover_every_piece_once),
		pool_test(pool_and_map_count_the_bufs),
		pool_test(alloc_from_an_empty_pool_is_empty),
		pool_test(last_reference_returns_the_buf),
		pool_test(moved_buf_frees_its_own_piece),
		pool_test(lists_may_mix_pools_and_inventories),
		pool_test(alloc_from_a_stopped_pool_is_bad_state),
		pool_test(start_and_stop_twice_change_nothing),
		pool_test(start_on_a_map_that_is_not_started_is_bad_state),
		pool_test(start_with_a_range_that_is_too_small_is_initialization),
		pool_test(pieces_are_aligned_and_do_not_overlap),
		pool_test(alignment_is_1_and_must_be_a_power_of_two),
		pool_test(user_data_is_0_unless_set),
		pool_test(setters_on_a_started_pool_are_bad_state),
		pool_test(stop_and_destroy_with_bufs_out_are_in_use),
		pool_test(destroy_stops_first),
		pool_test(pool_may_divide_an_imported_map),
		pool_test(alloc_after_the_map_was_stopped_is_bad_state),
		pool_test(with_thread_safety_the_map_does_not_count_bufs),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
