/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The copy queue in one process: copies, refusals, failures and recovery. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fixture.h"

#define LEN 65536

static struct fixture_buf from, to;

static int open_all(void **state)
{
	return fixture_setup(state) || !fixture_open_bufs(LEN, &from, &to) ? -1 : 0;
}

static int close_all(void **state)
{
	return !fixture_close_bufs(&from, &to) || fixture_teardown(state) ? -1 : 0;
}

static doca_error_t post(struct dpumap_dma *dma, size_t offset, size_t len, uint64_t cookie)
{
	uintptr_t dst = (uintptr_t)to.bytes + offset;
	uintptr_t src = (uintptr_t)from.bytes + offset;

	return dpumap_dma_memcpy(dma, to.mmap, (void *)dst, from.mmap, (const void *)src, len,
				 (union doca_data){.u64 = cookie});
}

static void engine_is_that_of_the_device(void **state)
{
	enum dpumap_dma_engine engine;
	uint64_t max_len = 0;

	assert_ok(dpumap_dma_get_engine(fixture.dma, &engine));
	assert_int_equal(engine, strcmp(test_options.engine, "rdma") == 0 ? DPUMAP_DMA_ENGINE_RDMA
									  : DPUMAP_DMA_ENGINE_MMO);
	assert_ok(dpumap_dma_get_max_len(fixture.dma, &max_len));
	assert_true(max_len >= 2097152);
	assert_error(dpumap_dma_get_engine(NULL, &engine), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dma_get_max_len(fixture.dma, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void invalid_arguments_create_no_queue(void **state)
{
	struct dpumap_dma *dma = NULL;

	assert_error(dpumap_dma_create(NULL, 1, &dma), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dma_create(fixture.dev, 0, &dma), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dma_create(fixture.dev, UINT32_MAX, &dma), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dma_create(fixture.dev, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(dma);
	assert_error(dpumap_dma_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void copy_moves_exactly_its_bytes(void **state)
{
	static const struct {
		size_t dst, src, len;
	} cases[] = {{0, 0, LEN}, {0, 0, 1}, {1, 3, 1000}, {4095, 1, 4097}, {LEN - 1, 0, 1}};
	uint8_t *expected = malloc(LEN);

	assert_non_null(expected);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(to.bytes, 0x5a, LEN);
		memset(expected, 0x5a, LEN);
		memcpy(expected + cases[i].dst, from.bytes + cases[i].src, cases[i].len);
		assert_ok(fixture_copy(&fixture,
				       &(struct fixture_copy){to.mmap, to.bytes + cases[i].dst,
							      from.mmap, from.bytes + cases[i].src,
							      cases[i].len}));
		assert_memory_equal(to.bytes, expected, LEN);
	}
	free(expected);
}

static void invalid_copies_are_refused(void **state)
{
	const union doca_data none = {0};
	struct doca_mmap *idle;
	uint64_t max_len;

	assert_ok(dpumap_dma_get_max_len(fixture.dma, &max_len));
	assert_error(post(NULL, 0, 1, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(post(fixture.dma, 0, 0, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(post(fixture.dma, 0, LEN + 1, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(post(fixture.dma, LEN, 1, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(post(fixture.dma, 0, max_len + 1, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(post(fixture.dma, (size_t)-1, 1, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dma_memcpy(fixture.dma, NULL, to.bytes, from.mmap, from.bytes, 1, none),
		     DOCA_ERROR_INVALID_VALUE);

	assert_ok(doca_mmap_create(&idle));
	assert_ok(doca_mmap_set_memrange(idle, to.bytes, LEN));
	assert_error(dpumap_dma_memcpy(fixture.dma, idle, to.bytes, from.mmap, from.bytes, 1, none),
		     DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(idle));
}

static void a_copy_may_have_the_maximum_length_and_no_byte_more(void **state)
{
	struct fixture_buf long_from, long_to;
	uint64_t max_len;

	assert_ok(dpumap_dma_get_max_len(fixture.dma, &max_len));
	if (max_len > 64u << 20) {
		print_message("the longest copy of this device is %zu bytes: too many here\n",
			      (size_t)max_len);
		skip();
	}
	assert_ok(fixture_buf_create(&fixture, max_len + 1, LOCAL_RW, &long_from));
	assert_ok(fixture_buf_create(&fixture, max_len + 1, LOCAL_RW, &long_to));
	fixture_fill(long_from.bytes, long_from.len, 9);
	assert_error(fixture_copy(&fixture, &(struct fixture_copy){long_to.mmap, long_to.bytes,
								   long_from.mmap, long_from.bytes,
								   max_len + 1}),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(fixture_copy(&fixture, &(struct fixture_copy){long_to.mmap, long_to.bytes + 1,
								long_from.mmap, long_from.bytes + 1,
								max_len}));
	assert_memory_equal(long_to.bytes + 1, long_from.bytes + 1, max_len);
	assert_ok(fixture_buf_destroy(&long_from));
	assert_ok(fixture_buf_destroy(&long_to));
}

static void full_queue_says_again(void **state)
{
	struct dpumap_dma_completion done;
	struct dpumap_dma *dma;

	assert_ok(dpumap_dma_create(fixture.dev, 2, &dma));
	assert_ok(post(dma, 0, 1, 10));
	assert_ok(post(dma, 1, 1, 11));
	assert_error(post(dma, 2, 1, 12), DOCA_ERROR_AGAIN);
	assert_ok(fixture_wait(dma, FIXTURE_TIMEOUT_MS, &done));
	assert_int_equal(done.user_data.u64, 10);
	assert_ok(post(dma, 2, 1, 12));
	for (uint64_t cookie = 11; cookie <= 12; cookie++) {
		assert_ok(fixture_wait(dma, FIXTURE_TIMEOUT_MS, &done));
		assert_ok(done.status);
		assert_int_equal(done.user_data.u64, cookie);
	}
	assert_ok(dpumap_dma_destroy(dma));
	assert_memory_equal(to.bytes, from.bytes, 3);
}

static void many_copies_complete_in_order(void **state)
{
	struct dpumap_dma_completion done[24];
	uint64_t posted = 0, polled = 0;
	uint32_t n;

	while (polled < 1000) {
		while (posted < 1000 && post(fixture.dma, posted * 64, 64, posted) == DOCA_SUCCESS)
			posted++;
		assert_ok(dpumap_dma_poll(fixture.dma, done, 24, &n));
		for (uint32_t i = 0; i < n; i++, polled++) {
			assert_ok(done[i].status);
			assert_int_equal(done[i].user_data.u64, polled);
		}
	}
	assert_memory_equal(to.bytes, from.bytes, 64000);
}

static void poll_of_an_empty_queue_returns_nothing(void **state)
{
	struct dpumap_dma_completion done;
	uint32_t n = 9;

	assert_ok(dpumap_dma_poll(fixture.dma, &done, 1, &n));
	assert_int_equal(n, 0);
	assert_error(dpumap_dma_poll(fixture.dma, NULL, 1, &n), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dma_poll(fixture.dma, &done, 1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dma_poll(NULL, &done, 1, &n), DOCA_ERROR_INVALID_VALUE);
	assert_ok(dpumap_dma_reset(fixture.dma));
	assert_error(dpumap_dma_reset(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void refuse_write(uint32_t access)
{
	struct fixture_buf target;

	assert_ok(fixture_buf_create(&fixture, LEN, access, &target));
	assert_error(fixture_copy(&fixture, &(struct fixture_copy){target.mmap, target.bytes,
								   from.mmap, from.bytes, 64}),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(target.bytes[0], 0);
	assert_ok(fixture_copy(&fixture, &(struct fixture_copy){to.mmap, to.bytes, target.mmap,
								target.bytes, 64}));
	assert_ok(fixture_buf_destroy(&target));
}

static void write_to_a_local_read_only_map_is_refused(void **state)
{
	refuse_write(0);
	refuse_write(PCI_RO);
	/* Permissions for RDMA peers are not permissions for this process. */
	refuse_write(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE);
}

/* Refused before it is posted: the queue does not fail, and its copies go on. */
static void write_to_an_import_for_reading_is_refused(void **state)
{
	struct dpumap_dma_completion done;
	struct doca_mmap *imported;
	struct fixture_buf target;

	assert_ok(fixture_buf_create(&fixture, LEN, DOCA_ACCESS_FLAG_PCI_READ_ONLY, &target));
	imported = fixture_import_pci(fixture.dev, target.mmap);
	assert_ok(post(fixture.dma, 0, 64, 1));
	assert_error(dpumap_dma_memcpy(fixture.dma, imported, target.bytes, from.mmap, from.bytes,
				       64, (union doca_data){.u64 = 2}),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(fixture_wait(fixture.dma, FIXTURE_TIMEOUT_MS, &done));
	assert_int_equal(done.user_data.u64, 1);
	assert_ok(done.status);
	assert_int_equal(target.bytes[0], 0);
	assert_ok(fixture_copy(
		&fixture, &(struct fixture_copy){to.mmap, to.bytes, imported, target.bytes, 64}));
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(fixture_buf_destroy(&target));
}

static void failed_queue_flushes_and_comes_back(void **state)
{
	struct dpumap_dma_completion done;
	struct fixture_buf closed;

	assert_ok(fixture_buf_create(&fixture, LEN, 0, &closed));
	assert_ok(dpumap_dma_memcpy(fixture.dma, closed.mmap, closed.bytes, from.mmap, from.bytes,
				    64, (union doca_data){.u64 = 1}));
	assert_ok(post(fixture.dma, 0, 64, 2));
	assert_error(dpumap_dma_reset(fixture.dma), DOCA_ERROR_IN_USE);
	assert_ok(fixture_wait(fixture.dma, FIXTURE_TIMEOUT_MS, &done));
	assert_int_equal(done.user_data.u64, 1);
	assert_error(done.status, DOCA_ERROR_NOT_PERMITTED);
	assert_error(post(fixture.dma, 0, 64, 3), DOCA_ERROR_BAD_STATE);
	assert_ok(fixture_wait(fixture.dma, FIXTURE_TIMEOUT_MS, &done));
	assert_int_equal(done.user_data.u64, 2);
	assert_error(done.status, DOCA_ERROR_SHUTDOWN);
	assert_int_equal(to.bytes[0], 0);
	assert_error(post(fixture.dma, 0, 64, 3), DOCA_ERROR_BAD_STATE);
	assert_ok(dpumap_dma_reset(fixture.dma));
	assert_ok(fixture_copy(
		&fixture, &(struct fixture_copy){to.mmap, to.bytes, from.mmap, from.bytes, 64}));
	assert_memory_equal(to.bytes, from.bytes, 64);
	assert_ok(fixture_buf_destroy(&closed));
}

static void queue_copies_again_after_each_of_many_resets(void **state)
{
	struct fixture_buf closed;

	assert_ok(fixture_buf_create(&fixture, LEN, 0, &closed));
	for (uint32_t i = 0; i < 300; i++) {
		assert_error(
			fixture_copy(&fixture, &(struct fixture_copy){closed.mmap, closed.bytes,
								      from.mmap, from.bytes, 64}),
			DOCA_ERROR_NOT_PERMITTED);
		fixture_fill(from.bytes, 64, i);
		assert_ok(
			fixture_copy(&fixture, &(struct fixture_copy){to.mmap, to.bytes, from.mmap,
								      from.bytes, 64}));
		assert_memory_equal(to.bytes, from.bytes, 64);
	}
	assert_ok(fixture_buf_destroy(&closed));
}

static void destroy_abandons_copies(void **state)
{
	struct dpumap_dma *dma;

	assert_ok(dpumap_dma_create(fixture.dev, 64, &dma));
	for (uint64_t i = 0; i < 64; i++)
		assert_ok(post(dma, 0, LEN, i));
	assert_ok(dpumap_dma_destroy(dma));
	memset(to.bytes, 0x77, LEN);
	/* Copies run in order, so the abandoned ones would show by now. */
	assert_ok(fixture_copy(
		&fixture, &(struct fixture_copy){to.mmap, to.bytes, from.mmap, from.bytes, 1}));
	for (size_t i = 1; i < LEN; i++)
		assert_int_equal(to.bytes[i], 0x77);
}

#define dma_test(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		dma_test(engine_is_that_of_the_device),
		dma_test(invalid_arguments_create_no_queue),
		dma_test(copy_moves_exactly_its_bytes),
		dma_test(invalid_copies_are_refused),
		dma_test(a_copy_may_have_the_maximum_length_and_no_byte_more),
		dma_test(full_queue_says_again),
		dma_test(many_copies_complete_in_order),
		dma_test(poll_of_an_empty_queue_returns_nothing),
		dma_test(write_to_a_local_read_only_map_is_refused),
		dma_test(write_to_an_import_for_reading_is_refused),
		dma_test(failed_queue_flushes_and_comes_back),
		dma_test(queue_copies_again_after_each_of_many_resets),
		dma_test(destroy_abandons_copies),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
