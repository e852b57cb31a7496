/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* doca_dma's copies: what is read and written, lists, limits, order, failures. */
#include <string.h>

#include "base/array.h"
#include "tasks.h"

static const uint8_t *written(size_t offset)
{
	return tasks.bytes + TASKS_LEN + offset;
}

static size_t len_of(const struct doca_buf *buf)
{
	size_t len = SIZE_MAX;

	assert_ok(doca_buf_get_data_len(buf, &len));
	return len;
}

/* Run one task; returns its error. */
static doca_error_t copy(struct doca_buf *src, struct doca_buf *dst)
{
	unsigned int before = tasks.num_done + tasks.num_failed;

	if (tasks_state() == DOCA_CTX_STATE_IDLE)
		tasks_start();
	tasks_submit(tasks_alloc(src, dst, 0));
	tasks_wait(before + 1);
	return tasks.last_error;
}

static doca_error_t try_submit(struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task = doca_dma_task_memcpy_as_task(tasks_alloc(src, dst, 0));
	doca_error_t result = doca_task_try_submit(task);

	if (result != DOCA_SUCCESS)
		doca_task_free(task);
	return result;
}

static void data_goes_behind_the_data(void **state)
{
	struct doca_buf *src = tasks_source(100, 1000), *dst = tasks_room(50, 4000);
	void *data;

	memset(tasks.bytes + TASKS_LEN, 0xaa, 8192);
	assert_ok(copy(src, dst));
	assert_int_equal(len_of(dst), 1000);
	assert_ok(copy(src, dst));
	assert_int_equal(len_of(dst), 2000);
	assert_ok(doca_buf_get_data(dst, &data));
	assert_ptr_equal(data, written(50));
	assert_memory_equal(written(50), tasks.bytes + 100, 1000);
	assert_memory_equal(written(1050), tasks.bytes + 100, 1000);
	assert_int_equal(*written(49), 0xaa);
	assert_int_equal(*written(2050), 0xaa);
	assert_int_equal(len_of(src), 1000);
	tasks_drop(src);
	tasks_drop(dst);
	tasks_stop();
}

static void each_buf_of_a_list_is_written_behind_its_data(void **state)
{
	struct doca_buf *src = tasks_source(0, 1000);
	struct doca_buf *first = tasks_room(0, 500), *second = tasks_room(500, 1000);

	assert_ok(doca_buf_set_data_len(first, 100));
	assert_ok(doca_buf_set_data_len(second, 50));
	assert_ok(doca_buf_chain_list(first, second));
	memset(tasks.bytes + TASKS_LEN, 0xaa, 8192);
	assert_ok(copy(src, first));
	assert_int_equal(len_of(first), 500);
	assert_int_equal(len_of(second), 650);
	assert_memory_equal(written(100), tasks.bytes, 400);
	assert_memory_equal(written(550), tasks.bytes + 400, 600);
	assert_int_equal(*written(99), 0xaa);
	assert_int_equal(*written(549), 0xaa);
	assert_int_equal(*written(1150), 0xaa);
	tasks_drop(src);
	tasks_drop(first);
	tasks_stop();
}

static void only_the_data_is_read(void **state)
{
	struct doca_buf *src = tasks_source(0, 4096), *dst = tasks_room(0, 4096);

	assert_ok(doca_buf_set_data(src, tasks.bytes + 17, 100));
	assert_ok(copy(src, dst));
	assert_int_equal(len_of(dst), 100);
	assert_memory_equal(written(0), tasks.bytes + 17, 100);
	tasks_drop(src);
	tasks_drop(dst);
	tasks_stop();
}

static struct doca_buf *chain(struct doca_buf *(*get)(size_t, size_t), const size_t (*parts)[2],
			      size_t n)
{
	struct doca_buf *head = NULL;

	for (size_t i = 0; i < n; i++) {
		struct doca_buf *part = get(parts[i][0], parts[i][1]);

		if (head)
			assert_ok(doca_buf_chain_list(head, part));
		else
			head = part;
	}
	return head;
}

