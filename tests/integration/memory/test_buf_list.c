/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lists of bufs and copies of them: a test for each rule of doca_buf.h and doca_buf_inventory.h. */
#include "bufs.h"

#define MAX_LIST 8

/* n chained bufs of one byte each, at from, from + 1 and so on; all[0] is the head. */
static void get_list(struct doca_buf **all, size_t n, size_t from)
{
	for (size_t i = 0; i < n; i++) {
		all[i] = get_buf(from + i, 1);
		if (i)
			assert_ok(doca_buf_chain_list(all[0], all[i]));
	}
}

static void assert_list(struct doca_buf *const *all, size_t n)
{
	struct doca_buf *next, *last;
	uint8_t first, end, in;
	uint32_t len;

	assert_ok(doca_buf_get_list_len(all[0], &len));
	assert_int_equal(len, n);
	for (size_t i = 0; i < n; i++) {
		assert_ok(doca_buf_get_next_in_list(all[i], &next));
		assert_ptr_equal(next, i + 1 < n ? all[i + 1] : NULL);
		assert_ok(doca_buf_get_last_in_list(all[i], &last));
		assert_ptr_equal(last, all[n - 1]);
		assert_ok(doca_buf_is_first_in_list(all[i], &first));
		assert_int_equal(first, i == 0);
		assert_ok(doca_buf_is_last_in_list(all[i], &end));
		assert_int_equal(end, i == n - 1);
		assert_ok(doca_buf_is_in_list(all[i], &in));
		assert_int_equal(in, n > 1);
		if (i)
			assert_int_equal(refcount(all[i]), 1);
	}
}

static void a_single_buf_is_first_and_last_and_in_no_list(void **state)
{
	struct doca_buf *buf = get_buf(0, 1);

	assert_list(&buf, 1);
	put_buf(buf);
}

static void chain_appends_in_order(void **state)
{
	struct doca_buf *all[MAX_LIST];

	get_list(all, MAX_LIST, 0);
	assert_list(all, MAX_LIST);
	put_buf(all[0]);
}

static void chain_joins_two_lists(void **state)
{
	struct doca_buf *all[5];

	get_list(all, 3, 0);
	get_list(all + 3, 2, 3);
	assert_ok(doca_buf_chain_list(all[0], all[3]));
	assert_list(all, 5);
	put_buf(all[0]);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
}

static void chain_of_what_is_not_a_head_is_not_permitted(void **state)
{
	struct doca_buf *all[3], *buf = get_buf(9, 1);

	get_list(all, 3, 0);
	for (size_t i = 1; i < 3; i++) {
		assert_error(doca_buf_chain_list(all[i], buf), DOCA_ERROR_NOT_PERMITTED);
		assert_error(doca_buf_chain_list(buf, all[i]), DOCA_ERROR_NOT_PERMITTED);
		assert_error(doca_buf_chain_list_tail(all[i], all[2], buf),
			     DOCA_ERROR_NOT_PERMITTED);
		assert_error(doca_buf_chain_list_tail(buf, buf, all[i]), DOCA_ERROR_NOT_PERMITTED);
	}
	assert_list(all, 3);
	assert_list(&buf, 1);
	put_buf(all[0]);
	put_buf(buf);
}

static void chain_of_a_shared_second_list_is_not_permitted(void **state)
{
	struct doca_buf *one = get_buf(0, 1), *two = get_buf(1, 1);
	uint16_t old;

	assert_ok(doca_buf_inc_refcount(two, &old));
	assert_error(doca_buf_chain_list(one, two), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_buf_chain_list_tail(one, one, two), DOCA_ERROR_NOT_PERMITTED);
	assert_list(&one, 1);
	assert_list(&two, 1);
	assert_ok(doca_buf_dec_refcount(two, NULL));
	assert_ok(doca_buf_chain_list(one, two));
	put_buf(one);
}

static void chain_to_a_shared_first_list_keeps_its_references(void **state)
{
	struct doca_buf *all[] = {get_buf(0, 1), get_buf(1, 1)};
	uint16_t old;

	assert_ok(doca_buf_inc_refcount(all[0], &old));
	assert_ok(doca_buf_chain_list(all[0], all[1]));
	assert_list(all, 2);
	assert_int_equal(refcount(all[0]), 2);
	assert_ok(doca_buf_dec_refcount(all[0], NULL));
	assert_int_equal(num_free(), BUFS_ELEMENTS - 2);
	put_buf(all[0]);
}

