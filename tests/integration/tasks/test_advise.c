/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Cache invalidation: a test for each rule of doca_mmap_advise.h. */
#include <poll.h>
#include <string.h>

#include <doca_mmap_advise.h>
#include <dpumap/dev.h>

#include "tasks.h"

#define NUM 4u
#define LEN 4096u

typedef struct doca_mmap_advise_task_invalidate_cache advise_task;

/* On the engine of the fixture's DMA context. */
static struct {
	struct doca_mmap_advise *advise;
	struct doca_ctx *ctx;
	struct doca_buf *buf; /* LEN bytes of data */
	unsigned int num_done, num_failed;
	uint64_t last_data;
	doca_error_t last_error;
	void (*on_task)(advise_task *task); /* if NULL, the task is freed */
} a;

static struct doca_task *base_of(advise_task *task)
{
	return doca_mmap_advise_task_invalidate_cache_as_doca_task(task);
}

static void record(advise_task *task, union doca_data task_data, union doca_data ctx_data)
{
	assert_ptr_equal(ctx_data.ptr, &a);
	assert_false(tasks.inside);
	a.last_data = task_data.u64;
	a.last_error = doca_task_get_status(base_of(task));
	if (a.on_task)
		a.on_task(task);
	else
		doca_task_free(base_of(task));
}

static void on_success(advise_task *task, union doca_data task_data, union doca_data ctx_data)
{
	a.num_done++;
	record(task, task_data, ctx_data);
}

static void on_error(advise_task *task, union doca_data task_data, union doca_data ctx_data)
{
	a.num_failed++;
	record(task, task_data, ctx_data);
}

static int advise_open(void **state)
{
	doca_error_t result;

	if (tasks_open(state))
		return -1;
	memset(&a, 0, sizeof(a));
	result = doca_mmap_advise_create(tasks.dev, &a.advise);
	if (result != DOCA_SUCCESS)
		return -1;
	a.ctx = doca_mmap_advise_as_ctx(a.advise);
	DOCA_ERROR_PROPAGATE(result, doca_mmap_advise_task_invalidate_cache_set_conf(
					     a.advise, on_success, on_error, NUM));
	DOCA_ERROR_PROPAGATE(result, doca_pe_connect_ctx(tasks.pe, a.ctx));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_user_data(a.ctx, (union doca_data){.ptr = &a}));
	a.buf = tasks_source(0, LEN);
	return result == DOCA_SUCCESS ? 0 : -1;
}

static int advise_close(void **state)
{
	tasks_drop(a.buf);
	if (a.advise && doca_mmap_advise_destroy(a.advise) != DOCA_SUCCESS)
		return -1;
	return tasks_close(state);
}

#define advise_test(function) cmocka_unit_test_setup_teardown(function, advise_open, advise_close)

static advise_task *alloc(struct doca_buf *buf, uint64_t data)
{
	advise_task *task = NULL;

	assert_ok(doca_mmap_advise_task_invalidate_cache_alloc_init(
		a.advise, buf, (union doca_data){.u64 = data}, &task));
	return task;
}

static void submit(advise_task *task)
{
	tasks.inside = true;
	assert_ok(doca_task_submit(base_of(task)));
	tasks.inside = false;
}

static enum doca_ctx_states state_of(const struct doca_ctx *ctx)
{
	enum doca_ctx_states now;

	assert_ok(doca_ctx_get_state(ctx, &now));
	return now;
}