static void lists_are_read_and_filled_in_order(void **state)
{
	static const size_t from[][2] = {{5000, 700}, {0, 0}, {100, 1}, {30000, 2500}, {9, 99}};
	static const size_t to[][2] = {{0, 1000}, {60000, 1}, {2000, 1500}, {90000, 8192}};
	struct doca_buf *src = chain(tasks_source, from, 5), *dst = chain(tasks_room, to, 4);
	struct doca_buf *at = dst;
	uint8_t wanted[3300], got[3300];
	size_t done = 0;

	for (size_t i = 0; i < 5; i++) {
		memcpy(wanted + done, tasks.bytes + from[i][0], from[i][1]);
		done += from[i][1];
	}
	assert_int_equal(done, sizeof(wanted));
	assert_ok(copy(src, dst));
	done = 0;
	for (size_t i = 0; i < 4; i++) {
		size_t len = len_of(at);

		memcpy(got + done, written(to[i][0]), len);
		done += len;
		assert_ok(doca_buf_get_next_in_list(at, &at));
	}
	assert_int_equal(done, sizeof(got));
	assert_memory_equal(got, wanted, sizeof(got));
	tasks_drop(src);
	tasks_drop(dst);
	tasks_stop();
}

static void tasks_may_have_longer_lists_than_the_queue(void **state)
{
	struct doca_buf *src[TASKS_NUM], *dst[TASKS_NUM];
	uint32_t max;

	assert_ok(doca_dma_cap_task_memcpy_get_max_buf_list_len(doca_dev_as_devinfo(tasks.dev),
								&max));
	tasks_start();
	for (size_t i = 0; i < TASKS_NUM; i++) {
		src[i] = tasks_source(i * 1000, 10);
		for (uint32_t n = 1; n < max; n++)
			assert_ok(doca_buf_chain_list(src[i], tasks_source(i * 1000 + n * 10, 10)));
		dst[i] = tasks_room(i * 1000, 1000);
	}
	for (size_t i = 0; i < TASKS_NUM; i++)
		tasks_submit(tasks_alloc(src[i], dst[i], i));
	tasks_wait(TASKS_NUM);
	assert_int_equal(tasks.num_failed, 0);
	for (size_t i = 0; i < TASKS_NUM; i++) {
		assert_memory_equal(written(i * 1000), tasks.bytes + i * 1000, max * 10);
		tasks_drop(src[i]);
		tasks_drop(dst[i]);
	}
	tasks_stop();
}

/* The last task waits for room in the queue. Its source loses bytes meanwhile. */
static void bufs_that_shrink_after_submission_fail_the_task(void **state)
{
	struct doca_buf *src[TASKS_NUM], *dst[TASKS_NUM];
	uint32_t max;

	assert_ok(doca_dma_cap_task_memcpy_get_max_buf_list_len(doca_dev_as_devinfo(tasks.dev),
								&max));
	tasks_start();
	for (size_t i = 0; i < TASKS_NUM; i++) {
		src[i] = tasks_source(0, 10);
		for (uint32_t n = 1; n < max; n++)
			assert_ok(doca_buf_chain_list(src[i], tasks_source(n * 10, 10)));
		dst[i] = tasks_room(i * 1000, 1000);
		tasks_submit(tasks_alloc(src[i], dst[i], i));
	}
	assert_ok(doca_buf_reset_data_len(src[TASKS_NUM - 1]));
	tasks_wait(TASKS_NUM);
	assert_int_equal(tasks.num_done, TASKS_NUM - 1);
	assert_int_equal(tasks.last_data, TASKS_NUM - 1);
	assert_error(tasks.last_error, DOCA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < TASKS_NUM; i++) {
		tasks_drop(src[i]);
		tasks_drop(dst[i]);
	}
}

static uint64_t next_data;