static void chain_refuses_null_and_itself(void **state)
{
	struct doca_buf *all[3];

	get_list(all, 3, 0);
	assert_error(doca_buf_chain_list(NULL, all[0]), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_chain_list(all[0], NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_chain_list(all[0], all[0]), DOCA_ERROR_INVALID_VALUE);
	assert_list(all, 3);
	put_buf(all[0]);
}

static void chain_tail_appends_in_order(void **state)
{
	struct doca_buf *all[5];

	get_list(all + 3, 2, 3);
	for (size_t i = 0; i < 3; i++)
		all[i] = get_buf(i, 1);
	assert_ok(doca_buf_chain_list_tail(all[0], all[0], all[1]));
	assert_ok(doca_buf_chain_list_tail(all[0], all[1], all[2]));
	assert_ok(doca_buf_chain_list_tail(all[0], all[2], all[3]));
	assert_list(all, 5);
	put_buf(all[0]);
}

static void chain_tail_needs_the_tail(void **state)
{
	struct doca_buf *all[3], *buf = get_buf(9, 1), *other = get_buf(10, 1);

	get_list(all, 3, 0);
	assert_error(doca_buf_chain_list_tail(all[0], NULL, buf), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_chain_list_tail(all[0], all[0], buf), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_chain_list_tail(all[0], all[1], buf), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_chain_list_tail(all[0], buf, buf), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_chain_list_tail(all[0], other, buf), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_chain_list_tail(NULL, all[2], buf), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_chain_list_tail(all[0], all[2], NULL), DOCA_ERROR_INVALID_VALUE);
	put_buf(other);
	assert_error(doca_buf_chain_list_tail(all[0], other, buf), DOCA_ERROR_INVALID_VALUE);
	assert_list(all, 3);
	put_buf(all[0]);
	put_buf(buf);
}

static void unchain_splits_before_the_second(void **state)
{
	struct doca_buf *all[6];

	get_list(all, 6, 0);
	assert_ok(doca_buf_unchain_list(all[0], all[4]));
	assert_list(all, 4);
	assert_list(all + 4, 2);
	assert_int_equal(refcount(all[4]), 1);
	assert_ok(doca_buf_unchain_list(all[0], all[1]));
	assert_list(all, 1);
	assert_list(all + 1, 3);
	put_buf(all[0]);
	put_buf(all[1]);
	assert_int_equal(num_free(), BUFS_ELEMENTS - 2);
	put_buf(all[4]);
}

static void unchain_leaves_the_references_to_the_first(void **state)
{
	struct doca_buf *all[2];
	uint16_t old;

	get_list(all, 2, 0);
	assert_ok(doca_buf_inc_refcount(all[0], &old));
	assert_ok(doca_buf_unchain_list(all[0], all[1]));
	assert_int_equal(refcount(all[0]), 2);
	assert_int_equal(refcount(all[1]), 1);
	assert_ok(doca_buf_dec_refcount(all[0], NULL));
	put_buf(all[0]);
	put_buf(all[1]);
}

static void unchain_of_what_is_not_in_the_list_is_invalid(void **state)
{
	struct doca_buf *all[3], *other[2];

	get_list(all, 3, 0);
	get_list(other, 2, 3);
	assert_error(doca_buf_unchain_list(all[0], other[0]), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_unchain_list(all[0], other[1]), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_unchain_list(all[0], all[0]), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_unchain_list(all[0], NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_unchain_list(NULL, all[1]), DOCA_ERROR_INVALID_VALUE);
	assert_list(all, 3);
	assert_list(other, 2);
	put_buf(all[0]);
	put_buf(other[0]);
}

static void unchain_from_what_is_not_a_head_is_not_permitted(void **state)
{
	struct doca_buf *all[3];

	get_list(all, 3, 0);
	assert_error(doca_buf_unchain_list(all[1], all[2]), DOCA_ERROR_NOT_PERMITTED);
	assert_list(all, 3);
	put_buf(all[0]);
}

static void references_to_an_inner_element_are_not_permitted(void **state)
{
	struct doca_buf *all[3];
	uint16_t old = 7;
	uint32_t len = 7;

	get_list(all, 3, 0);
	for (size_t i = 1; i < 3; i++) {
		assert_error(doca_buf_inc_refcount(all[i], &old), DOCA_ERROR_NOT_PERMITTED);
		assert_error(doca_buf_dec_refcount(all[i], &old), DOCA_ERROR_NOT_PERMITTED);
		assert_error(doca_buf_get_list_len(all[i], &len), DOCA_ERROR_NOT_PERMITTED);
	}
	assert_int_equal(old, 7);
	assert_int_equal(len, 7);
	assert_list(all, 3);
	put_buf(all[0]);
}

static void the_last_reference_to_a_list_gives_all_elements_back(void **state)
{
	struct doca_buf *all[MAX_LIST];
	uint16_t old = 0;

	get_list(all, MAX_LIST, 0);
	assert_int_equal(num_bufs(map), MAX_LIST);
	assert_ok(doca_buf_inc_refcount(all[0], &old));
	assert_ok(doca_buf_dec_refcount(all[0], NULL));
	assert_int_equal(num_free(), BUFS_ELEMENTS - MAX_LIST);
	put_buf(all[0]);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
	assert_int_equal(num_bufs(map), 0);
	for (size_t i = 0; i < MAX_LIST; i++)
		assert_error(doca_buf_dec_refcount(all[i], NULL), DOCA_ERROR_BAD_STATE);
	/* An element that has left a list is like a new buf. */
	for (size_t i = 0; i < MAX_LIST; i++) {
		all[i] = get_buf(i, 1);
		assert_list(&all[i], 1);
		assert_int_equal(refcount(all[i]), 1);
	}
	for (size_t i = 0; i < MAX_LIST; i++)
		put_buf(all[i]);
}

static void a_list_given_back_is_bad_state(void **state)
{
	struct doca_buf *all[2], *next, *last;
	uint32_t len = 7;
	uint8_t in = 7;

	get_list(all, 2, 0);
	put_buf(all[0]);
	assert_error(doca_buf_get_list_len(all[0], &len), DOCA_ERROR_BAD_STATE);
	assert_error(doca_buf_unchain_list(all[0], all[1]), DOCA_ERROR_BAD_STATE);
	assert_int_equal(len, 7);
	/* The count of free elements does not show it. */
	for (size_t i = 0; i < 2; i++) {
		assert_ok(doca_buf_get_next_in_list(all[i], &next));
		assert_null(next);
		assert_ok(doca_buf_get_last_in_list(all[i], &last));
		assert_ptr_equal(last, all[i]);
		assert_ok(doca_buf_is_in_list(all[i], &in));
		assert_int_equal(in, 0);
	}
	assert_int_equal(num_free(), BUFS_ELEMENTS);
}

static void a_list_may_have_several_maps_and_inventories(void **state)
{
	struct doca_mmap *imported = imported_map();
	struct doca_buf_inventory *other;
	struct doca_buf *all[3];
	uint32_t n;

	assert_ok(doca_buf_inventory_create(1, &other));
	assert_ok(doca_buf_inventory_start(other));
	all[0] = get_buf(0, 1);
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, imported, memory, 1, &all[1]));
	assert_ok(doca_buf_inventory_buf_get_by_addr(other, map, memory, 1, &all[2]));
	assert_ok(doca_buf_chain_list(all[0], all[1]));
	assert_ok(doca_buf_chain_list(all[0], all[2]));
	assert_list(all, 3);
	assert_int_equal(num_bufs(map), 2);
	assert_int_equal(num_bufs(imported), 1);
	put_buf(all[0]);
	assert_int_equal(num_bufs(map), 0);
	assert_int_equal(num_bufs(imported), 0);
	assert_int_equal(num_free(), BUFS_ELEMENTS);
	assert_ok(doca_buf_inventory_get_num_free_elements(other, &n));
	assert_int_equal(n, 1);
	assert_ok(doca_buf_inventory_destroy(other));
	assert_ok(doca_mmap_destroy(imported));
}