static void null_is_invalid(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(tasks.dev);
	union doca_data data = {.u64 = 0};
	struct doca_mmap_advise *created = NULL;
	advise_task *task = NULL;
	uint64_t size = 0;

	assert_error(doca_mmap_advise_create(NULL, &created), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_advise_create(tasks.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_advise_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_mmap_advise_as_ctx(NULL));
	assert_null(doca_mmap_advise_task_invalidate_cache_as_doca_task(NULL));
	assert_error(doca_mmap_advise_cap_task_cache_invalidate_is_supported(NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(NULL, &size),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(info, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_advise_task_invalidate_cache_set_conf(NULL, on_success, on_error, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_advise_task_invalidate_cache_set_conf(a.advise, NULL, on_error, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_advise_task_invalidate_cache_set_conf(a.advise, on_success, NULL, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_advise_task_invalidate_cache_alloc_init(NULL, a.buf, data, &task),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_advise_task_invalidate_cache_alloc_init(a.advise, a.buf, data, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_null(created);
	assert_null(task);
}

static void every_device_is_capable(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(tasks.dev);
	uint64_t size = 0;

	assert_ok(doca_mmap_advise_cap_task_cache_invalidate_is_supported(info));
	assert_ok(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(info, &size));
	assert_true(size >= TASKS_LEN);
}

static void start_without_conf_is_bad_state(void **state)
{
	struct doca_mmap_advise *other;

	assert_ok(doca_mmap_advise_create(tasks.dev, &other));
	assert_ok(doca_pe_connect_ctx(tasks.pe, doca_mmap_advise_as_ctx(other)));
	assert_error(doca_ctx_start(doca_mmap_advise_as_ctx(other)), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_advise_destroy(other));
}

static void set_conf_without_tasks_is_invalid(void **state)
{
	assert_error(
		doca_mmap_advise_task_invalidate_cache_set_conf(a.advise, on_success, on_error, 0),
		DOCA_ERROR_INVALID_VALUE);
}

static void set_conf_unless_idle_is_not_permitted(void **state)
{
	assert_ok(doca_ctx_start(a.ctx));
	assert_error(
		doca_mmap_advise_task_invalidate_cache_set_conf(a.advise, on_success, on_error, 1),
		DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_ctx_stop(a.ctx));
	assert_ok(doca_mmap_advise_task_invalidate_cache_set_conf(a.advise, on_success, on_success,
								  1));
}

static void start_and_stop_are_synchronous(void **state)
{
	for (int i = 0; i < 2; i++) {
		assert_ok(doca_ctx_start(a.ctx));
		assert_int_equal(state_of(a.ctx), DOCA_CTX_STATE_RUNNING);
		assert_error(doca_mmap_advise_destroy(a.advise), DOCA_ERROR_IN_USE);
		assert_ok(doca_ctx_stop(a.ctx));
		assert_int_equal(state_of(a.ctx), DOCA_CTX_STATE_IDLE);
	}
}

static void alloc_unless_running_is_bad_state(void **state)
{
	advise_task *task = NULL;

	assert_error(doca_mmap_advise_task_invalidate_cache_alloc_init(
			     a.advise, a.buf, (union doca_data){.u64 = 0}, &task),
		     DOCA_ERROR_BAD_STATE);
	assert_null(task);
}

static void alloc_beyond_the_configured_number_is_no_memory(void **state)
{
	advise_task *taken[NUM], *extra = NULL;

	assert_ok(doca_ctx_start(a.ctx));
	for (unsigned int i = 0; i < NUM; i++)
		taken[i] = alloc(a.buf, i);
	assert_error(doca_mmap_advise_task_invalidate_cache_alloc_init(
			     a.advise, a.buf, (union doca_data){.u64 = 0}, &extra),
		     DOCA_ERROR_NO_MEMORY);
	assert_null(extra);
	doca_task_free(base_of(taken[1]));
	taken[1] = alloc(a.buf, 1);
	for (unsigned int i = 0; i < NUM; i++)
		doca_task_free(base_of(taken[i]));
	assert_ok(doca_ctx_stop(a.ctx));
}

static void buf_can_be_set_and_read(void **state)
{
	struct doca_buf *other = tasks_source(LEN, LEN);
	advise_task *task;

	assert_ok(doca_ctx_start(a.ctx));
	task = alloc(a.buf, 7);
	assert_ptr_equal(base_of(task), task);
	assert_ptr_equal(doca_mmap_advise_task_invalidate_cache_get_buf(task), a.buf);
	doca_mmap_advise_task_invalidate_cache_set_buf(task, other);
	assert_ptr_equal(doca_mmap_advise_task_invalidate_cache_get_buf(task), other);
	assert_int_equal(doca_task_get_user_data(base_of(task)).u64, 7);
	doca_task_free(base_of(task));
	assert_ptr_equal(doca_mmap_advise_task_invalidate_cache_get_buf(task), other);
	assert_ok(doca_ctx_stop(a.ctx));
	assert_ptr_equal(doca_mmap_advise_task_invalidate_cache_get_buf(task), other);
	tasks_drop(other);
}

static void task_completes_from_progress_and_changes_nothing(void **state)
{
	uint8_t before[LEN];
	size_t num = 0, len = 0;

	memcpy(before, tasks.bytes, LEN);
	assert_ok(doca_ctx_start(a.ctx));
	submit(alloc(a.buf, 11));
	assert_ok(doca_ctx_get_num_inflight_tasks(a.ctx, &num));
	assert_int_equal(num, 1);
	assert_int_equal(a.num_done, 0);
	assert_int_equal(doca_pe_progress(tasks.pe), 1);
	assert_int_equal(a.num_done, 1);
	assert_int_equal(a.last_data, 11);
	assert_ok(a.last_error);
	assert_int_equal(doca_pe_progress(tasks.pe), 0);
	assert_memory_equal(tasks.bytes, before, LEN);
	assert_ok(doca_buf_get_data_len(a.buf, &len));
	assert_int_equal(len, LEN);
	assert_ok(doca_ctx_stop(a.ctx));
}

static void tasks_complete_in_order(void **state)
{
	assert_ok(doca_ctx_start(a.ctx));
	for (unsigned int i = 0; i < NUM; i++)
		submit(alloc(a.buf, i));
	for (unsigned int i = 0; i < NUM; i++) {
		assert_int_equal(doca_pe_progress(tasks.pe), 1);
		assert_int_equal(a.last_data, i);
	}
	assert_ok(doca_ctx_stop(a.ctx));
}

static void resubmit(advise_task *task)
{
	if (a.num_done == 50)
		doca_task_free(base_of(task));
	else
		submit(task);
}

static void callback_may_submit_again(void **state)
{
	a.on_task = resubmit;
	assert_ok(doca_ctx_start(a.ctx));
	submit(alloc(a.buf, 0));
	for (unsigned int i = 0; i < 50; i++)
		assert_int_equal(doca_pe_progress(tasks.pe), 1);
	assert_int_equal(doca_pe_progress(tasks.pe), 0);
	assert_ok(doca_ctx_stop(a.ctx));
}

/* As programs use it: after a copy, from the callback of the copy. */
static advise_task *prepared;

static void invalidate(struct tasks *t, struct doca_dma_task_memcpy *task)
{
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	assert_ok(doca_task_submit(base_of(prepared)));
}

static void task_may_be_submitted_from_the_callback_of_a_copy(void **state)
{
	struct doca_buf *dst = tasks_room(0, LEN);

	tasks.on_task = invalidate;
	tasks_start();
	assert_ok(doca_ctx_start(a.ctx));
	prepared = alloc(dst, 5);
	tasks_submit(tasks_alloc(a.buf, dst, 0));
	tasks_wait(1);
	assert_int_equal(doca_pe_progress(tasks.pe), 1);
	assert_int_equal(a.num_done, 1);
	assert_memory_equal(tasks.bytes, tasks.bytes + TASKS_LEN, LEN);
	assert_ok(doca_ctx_stop(a.ctx));
	tasks_stop();
	tasks_drop(dst);
}

static void stop_waits_for_tasks_in_flight(void **state)
{
	assert_ok(doca_ctx_start(a.ctx));
	submit(alloc(a.buf, 0));
	submit(alloc(a.buf, 1));
	assert_error(doca_ctx_stop(a.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(state_of(a.ctx), DOCA_CTX_STATE_STOPPING);
	assert_error(
		doca_mmap_advise_task_invalidate_cache_set_conf(a.advise, on_success, on_error, 1),
		DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_pe_progress(tasks.pe), 1);
	assert_int_equal(state_of(a.ctx), DOCA_CTX_STATE_STOPPING);
	assert_int_equal(doca_pe_progress(tasks.pe), 1);
	assert_int_equal(state_of(a.ctx), DOCA_CTX_STATE_IDLE);
	assert_int_equal(a.num_done, 2);
}

static void stop_waits_for_tasks_to_be_freed(void **state)
{
	advise_task *task;

	assert_ok(doca_ctx_start(a.ctx));
	task = alloc(a.buf, 0);
	assert_error(doca_ctx_stop(a.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_error(doca_task_submit(base_of(task)), DOCA_ERROR_BAD_STATE);
	doca_task_free(base_of(task));
	assert_int_equal(state_of(a.ctx), DOCA_CTX_STATE_IDLE);
}

static void free_and_stop(advise_task *task)
{
	doca_task_free(base_of(task));
	assert_error(doca_ctx_stop(a.ctx), DOCA_ERROR_IN_PROGRESS);
}

static void callback_may_stop(void **state)
{
	a.on_task = free_and_stop;
	assert_ok(doca_ctx_start(a.ctx));
	submit(alloc(a.buf, 0));
	assert_int_equal(doca_pe_progress(tasks.pe), 1);
	assert_int_equal(state_of(a.ctx), DOCA_CTX_STATE_IDLE);
}

static void keep(advise_task *task)
{
	(void)task;
}

static void task_freed_in_flight_is_freed_after_its_callback(void **state)
{
	advise_task *task;

	a.on_task = keep;
	assert_ok(doca_ctx_start(a.ctx));
	task = alloc(a.buf, 0);
	submit(task);
	doca_task_free(base_of(task));
	assert_error(doca_ctx_stop(a.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_pe_progress(tasks.pe), 1);
	assert_int_equal(a.num_done, 1);
	assert_int_equal(state_of(a.ctx), DOCA_CTX_STATE_IDLE);
}

/* The task fails with that error, and so do all checks before it. */
static void assert_fails(struct doca_buf *buf, doca_error_t wanted)
{
	unsigned int failed = a.num_failed;
	advise_task *task;

	assert_ok(doca_ctx_start(a.ctx));
	task = alloc(buf, 0);
	assert_error(doca_task_try_submit(base_of(task)), DOCA_ERROR_INVALID_VALUE);
	submit(task);
	submit(alloc(a.buf, 1));
	assert_int_equal(doca_pe_progress(tasks.pe), 1);
	assert_int_equal(a.num_failed, failed + 1);
	assert_error(a.last_error, wanted);
	assert_int_equal(state_of(a.ctx), DOCA_CTX_STATE_STOPPING);
	assert_int_equal(doca_pe_progress(tasks.pe), 1);
	assert_int_equal(a.num_failed, failed + 1);
	assert_int_equal(a.last_data, 1);
	assert_int_equal(state_of(a.ctx), DOCA_CTX_STATE_IDLE);
}

static void task_without_a_buf_fails(void **state)
{
	assert_fails(NULL, DOCA_ERROR_INVALID_VALUE);
}

static void task_with_a_released_buf_fails(void **state)
{
	struct doca_buf *buf = tasks_source(0, 1);

	tasks_drop(buf);
	assert_fails(buf, DOCA_ERROR_BAD_STATE);
}

static struct doca_mmap *blank_map(void)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_enable_thread_safety(mmap));
	assert_ok(doca_mmap_set_memrange(mmap, tasks.bytes, LEN));
	return mmap;
}

static void task_fails_on(struct doca_mmap *mmap, bool stop, doca_error_t wanted)
{
	struct doca_buf *buf, *head = tasks_source(0, 1);

	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_buf_inventory_buf_get_by_data(tasks.inventory, mmap, tasks.bytes, 1, &buf));
	if (stop)
		assert_ok(doca_mmap_stop(mmap));
	assert_fails(buf, wanted);
	/* Also behind the head of a list. */
	assert_ok(doca_buf_chain_list(head, buf));
	assert_fails(head, wanted);
	tasks_drop(head);
	assert_ok(doca_mmap_destroy(mmap));
}

static void task_on_a_stopped_map_fails(void **state)
{
	struct doca_mmap *mmap = blank_map();

	assert_ok(doca_mmap_add_dev(mmap, tasks.dev));
	task_fails_on(mmap, true, DOCA_ERROR_BAD_STATE);
}

static void task_on_a_map_without_the_device_fails(void **state)
{
	struct doca_mmap *mmap = blank_map();
	struct doca_dev *other;

	assert_ok(dpumap_dev_open_own(doca_dev_as_devinfo(tasks.dev), &other));
	assert_ok(doca_mmap_add_dev(mmap, other));
	task_fails_on(mmap, false, DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_dev_close(other));
}

static void notification_is_signaled_for_finished_tasks(void **state)
{
	doca_notification_handle_t handle;
	struct pollfd waiting = {.events = POLLIN};

	assert_ok(doca_pe_get_notification_handle(tasks.pe, &handle));
	waiting.fd = handle;
	assert_ok(doca_ctx_start(a.ctx));
	/* Submitted before the request, and after it. */
	for (int before = 0; before < 2; before++) {
		if (before)
			submit(alloc(a.buf, 0));
		assert_ok(doca_pe_request_notification(tasks.pe));
		if (!before) {
			assert_int_equal(poll(&waiting, 1, 0), 0);
			submit(alloc(a.buf, 0));
		}
		assert_int_equal(poll(&waiting, 1, FIXTURE_TIMEOUT_MS), 1);
		assert_ok(doca_pe_clear_notification(tasks.pe, handle));
		assert_int_equal(doca_pe_progress(tasks.pe), 1);
		assert_int_equal(doca_pe_progress(tasks.pe), 0);
	}
	assert_ok(doca_ctx_stop(a.ctx));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		advise_test(null_is_invalid),
		advise_test(every_device_is_capable),
		advise_test(start_without_conf_is_bad_state),
		advise_test(set_conf_without_tasks_is_invalid),
		advise_test(set_conf_unless_idle_is_not_permitted),
		advise_test(start_and_stop_are_synchronous),
		advise_test(alloc_unless_running_is_bad_state),
		advise_test(alloc_beyond_the_configured_number_is_no_memory),
		advise_test(buf_can_be_set_and_read),
		advise_test(task_completes_from_progress_and_changes_nothing),
		advise_test(tasks_complete_in_order),
		advise_test(callback_may_submit_again),
		advise_test(task_may_be_submitted_from_the_callback_of_a_copy),
		advise_test(stop_waits_for_tasks_in_flight),
		advise_test(stop_waits_for_tasks_to_be_freed),
		advise_test(callback_may_stop),
		advise_test(task_freed_in_flight_is_freed_after_its_callback),
		advise_test(task_without_a_buf_fails),
		advise_test(task_with_a_released_buf_fails),
		advise_test(task_on_a_stopped_map_fails),
		advise_test(task_on_a_map_without_the_device_fails),
		advise_test(notification_is_signaled_for_finished_tasks),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