static void check_order(struct tasks *t, struct doca_dma_task_memcpy *task)
{
	assert_int_equal(t->last_data, next_data);
	next_data++;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void tasks_end_in_order(void **state)
{
	struct doca_buf *small = tasks_source(0, 1), *large = tasks_source(0, TASKS_LEN);
	struct doca_buf *dst[TASKS_NUM];
	uint8_t ordered = 1;

	assert_ok(doca_dma_get_ordered_completions(tasks.dma, &ordered));
	assert_int_equal(ordered, 0);
	assert_ok(doca_dma_set_ordered_completions(tasks.dma, 1));
	assert_ok(doca_dma_get_ordered_completions(tasks.dma, &ordered));
	assert_int_equal(ordered, 1);
	next_data = 0;
	tasks.on_task = check_order;
	tasks_start();
	assert_error(doca_dma_set_ordered_completions(tasks.dma, 0), DOCA_ERROR_BAD_STATE);
	for (size_t i = 0; i < TASKS_NUM; i++) {
		dst[i] = tasks_room(0, TASKS_LEN);
		tasks_submit(tasks_alloc(i % 3 ? small : large, dst[i], i));
	}
	tasks_wait(TASKS_NUM);
	for (size_t i = 0; i < TASKS_NUM; i++)
		tasks_drop(dst[i]);
	tasks_drop(small);
	tasks_drop(large);
	tasks_stop();
}

static void all_tasks_allocated_is_no_memory(void **state)
{
	struct doca_dma_task_memcpy *all[TASKS_NUM], *more = NULL;
	union doca_data none = {0};

	assert_error(doca_dma_task_memcpy_alloc_init(tasks.dma, NULL, NULL, none, &more),
		     DOCA_ERROR_BAD_STATE);
	tasks_start();
	for (size_t i = 0; i < TASKS_NUM; i++)
		all[i] = tasks_alloc(NULL, NULL, 0);
	assert_error(doca_dma_task_memcpy_alloc_init(tasks.dma, NULL, NULL, none, &more),
		     DOCA_ERROR_NO_MEMORY);
	assert_null(more);
	assert_error(doca_dma_task_memcpy_alloc_init(tasks.dma, NULL, NULL, none, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_dma_task_memcpy_as_task(all[0]));
	all[0] = tasks_alloc(NULL, NULL, 0);
	for (size_t i = 0; i < TASKS_NUM; i++)
		doca_task_free(doca_dma_task_memcpy_as_task(all[i]));
	tasks_stop();
}

static void bad_tasks_fail_in_their_callback(void **state)
{
	struct doca_buf *some = tasks_source(0, 100), *nothing = tasks_source(0, 0);
	struct doca_buf *narrow = tasks_room(0, 99), *wide = tasks_room(0, 4096);
	struct doca_buf *used = tasks_room(0, 199); /* its room is behind the data */
	static const struct {
		int src, dst;
		doca_error_t error;
	} cases[] = {{0, 3, DOCA_ERROR_IO_FAILED},
		     {1, 2, DOCA_ERROR_INVALID_VALUE},
		     {1, 4, DOCA_ERROR_INVALID_VALUE},
		     {-1, 3, DOCA_ERROR_INVALID_VALUE},
		     {1, -1, DOCA_ERROR_INVALID_VALUE}};
	struct doca_buf *bufs[] = {nothing, some, narrow, wide, used};

	assert_ok(doca_buf_set_data_len(used, 100));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct doca_buf *src = cases[i].src < 0 ? NULL : bufs[cases[i].src];
		struct doca_buf *dst = cases[i].dst < 0 ? NULL : bufs[cases[i].dst];

		assert_error(copy(src, dst), cases[i].error);
		assert_int_equal(tasks_state(), DOCA_CTX_STATE_IDLE);
		tasks_start();
		assert_error(try_submit(src, dst), DOCA_ERROR_INVALID_VALUE);
		tasks_stop();
	}
	assert_int_equal(len_of(wide), 0);
	assert_int_equal(tasks.num_done, 0);
	for (size_t i = 0; i < 5; i++)
		tasks_drop(bufs[i]);
}

static void more_than_the_maximum_is_io_failed(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(tasks.dev);
	struct doca_buf *src, *dst;
	uint64_t max = 0;

	assert_ok(doca_dma_cap_task_memcpy_is_supported(info));
	assert_ok(doca_dma_cap_task_memcpy_get_max_buf_size(info, &max));
	assert_true(max >= 2097152);
	if (max / TASKS_LEN + 1 > 32)
		skip(); /* an RDMA message is larger than the lists of this test */
	src = tasks_source(0, TASKS_LEN);
	dst = tasks_room(0, TASKS_LEN);
	for (size_t n = TASKS_LEN; n < max; n += TASKS_LEN) {
		assert_ok(doca_buf_chain_list(src, tasks_source(0, TASKS_LEN)));
		assert_ok(doca_buf_chain_list(dst, tasks_room(0, TASKS_LEN)));
	}
	assert_ok(copy(src, dst)); /* the maximum itself */
	tasks_stop();
	tasks_drop(dst);
	dst = tasks_room(0, TASKS_LEN);
	for (size_t n = 0; n < max; n += TASKS_LEN)
		assert_ok(doca_buf_chain_list(dst, tasks_room(0, TASKS_LEN)));
	assert_ok(doca_buf_chain_list(src, tasks_source(0, 1)));
	assert_error(copy(src, dst), DOCA_ERROR_IO_FAILED);
	tasks_drop(src);
	tasks_drop(dst);
}

static void lists_longer_than_the_maximum_fail(void **state)
{
	struct doca_buf *src = tasks_source(0, 1), *dst = tasks_room(0, 4096);
	uint32_t max = 0;

	assert_ok(doca_dma_cap_task_memcpy_get_max_buf_list_len(doca_dev_as_devinfo(tasks.dev),
								&max));
	for (uint32_t i = 0; i < max; i++)
		assert_ok(doca_buf_chain_list(src, tasks_source(i, 1)));
	assert_error(copy(src, dst), DOCA_ERROR_IO_FAILED);
	tasks_drop(src);
	tasks_drop(dst);
}

static struct doca_mmap *started(uint8_t *bytes, size_t len, uint32_t access)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, bytes, len));
	assert_ok(doca_mmap_set_permissions(mmap, access));
	assert_ok(doca_mmap_add_dev(mmap, tasks.dev));
	assert_ok(doca_mmap_start(mmap));
	return mmap;
}