static void list_functions_need_their_arguments(void **state)
{
	struct doca_buf *buf = get_buf(0, 1), *other;
	uint32_t len;
	uint8_t flag;

	assert_error(doca_buf_get_next_in_list(NULL, &other), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_next_in_list(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_last_in_list(NULL, &other), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_last_in_list(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_is_first_in_list(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_is_first_in_list(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_is_last_in_list(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_is_last_in_list(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_is_in_list(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_is_in_list(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_list_len(NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_get_list_len(buf, NULL), DOCA_ERROR_INVALID_VALUE);
	put_buf(buf);
}

static void dup_of_a_buf_copies_its_description(void **state)
{
	struct doca_buf *buf = get_buf(100, 50), *dup;
	uint16_t old;

	assert_ok(doca_buf_set_data(buf, memory + 110, 7));
	assert_ok(doca_buf_inc_refcount(buf, &old));
	assert_ok(doca_buf_inventory_buf_dup(inventory, buf, &dup));
	assert_ptr_not_equal(dup, buf);
	assert_buf(dup, memory + 100, 50, memory + 110, 7);
	assert_int_equal(refcount(dup), 1);
	assert_list(&dup, 1);
	assert_ok(doca_buf_set_data(buf, memory + 100, 50));
	assert_buf(dup, memory + 100, 50, memory + 110, 7);
	assert_int_equal(num_bufs(map), 2);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	put_buf(buf);
	put_buf(dup);
}

static void dup_of_a_chain_copies_every_element(void **state)
{
	struct doca_buf *all[4], *copy[4];

	get_list(all, 4, 200);
	assert_ok(doca_buf_set_data(all[2], memory + 202, 1));
	assert_ok(doca_buf_inventory_buf_dup(inventory, all[0], &copy[0]));
	for (size_t i = 1; i < 4; i++)
		assert_ok(doca_buf_get_next_in_list(copy[i - 1], &copy[i]));
	assert_list(copy, 4);
	assert_list(all, 4);
	for (size_t i = 0; i < 4; i++)
		assert_buf(copy[i], memory + 200 + i, 1, memory + 200 + i, i == 2);
	assert_int_equal(num_bufs(map), 8);
	put_buf(all[0]);
	assert_int_equal(num_bufs(map), 4);
	put_buf(copy[0]);
}

static void dup_of_a_chain_that_does_not_fit_is_no_memory(void **state)
{
	struct doca_buf *all[5], *copy = NULL;

	get_list(all, 5, 0);
	assert_error(doca_buf_inventory_buf_dup(inventory, all[0], &copy), DOCA_ERROR_NO_MEMORY);
	assert_null(copy);
	assert_int_equal(num_free(), BUFS_ELEMENTS - 5);
	assert_int_equal(num_bufs(map), 5);
	assert_list(all, 5);
	put_buf(all[0]);
}

static void dup_of_an_inner_element_is_not_permitted(void **state)
{
	struct doca_buf *all[3], *copy = NULL;

	get_list(all, 3, 0);
	assert_error(doca_buf_inventory_buf_dup(inventory, all[1], &copy),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_buf_inventory_buf_dup(inventory, all[2], &copy),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_null(copy);
	put_buf(all[0]);
}

/* Only a map that does not count its bufs can be stopped while one exists. */
static void dup_of_a_chain_on_a_stopped_map_is_bad_state(void **state)
{
	struct doca_mmap *shared = new_map();
	struct doca_buf *one = get_buf(0, 1), *two, *copy = NULL;

	assert_ok(doca_mmap_enable_thread_safety(shared));
	assert_ok(doca_mmap_start(shared));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, shared, memory, 1, &two));
	assert_ok(doca_buf_chain_list(one, two));
	assert_ok(doca_mmap_stop(shared));
	assert_error(doca_buf_inventory_buf_dup(inventory, one, &copy), DOCA_ERROR_BAD_STATE);
	assert_null(copy);
	assert_int_equal(num_free(), BUFS_ELEMENTS - 2);
	assert_int_equal(num_bufs(map), 1);
	put_buf(one);
	assert_ok(doca_mmap_destroy(shared));
}

static void dup_needs_its_arguments(void **state)
{
	struct doca_buf *buf = get_buf(0, 1), *copy = NULL;

	assert_error(doca_buf_inventory_buf_dup(NULL, buf, &copy), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_buf_dup(inventory, NULL, &copy), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_buf_inventory_buf_dup(inventory, buf, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(copy);
	put_buf(buf);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		bufs_test(a_single_buf_is_first_and_last_and_in_no_list),
		bufs_test(chain_appends_in_order),
		bufs_test(chain_joins_two_lists),
		bufs_test(chain_of_what_is_not_a_head_is_not_permitted),
		bufs_test(chain_of_a_shared_second_list_is_not_permitted),
		bufs_test(chain_to_a_shared_first_list_keeps_its_references),
		bufs_test(chain_refuses_null_and_itself),
		bufs_test(chain_tail_appends_in_order),
		bufs_test(chain_tail_needs_the_tail),
		bufs_test(unchain_splits_before_the_second),
		bufs_test(unchain_leaves_the_references_to_the_first),
		bufs_test(unchain_of_what_is_not_in_the_list_is_invalid),
		bufs_test(unchain_from_what_is_not_a_head_is_not_permitted),
		bufs_test(references_to_an_inner_element_are_not_permitted),
		bufs_test(the_last_reference_to_a_list_gives_all_elements_back),
		bufs_test(a_list_given_back_is_bad_state),
		bufs_test(a_list_may_have_several_maps_and_inventories),
		bufs_test(list_functions_need_their_arguments),
		bufs_test(dup_of_a_buf_copies_its_description),
		bufs_test(dup_of_a_chain_copies_every_element),
		bufs_test(dup_of_a_chain_that_does_not_fit_is_no_memory),
		bufs_test(dup_of_an_inner_element_is_not_permitted),
		bufs_test(dup_of_a_chain_on_a_stopped_map_is_bad_state),
		bufs_test(dup_needs_its_arguments),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
