/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Inventories and single bufs: a test for each rule of doca_buf.h and doca_buf_inventory.h. */
#include <string.h>

#include "base/array.h"
#include "bufs.h"

static void invalid_inventories_are_refused(void **state)
{
	struct doca_buf_inventory *created = NULL;

	assert_error(doca_buf_inventory_create(1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_create(0, &created), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_create((size_t)UINT32_MAX + 1, &created),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_create(SIZE_MAX, &created), DOCA_ERROR_INVALID_VALUE);
	assert_null(created);
	assert_error(doca_buf_inventory_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void inventory_counts_its_elements(void **state)
{
	struct doca_buf *buf;
	uint32_t n = 0;

	assert_ok(doca_buf_inventory_get_num_elements(inventory, &n));
	assert_int_equal(n, BUFS_ELEMENTS);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
	buf = get_buf(0, 16);
	assert_ok(doca_buf_inventory_get_num_elements(inventory, &n));
	assert_int_equal(n, BUFS_ELEMENTS);
	assert_int_equal(num_free(), BUFS_ELEMENTS - 1);
	put_buf(buf);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
	assert_error(doca_buf_inventory_get_num_elements(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_get_num_elements(inventory, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_get_num_free_elements(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_get_num_free_elements(inventory, NULL),
		     DOCA_ERROR_INVALID_VALUE);
}

static void get_from_an_inventory_that_is_not_started_is_bad_state(void **state)
{
	struct doca_buf_inventory *idle;
	struct doca_buf *src = get_buf(0, 16), *buf = NULL;

	assert_ok(doca_buf_inventory_create(2, &idle));
	for (int started_once = 0; started_once < 2; started_once++) {
		assert_error(
			doca_buf_inventory_buf_get_by_args(idle, map, memory, 1, memory, 1, &buf),
			DOCA_ERROR_BAD_STATE);
		assert_error(doca_buf_inventory_buf_get_by_addr(idle, map, memory, 1, &buf),
			     DOCA_ERROR_BAD_STATE);
		assert_error(doca_buf_inventory_buf_get_by_data(idle, map, memory, 1, &buf),
			     DOCA_ERROR_BAD_STATE);
		assert_error(doca_buf_inventory_buf_dup(idle, src, &buf), DOCA_ERROR_BAD_STATE);
		assert_null(buf);
		assert_ok(doca_buf_inventory_start(idle));
		assert_ok(doca_buf_inventory_stop(idle));
	}
	assert_int_equal(num_bufs(map), 1);
	assert_ok(doca_buf_inventory_destroy(idle));
	put_buf(src);
}

static void bufs_that_are_out_survive_stop(void **state)
{
	struct doca_buf *buf = get_buf(16, 32);
	void *head = NULL;

	assert_ok(doca_buf_inventory_stop(inventory));
	assert_ok(doca_buf_get_head(buf, &head));
	assert_ptr_equal(head, memory + 16);
	put_buf(buf);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
}

static void start_and_stop_twice_change_nothing(void **state)
{
	assert_ok(doca_buf_inventory_start(inventory));
	put_buf(get_buf(0, 1));
	assert_ok(doca_buf_inventory_stop(inventory));
	assert_ok(doca_buf_inventory_stop(inventory));
	assert_ok(doca_buf_inventory_start(inventory));
	put_buf(get_buf(0, 1));
}

static void destroy_with_bufs_out_is_in_use(void **state)
{
	struct doca_buf_inventory *other;
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_create(1, &other));
	assert_ok(doca_buf_inventory_start(other));
	assert_ok(doca_buf_inventory_buf_get_by_addr(other, map, memory, 1, &buf));
	assert_error(doca_buf_inventory_destroy(other), DOCA_ERROR_IN_USE);
	assert_ok(doca_buf_inventory_stop(other));
	assert_error(doca_buf_inventory_buf_get_by_addr(other, map, memory, 1, &buf),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_buf_inventory_destroy(other), DOCA_ERROR_IN_USE);
	put_buf(buf);
	assert_ok(doca_buf_inventory_destroy(other));
}

static void destroy_stops_first(void **state)
{
	struct doca_buf_inventory *other;

	assert_ok(doca_buf_inventory_create(1, &other));
	assert_ok(doca_buf_inventory_destroy(other));
	assert_ok(doca_buf_inventory_create(1, &other));
	assert_ok(doca_buf_inventory_start(other));
	assert_ok(doca_buf_inventory_destroy(other));
}

static void get_from_an_empty_inventory_is_no_memory(void **state)
{
	struct doca_buf *bufs[BUFS_ELEMENTS], *extra = NULL;

	for (size_t i = 0; i < BUFS_ELEMENTS; i++)
		bufs[i] = get_buf(i, 1);
	assert_int_equal(num_free(), 0);
	assert_error(doca_buf_inventory_buf_get_by_addr(inventory, map, memory, 1, &extra),
		     DOCA_ERROR_NO_MEMORY);
	assert_error(doca_buf_inventory_buf_get_by_data(inventory, map, memory, 1, &extra),
		     DOCA_ERROR_NO_MEMORY);
	assert_error(doca_buf_inventory_buf_dup(inventory, bufs[0], &extra), DOCA_ERROR_NO_MEMORY);
	assert_null(extra);
	assert_int_equal(num_bufs(map), BUFS_ELEMENTS);
	/* A wrong address is not DOCA_ERROR_AGAIN: waiting would not help. */
	assert_error(doca_buf_inventory_buf_get_by_addr(inventory, map, memory - 1, 1, &extra),
		     DOCA_ERROR_INVALID_VALUE);
	put_buf(bufs[3]);
	bufs[3] = get_buf(0, 1);
	for (size_t i = 0; i < BUFS_ELEMENTS; i++)
		put_buf(bufs[i]);
}

static void expand_adds_elements(void **state)
{
	struct doca_buf *bufs[BUFS_ELEMENTS + 100];
	uint32_t n = 0;
	void *head;

	for (size_t i = 0; i < BUFS_ELEMENTS; i++)
		bufs[i] = get_buf(i, 1);
	assert_ok(doca_buf_inventory_expand(inventory, 100));
	assert_ok(doca_buf_inventory_get_num_elements(inventory, &n));
	assert_int_equal(n, BUFS_ELEMENTS + 100);
	assert_int_equal(num_free(), 100);
	for (size_t i = BUFS_ELEMENTS; i < n; i++)
		bufs[i] = get_buf(i, 1);
	for (size_t i = 0; i < n; i++) {
		assert_ok(doca_buf_get_head(bufs[i], &head));
		assert_ptr_equal(head, memory + i);
		put_buf(bufs[i]);
	}
	assert_int_equal(num_free(), n);
}

static void invalid_expansions_are_refused(void **state)
{
	uint32_t n = 0;

	assert_error(doca_buf_inventory_expand(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_expand(inventory, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_expand(inventory, UINT32_MAX - BUFS_ELEMENTS + 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_buf_inventory_get_num_elements(inventory, &n));
	assert_int_equal(n, BUFS_ELEMENTS);
}

static void expand_of_an_inventory_that_is_not_started_is_bad_state(void **state)
{
	assert_ok(doca_buf_inventory_stop(inventory));
	assert_error(doca_buf_inventory_expand(inventory, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
}

static void user_data_is_0_unless_set(void **state)
{
	union doca_data data = {.u64 = 1};

	assert_ok(doca_buf_inventory_get_user_data(inventory, &data));
	assert_int_equal(data.u64, 0);
	assert_error(doca_buf_inventory_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_get_user_data(inventory, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void user_data_is_fixed_by_the_first_start(void **state)
{
	union doca_data data = {.u64 = 0x0123456789abcdef}, other = {.u64 = 5};
	struct doca_buf_inventory *fresh;

	assert_error(doca_buf_inventory_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_buf_inventory_create(1, &fresh));
	assert_ok(doca_buf_inventory_set_user_data(fresh, other));
	assert_ok(doca_buf_inventory_set_user_data(fresh, data));
	assert_ok(doca_buf_inventory_start(fresh));
	assert_error(doca_buf_inventory_set_user_data(fresh, other), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_inventory_stop(fresh));
	assert_error(doca_buf_inventory_set_user_data(fresh, other), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_inventory_get_user_data(fresh, &other));
	assert_int_equal(other.u64, data.u64);
	assert_ok(doca_buf_inventory_destroy(fresh));
}

static void get_by_addr_is_an_empty_buf(void **state)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, map, memory + 3, 700, &buf));
	assert_buf(buf, memory + 3, 700, memory + 3, 0);
	assert_int_equal(refcount(buf), 1);
	put_buf(buf);
}

static void get_by_data_is_a_full_buf(void **state)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_data(inventory, map, memory + 3, 700, &buf));
	assert_buf(buf, memory + 3, 700, memory + 3, 700);
	assert_int_equal(refcount(buf), 1);
	put_buf(buf);
}

static void get_by_args_has_headroom_and_tail(void **state)
{
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_args(inventory, map, memory, 100, memory + 10, 80,
						     &buf));
	assert_buf(buf, memory, 100, memory + 10, 80);
	put_buf(buf);
	assert_ok(doca_buf_inventory_buf_get_by_args(inventory, map, memory, 100, memory + 100, 0,
						     &buf));
	assert_buf(buf, memory, 100, memory + 100, 0);
	put_buf(buf);
}

static void get_needs_inventory_map_and_output(void **state)
{
	struct doca_buf *buf = NULL;

	assert_error(doca_buf_inventory_buf_get_by_args(NULL, map, memory, 1, memory, 1, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(
		doca_buf_inventory_buf_get_by_args(inventory, NULL, memory, 1, memory, 1, &buf),
		DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_buf_get_by_args(inventory, map, memory, 1, memory, 1, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_null(buf);
	assert_int_equal(num_bufs(map), 0);
}

static void get_outside_the_range_is_invalid(void **state)
{
	static const struct {
		size_t offset, len;
	} cases[] = {
		{(size_t)-1, 1},
		{(size_t)-1, 2},
		{(size_t)-1, sizeof(memory) + 2},
		{0, sizeof(memory) + 1},
		{sizeof(memory), 1},
		{sizeof(memory) - 1, 2},
		{1, sizeof(memory)},
		{0, SIZE_MAX},
		{1, SIZE_MAX},
		{sizeof(memory) - 1, SIZE_MAX},
	};
	struct doca_buf *buf = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t *addr = (uint8_t *)((uintptr_t)memory + cases[i].offset);

		assert_error(doca_buf_inventory_buf_get_by_args(inventory, map, addr, cases[i].len,
								addr, 0, &buf),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(doca_buf_inventory_buf_get_by_addr(inventory, map, addr, cases[i].len,
								&buf),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(doca_buf_inventory_buf_get_by_data(inventory, map, addr, cases[i].len,
								&buf),
			     DOCA_ERROR_INVALID_VALUE);
	}
	assert_error(doca_buf_inventory_buf_get_by_addr(inventory, map, NULL, 1, &buf),
		     DOCA_ERROR_INVALID_VALUE);
	assert_null(buf);
	assert_int_equal(num_bufs(map), 0);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
}

static void get_takes_the_whole_range_its_last_byte_and_nothing(void **state)
{
	struct doca_buf *whole = get_buf(0, sizeof(memory)), *last = get_buf(sizeof(memory) - 1, 1);

	put_buf(whole);
	put_buf(last);
	put_buf(get_buf(0, 0));
	put_buf(get_buf(sizeof(memory), 0));
}

static void get_with_data_outside_the_buf_is_invalid(void **state)
{
	uint8_t *head = memory + 100;
	static const struct {
		size_t offset, len;
	} cases[] = {
		{(size_t)-1, 1}, {(size_t)-1, 2}, {0, 51}, {50, 1}, {51, 0}, {49, 2}, {1, SIZE_MAX},
	};
	struct doca_buf *buf = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_error(doca_buf_inventory_buf_get_by_args(
				     inventory, map, head, 50,
				     (void *)((uintptr_t)head + cases[i].offset), cases[i].len,
				     &buf),
			     DOCA_ERROR_INVALID_VALUE);
	assert_null(buf);
	assert_int_equal(num_bufs(map), 0);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
}

static void get_on_a_map_that_is_not_started_is_bad_state(void **state)
{
	struct doca_mmap *fresh = new_map();
	struct doca_buf *buf = NULL;

	for (int started_once = 0; started_once < 2; started_once++) {
		assert_error(doca_buf_inventory_buf_get_by_addr(inventory, fresh, memory, 1, &buf),
			     DOCA_ERROR_BAD_STATE);
		assert_error(doca_buf_inventory_buf_get_by_data(inventory, fresh, memory, 1, &buf),
			     DOCA_ERROR_BAD_STATE);
		assert_ok(doca_mmap_start(fresh));
		assert_ok(doca_mmap_stop(fresh));
	}
	assert_null(buf);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
	assert_ok(doca_mmap_destroy(fresh));
}

static void set_data_moves_the_data_within_the_buf(void **state)
{
	struct doca_buf *buf = get_buf(100, 50);
	uint8_t *head = memory + 100;

	assert_ok(doca_buf_set_data(buf, head + 20, 30));
	assert_buf(buf, head, 50, head + 20, 30);
	assert_ok(doca_buf_set_data(buf, head, 50));
	assert_buf(buf, head, 50, head, 50);
	assert_ok(doca_buf_set_data(buf, head + 50, 0));
	assert_buf(buf, head, 50, head + 50, 0);
	put_buf(buf);
}

static void set_data_outside_the_buf_is_invalid(void **state)
{
	struct doca_buf *buf = get_buf(100, 50);
	uint8_t *head = memory + 100;

	assert_ok(doca_buf_set_data(buf, head + 20, 10));
	assert_error(doca_buf_set_data(buf, head - 1, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_set_data(buf, head, 51), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_set_data(buf, head + 50, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_set_data(buf, head + 51, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_set_data(buf, head + 1, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_set_data(buf, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_set_data(NULL, head, 0), DOCA_ERROR_INVALID_VALUE);
	assert_buf(buf, head, 50, head + 20, 10);
	put_buf(buf);
}

static void set_data_len_keeps_the_data_pointer(void **state)
{
	struct doca_buf *buf = get_buf(100, 50);
	uint8_t *head = memory + 100;

	assert_ok(doca_buf_set_data(buf, head + 20, 10));
	assert_ok(doca_buf_set_data_len(buf, 30));
	assert_buf(buf, head, 50, head + 20, 30);
	assert_error(doca_buf_set_data_len(buf, 31), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_set_data_len(buf, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_set_data_len(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_buf(buf, head, 50, head + 20, 30);
	assert_ok(doca_buf_set_data_len(buf, 0));
	assert_buf(buf, head, 50, head + 20, 0);
	put_buf(buf);
}

static void reset_data_len_keeps_the_data_pointer(void **state)
{
	struct doca_buf *buf = get_buf(100, 50);
	uint8_t *head = memory + 100;

	assert_ok(doca_buf_set_data(buf, head + 20, 10));
	assert_ok(doca_buf_reset_data_len(buf));
	assert_buf(buf, head, 50, head + 20, 0);
	assert_error(doca_buf_reset_data_len(NULL), DOCA_ERROR_INVALID_VALUE);
	put_buf(buf);
}

static void getters_need_their_arguments(void **state)
{
	struct doca_buf *buf = get_buf(0, 1);
	uint16_t count;
	void *addr;
	size_t len;

	assert_error(doca_buf_get_head(NULL, &addr), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_head(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_len(NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_len(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_data(NULL, &addr), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_data(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_data_len(NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_data_len(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_refcount(NULL, &count), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_refcount(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inc_refcount(NULL, &count), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inc_refcount(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_dec_refcount(NULL, &count), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(refcount(buf), 1);
	put_buf(buf);
}

static void refcounts_return_the_old_value(void **state)
{
	struct doca_buf *buf = get_buf(0, 1);
	uint16_t old = 0;

	assert_ok(doca_buf_inc_refcount(buf, &old));
	assert_int_equal(old, 1);
	assert_ok(doca_buf_inc_refcount(buf, &old));
	assert_int_equal(old, 2);
	assert_int_equal(refcount(buf), 3);
	assert_ok(doca_buf_dec_refcount(buf, &old));
	assert_int_equal(old, 3);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_int_equal(refcount(buf), 1);
	assert_int_equal(num_free(), BUFS_ELEMENTS - 1);
	assert_int_equal(num_bufs(map), 1);
	assert_ok(doca_buf_dec_refcount(buf, &old));
	assert_int_equal(old, 1);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
	assert_int_equal(num_bufs(map), 0);
}

static void the_65536th_reference_is_too_big(void **state)
{
	struct doca_buf *buf = get_buf(0, 1);
	uint16_t old = 0;

	for (unsigned int i = 1; i < UINT16_MAX; i++)
		assert_ok(doca_buf_inc_refcount(buf, &old));
	assert_int_equal(refcount(buf), UINT16_MAX);
	old = 7;
	assert_error(doca_buf_inc_refcount(buf, &old), DOCA_ERROR_TOO_BIG);
	assert_int_equal(old, 7);
	assert_int_equal(refcount(buf), UINT16_MAX);
	for (unsigned int i = 1; i < UINT16_MAX; i++)
		assert_ok(doca_buf_dec_refcount(buf, NULL));
	put_buf(buf);
}

static void a_buf_given_back_is_bad_state(void **state)
{
	struct doca_buf *buf = get_buf(0, 1), *other = get_buf(1, 1), *dup = NULL;
	uint16_t old = 7;

	put_buf(buf);
	assert_error(doca_buf_dec_refcount(buf, &old), DOCA_ERROR_BAD_STATE);
	assert_error(doca_buf_inc_refcount(buf, &old), DOCA_ERROR_BAD_STATE);
	assert_error(doca_buf_inventory_buf_dup(inventory, buf, &dup), DOCA_ERROR_BAD_STATE);
	assert_error(doca_buf_chain_list(buf, other), DOCA_ERROR_BAD_STATE);
	assert_error(doca_buf_chain_list(other, buf), DOCA_ERROR_BAD_STATE);
	assert_int_equal(old, 7);
	assert_null(dup);
	assert_int_equal(num_free(), BUFS_ELEMENTS - 1);
	assert_int_equal(num_bufs(map), 1);
	put_buf(other);
}

static void the_map_counts_its_bufs_of_all_inventories(void **state)
{
	struct doca_buf_inventory *other;
	struct doca_buf *buf = get_buf(0, 1), *more;

	assert_ok(doca_buf_inventory_create(1, &other));
	assert_ok(doca_buf_inventory_start(other));
	assert_ok(doca_buf_inventory_buf_dup(other, buf, &more));
	assert_int_equal(num_bufs(map), 2);
	put_buf(buf);
	assert_int_equal(num_bufs(map), 1);
	put_buf(more);
	assert_int_equal(num_bufs(map), 0);
	assert_ok(doca_buf_inventory_destroy(other));
}

static void stop_and_destroy_of_a_map_with_bufs_are_not_permitted(void **state)
{
	struct doca_mmap *held = new_map();
	struct doca_buf *buf;

	assert_ok(doca_mmap_start(held));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, held, memory, 1, &buf));
	assert_error(doca_mmap_stop(held), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_destroy(held), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(num_bufs(held), 1);
	put_buf(buf);
	assert_ok(doca_mmap_stop(held));
	assert_ok(doca_mmap_destroy(held));
}

static void bufs_on_an_imported_map_are_named_by_the_exporter(void **state)
{
	struct doca_mmap *imported = imported_map();
	struct doca_buf *buf, *dup;

	assert_ok(doca_buf_inventory_buf_get_by_data(inventory, imported, memory + 8, 64, &buf));
	assert_buf(buf, memory + 8, 64, memory + 8, 64);
	assert_ok(doca_buf_inventory_buf_dup(inventory, buf, &dup));
	assert_int_equal(num_bufs(imported), 2);
	assert_int_equal(num_bufs(map), 0);
	put_buf(buf);
	put_buf(dup);
	assert_ok(doca_mmap_destroy(imported));
}

static void stop_and_destroy_of_an_imported_map_with_bufs_are_not_permitted(void **state)
{
	struct doca_mmap *imported = imported_map();
	struct doca_buf *buf = NULL;

	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, imported, memory, 1, &buf));
	assert_error(doca_mmap_stop(imported), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_destroy(imported), DOCA_ERROR_NOT_PERMITTED);
	put_buf(buf);
	assert_ok(doca_mmap_stop(imported));
	assert_error(doca_buf_inventory_buf_get_by_addr(inventory, imported, memory, 1, &buf),
		     DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(imported));
}

static void with_thread_safety_the_map_does_not_count_bufs(void **state)
{
	struct doca_mmap *shared = new_map();
	struct doca_buf *buf, *dup;

	assert_ok(doca_mmap_enable_thread_safety(shared));
	assert_ok(doca_mmap_start(shared));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, shared, memory, 1, &buf));
	assert_ok(doca_buf_inventory_buf_dup(inventory, buf, &dup));
	assert_int_equal(num_bufs(shared), 0);
	assert_int_equal(num_free(), BUFS_ELEMENTS - 2);
	put_buf(dup);
	assert_int_equal(num_bufs(shared), 0);
	put_buf(buf);
	assert_ok(doca_mmap_destroy(shared));
}

static void with_thread_safety_the_map_may_go_before_its_bufs(void **state)
{
	struct doca_mmap *shared = new_map();
	struct doca_buf *buf;

	assert_ok(doca_mmap_enable_thread_safety(shared));
	assert_ok(doca_mmap_start(shared));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, shared, memory + 5, 6, &buf));
	assert_ok(doca_mmap_stop(shared));
	assert_ok(doca_mmap_destroy(shared));
	assert_buf(buf, memory + 5, 6, memory + 5, 0);
	put_buf(buf);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
}

static void bufs_do_not_touch_their_memory(void **state)
{
	struct doca_buf *buf;
	uint8_t before[256];

	fixture_fill(memory, sizeof(before), 11);
	memcpy(before, memory, sizeof(before));
	buf = get_buf(0, sizeof(before));
	assert_ok(doca_buf_set_data(buf, memory + 1, 7));
	assert_ok(doca_buf_reset_data_len(buf));
	put_buf(buf);
	assert_memory_equal(memory, before, sizeof(before));
}

static void reuse_moves_a_buf(void **state)
{
	struct doca_buf *buf = get_buf(100, 50);
	uint16_t old = 0;

	assert_ok(doca_buf_inc_refcount(buf, &old));
	assert_ok(doca_buf_inventory_buf_reuse_by_args(buf, memory + 7, 700, memory + 17, 80));
	assert_buf(buf, memory + 7, 700, memory + 17, 80);
	assert_ok(doca_buf_inventory_buf_reuse_by_addr(buf, memory + 8, 600));
	assert_buf(buf, memory + 8, 600, memory + 8, 0);
	assert_ok(doca_buf_inventory_buf_reuse_by_data(buf, memory + 9, 500));
	assert_buf(buf, memory + 9, 500, memory + 9, 500);
	assert_ok(doca_buf_inventory_buf_reuse_by_data(buf, memory, sizeof(memory)));
	assert_ok(doca_buf_inventory_buf_reuse_by_addr(buf, memory + sizeof(memory), 0));
	assert_int_equal(refcount(buf), 2);
	assert_int_equal(num_free(), BUFS_ELEMENTS - 1);
	assert_int_equal(num_bufs(map), 1);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	put_buf(buf);
	assert_int_equal(num_bufs(map), 0);
}

static void assert_reuse_is_refused(struct doca_buf *buf, doca_error_t wanted)
{
	assert_error(doca_buf_inventory_buf_reuse_by_args(buf, memory, 1, memory, 1), wanted);
	assert_error(doca_buf_inventory_buf_reuse_by_addr(buf, memory, 1), wanted);
	assert_error(doca_buf_inventory_buf_reuse_by_data(buf, memory, 1), wanted);
}

static void reuse_outside_the_range_is_invalid(void **state)
{
	static const struct {
		size_t offset, len;
	} cases[] = {
		{(size_t)-1, 1},	 {(size_t)-1, sizeof(memory) + 2},
		{0, sizeof(memory) + 1}, {0, SIZE_MAX},
		{sizeof(memory), 1},	 {sizeof(memory) + 1, 0},
		{1, SIZE_MAX},
	};
	struct doca_buf *buf = get_buf(100, 50);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t *addr = (uint8_t *)((uintptr_t)memory + cases[i].offset);

		assert_error(doca_buf_inventory_buf_reuse_by_args(buf, addr, cases[i].len, addr, 0),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(doca_buf_inventory_buf_reuse_by_addr(buf, addr, cases[i].len),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(doca_buf_inventory_buf_reuse_by_data(buf, addr, cases[i].len),
			     DOCA_ERROR_INVALID_VALUE);
	}
	assert_error(doca_buf_inventory_buf_reuse_by_args(buf, memory, 50, memory - 1, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_buf_reuse_by_args(buf, memory, 50, memory + 50, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_buf_reuse_by_args(buf, memory, 50, memory, 51),
		     DOCA_ERROR_INVALID_VALUE);
	assert_reuse_is_refused(NULL, DOCA_ERROR_INVALID_VALUE);
	assert_buf(buf, memory + 100, 50, memory + 100, 0);
	put_buf(buf);
}

static void reuse_of_a_released_buf_is_bad_state(void **state)
{
	struct doca_buf *buf = get_buf(100, 50);

	put_buf(buf);
	assert_reuse_is_refused(buf, DOCA_ERROR_BAD_STATE);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
}

static void empty_buf_of_a_stopped_map_is_bad_state(void **state)
{
	struct doca_mmap *stopped = new_map();
	struct doca_buf *buf;

	assert_ok(doca_mmap_start(stopped));
	assert_ok(doca_mmap_stop(stopped));
	assert_error(doca_buf_inventory_buf_get_by_addr(inventory, stopped, memory, 0, &buf),
		     DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(stopped));
}

static void reuse_on_a_stopped_map_is_bad_state(void **state)
{
	struct doca_mmap *shared = new_map();
	struct doca_buf *buf;

	assert_ok(doca_mmap_enable_thread_safety(shared));
	assert_ok(doca_mmap_start(shared));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, shared, memory + 5, 6, &buf));
	assert_ok(doca_mmap_stop(shared));
	assert_reuse_is_refused(buf, DOCA_ERROR_BAD_STATE);
	assert_buf(buf, memory + 5, 6, memory + 5, 0);
	assert_ok(doca_mmap_start(shared));
	assert_ok(doca_buf_inventory_buf_reuse_by_addr(buf, memory, 1));
	put_buf(buf);
	assert_ok(doca_mmap_destroy(shared));
}

static void reuse_on_an_imported_map_takes_addresses_of_the_exporter(void **state)
{
	struct doca_mmap *imported = imported_map();
	struct doca_buf *buf;

	assert_ok(doca_buf_inventory_buf_get_by_data(inventory, imported, memory + 8, 64, &buf));
	assert_ok(doca_buf_inventory_buf_reuse_by_data(buf, memory + 4000, 96));
	assert_buf(buf, memory + 4000, 96, memory + 4000, 96);
	assert_error(doca_buf_inventory_buf_reuse_by_data(buf, memory + 4000, 97),
		     DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(num_bufs(imported), 1);
	put_buf(buf);
	assert_int_equal(num_bufs(imported), 0);
	assert_ok(doca_mmap_destroy(imported));
}

static void reuse_in_a_list_moves_one_element(void **state)
{
	struct doca_buf *head = get_buf(0, 10), *inner = get_buf(10, 10), *next = NULL;
	uint8_t in_list = 0;

	assert_ok(doca_buf_chain_list(head, inner));
	assert_ok(doca_buf_inventory_buf_reuse_by_data(inner, memory + 100, 5));
	assert_ok(doca_buf_inventory_buf_reuse_by_data(head, memory + 200, 6));
	assert_buf(head, memory + 200, 6, memory + 200, 6);
	assert_buf(inner, memory + 100, 5, memory + 100, 5);
	assert_ok(doca_buf_get_next_in_list(head, &next));
	assert_ptr_equal(next, inner);
	assert_ok(doca_buf_is_in_list(inner, &in_list));
	assert_int_equal(in_list, 1);
	put_buf(head);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
	assert_int_equal(num_bufs(map), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		bufs_test(invalid_inventories_are_refused),
		bufs_test(inventory_counts_its_elements),
		bufs_test(get_from_an_inventory_that_is_not_started_is_bad_state),
		bufs_test(bufs_that_are_out_survive_stop),
		bufs_test(start_and_stop_twice_change_nothing),
		bufs_test(destroy_with_bufs_out_is_in_use),
		bufs_test(destroy_stops_first),
		bufs_test(get_from_an_empty_inventory_is_no_memory),
		bufs_test(expand_adds_elements),
		bufs_test(invalid_expansions_are_refused),
		bufs_test(expand_of_an_inventory_that_is_not_started_is_bad_state),
		bufs_test(user_data_is_0_unless_set),
		bufs_test(user_data_is_fixed_by_the_first_start),
		bufs_test(get_by_addr_is_an_empty_buf),
		bufs_test(get_by_data_is_a_full_buf),
		bufs_test(get_by_args_has_headroom_and_tail),
		bufs_test(get_needs_inventory_map_and_output),
		bufs_test(get_outside_the_range_is_invalid),
		bufs_test(get_takes_the_whole_range_its_last_byte_and_nothing),
		bufs_test(get_with_data_outside_the_buf_is_invalid),
		bufs_test(get_on_a_map_that_is_not_started_is_bad_state),
		bufs_test(set_data_moves_the_data_within_the_buf),
		bufs_test(set_data_outside_the_buf_is_invalid),
		bufs_test(set_data_len_keeps_the_data_pointer),
		bufs_test(reset_data_len_keeps_the_data_pointer),
		bufs_test(getters_need_their_arguments),
		bufs_test(refcounts_return_the_old_value),
		bufs_test(the_65536th_reference_is_too_big),
		bufs_test(a_buf_given_back_is_bad_state),
		bufs_test(the_map_counts_its_bufs_of_all_inventories),
		bufs_test(stop_and_destroy_of_a_map_with_bufs_are_not_permitted),
		bufs_test(bufs_on_an_imported_map_are_named_by_the_exporter),
		bufs_test(stop_and_destroy_of_an_imported_map_with_bufs_are_not_permitted),
		bufs_test(with_thread_safety_the_map_does_not_count_bufs),
		bufs_test(with_thread_safety_the_map_may_go_before_its_bufs),
		bufs_test(bufs_do_not_touch_their_memory),
		bufs_test(reuse_moves_a_buf),
		bufs_test(reuse_outside_the_range_is_invalid),
		bufs_test(reuse_of_a_released_buf_is_bad_state),
		bufs_test(empty_buf_of_a_stopped_map_is_bad_state),
		bufs_test(reuse_on_a_stopped_map_is_bad_state),
		bufs_test(reuse_on_an_imported_map_takes_addresses_of_the_exporter),
		bufs_test(reuse_in_a_list_moves_one_element),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