static void write_to_read_only_map_is_not_permitted(void **state)
{
	static uint8_t bytes[4096];
	struct doca_mmap *mmap = started(bytes, sizeof(bytes), DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *src = tasks_source(0, 64), *dst;

	assert_ok(doca_buf_inventory_buf_get_by_addr(tasks.inventory, mmap, bytes, sizeof(bytes),
						     &dst));
	assert_error(copy(src, dst), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(tasks_state(), DOCA_CTX_STATE_IDLE);
	assert_int_equal(len_of(dst), 0);
	assert_int_equal(bytes[0], 0);
	assert_int_equal(tasks.num_failed, 1);
	tasks_drop(src);
	tasks_drop(dst);
	assert_ok(doca_mmap_destroy(mmap));
}

static void tasks_behind_a_failed_one_are_flushed(void **state)
{
	static uint8_t bytes[4096];
	struct doca_mmap *mmap = started(bytes, sizeof(bytes), DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *src = tasks_source(0, 64), *bad, *dst = tasks_room(0, TASKS_LEN);

	assert_ok(doca_buf_inventory_buf_get_by_addr(tasks.inventory, mmap, bytes, sizeof(bytes),
						     &bad));
	tasks_start();
	tasks_submit(tasks_alloc(src, dst, 1));
	tasks_submit(tasks_alloc(src, bad, 2));
	for (uint64_t i = 3; i <= TASKS_NUM; i++)
		tasks_submit(tasks_alloc(src, dst, i));
	tasks_wait(TASKS_NUM);
	assert_int_equal(tasks.num_done, 1);
	assert_int_equal(tasks.num_failed, TASKS_NUM - 1);
	assert_int_equal(tasks.last_error, DOCA_ERROR_SHUTDOWN);
	assert_int_equal(tasks_state(), DOCA_CTX_STATE_IDLE);
	assert_int_equal(len_of(dst), 64);
	/* It starts again like a new context. */
	assert_ok(copy(src, dst));
	tasks_stop();
	tasks_drop(src);
	tasks_drop(bad);
	tasks_drop(dst);
	assert_ok(doca_mmap_destroy(mmap));
}

static void maps_without_the_device_fail_the_task(void **state)
{
	static uint8_t bytes[4096];
	struct doca_mmap *mmap =
		started(bytes, sizeof(bytes),
			DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ);
	struct doca_mmap *peer;
	struct doca_buf *src, *dst = tasks_room(0, 4096);
	const void *desc;
	size_t len;

	assert_ok(doca_mmap_export_rdma(mmap, tasks.dev, &desc, &len));
	assert_ok(doca_mmap_create_from_export(NULL, desc, len, tasks.dev, &peer));
	assert_ok(doca_buf_inventory_buf_get_by_data(tasks.inventory, peer, bytes, 64, &src));
	assert_error(copy(src, dst), DOCA_ERROR_NOT_SUPPORTED);
	tasks_drop(src);
	tasks_drop(dst);
	assert_ok(doca_mmap_destroy(peer));
	assert_ok(doca_mmap_destroy(mmap));
}

static void map_that_was_stopped_fails_the_task(void **state)
{
	static uint8_t bytes[4096];
	struct doca_buf *src, *dst = tasks_room(0, 4096);
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, bytes, sizeof(bytes)));
	assert_ok(doca_mmap_add_dev(mmap, tasks.dev));
	/* So it can stop although it has a buf. */
	assert_ok(doca_mmap_enable_thread_safety(mmap));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_buf_inventory_buf_get_by_data(tasks.inventory, mmap, bytes, 64, &src));
	assert_ok(copy(src, dst));
	assert_ok(doca_mmap_stop(mmap));
	assert_error(copy(src, dst), DOCA_ERROR_BAD_STATE);
	tasks_drop(src);
	tasks_drop(dst);
	assert_ok(doca_mmap_destroy(mmap));
}

static void imported_maps_are_read_and_written(void **state)
{
	static uint8_t bytes[8192];
	struct doca_mmap *mmap =
		started(bytes, sizeof(bytes),
			DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	struct doca_buf *local = tasks_source(0, 4096), *room = tasks_room(0, 4096), *far;
	struct doca_mmap *import;

	import = fixture_import_pci(tasks.dev, mmap);
	assert_ok(doca_buf_inventory_buf_get_by_addr(tasks.inventory, import, bytes, 4096, &far));
	assert_ok(copy(local, far));
	assert_memory_equal(bytes, tasks.bytes, 4096);
	assert_ok(copy(far, room));
	assert_memory_equal(written(0), tasks.bytes, 4096);
	tasks_drop(far);
	assert_ok(doca_buf_inventory_buf_get_by_addr(tasks.inventory, import, bytes, 4096, &far));
	assert_ok(doca_mmap_stop(mmap));
	assert_error(copy(local, far), DOCA_ERROR_NOT_PERMITTED);
	tasks_drop(far);
	tasks_drop(local);
	tasks_drop(room);
	assert_ok(doca_mmap_destroy(import));
	assert_ok(doca_mmap_destroy(mmap));
}

static void ignore_end(struct doca_dma_task_memcpy *task, union doca_data task_data,
		       union doca_data ctx_data)
{
}

static void configuration_has_its_limits(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(tasks.dev);
	doca_dma_task_memcpy_completion_cb_t cb = ignore_end;
	uint32_t max = 0;
	uint64_t size;

	assert_ok(doca_dma_cap_get_max_num_tasks(tasks.dma, &max));
	assert_true(max >= 1024);
	assert_error(doca_dma_task_memcpy_set_conf(tasks.dma, cb, cb, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dma_task_memcpy_set_conf(tasks.dma, cb, cb, max + 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dma_task_memcpy_set_conf(tasks.dma, NULL, cb, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dma_task_memcpy_set_conf(tasks.dma, cb, NULL, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_dma_task_memcpy_set_conf(tasks.dma, cb, cb, max));
	tasks_start();
	assert_error(doca_dma_task_memcpy_set_conf(tasks.dma, cb, cb, 1), DOCA_ERROR_BAD_STATE);
	tasks_stop();
	assert_error(doca_dma_cap_task_memcpy_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dma_cap_task_memcpy_get_max_buf_size(info, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dma_cap_task_memcpy_get_max_buf_size(NULL, &size),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dma_cap_task_memcpy_get_max_buf_list_len(info, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dma_cap_get_max_num_tasks(NULL, &max), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dma_get_gpu_handle(tasks.dma, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void accessors_give_what_was_set(void **state)
{
	struct doca_buf *src = tasks_source(0, 1), *dst = tasks_room(0, 1);
	struct doca_dma_task_memcpy *task;
	struct doca_task *base;

	tasks_start();
	task = tasks_alloc(NULL, NULL, 5);
	base = doca_dma_task_memcpy_as_task(task);
	assert_ptr_equal(doca_task_get_ctx(base), tasks.ctx);
	assert_int_equal(doca_task_get_user_data(base).u64, 5);
	assert_null(doca_dma_task_memcpy_get_src(task));
	doca_dma_task_memcpy_set_src(task, src);
	doca_dma_task_memcpy_set_dst(task, dst);
	assert_ptr_equal(doca_dma_task_memcpy_get_src(task), src);
	assert_ptr_equal(doca_dma_task_memcpy_get_dst(task), dst);
	doca_task_free(base);
	tasks_drop(src);
	tasks_drop(dst);
	tasks_stop();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		task_test(data_goes_behind_the_data),
		task_test(each_buf_of_a_list_is_written_behind_its_data),
		task_test(only_the_data_is_read),
		task_test(lists_are_read_and_filled_in_order),
		task_test(tasks_may_have_longer_lists_than_the_queue),
		task_test(bufs_that_shrink_after_submission_fail_the_task),
		task_test(tasks_end_in_order),
		task_test(all_tasks_allocated_is_no_memory),
		task_test(bad_tasks_fail_in_their_callback),
		task_test(more_than_the_maximum_is_io_failed),
		task_test(lists_longer_than_the_maximum_fail),
		task_test(write_to_read_only_map_is_not_permitted),
		task_test(tasks_behind_a_failed_one_are_flushed),
		task_test(maps_without_the_device_fail_the_task),
		task_test(map_that_was_stopped_fails_the_task),
		task_test(imported_maps_are_read_and_written),
		task_test(configuration_has_its_limits),
		task_test(accessors_give_what_was_set),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests_name("DMA tasks", tests, NULL, NULL);
}
