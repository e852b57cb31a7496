/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Contexts, tasks and the progress engine: states, callbacks, and what callbacks may do. */
#include <poll.h>
#include <unistd.h>

#include "tasks.h"

#define IDLE	 DOCA_CTX_STATE_IDLE
#define RUNNING	 DOCA_CTX_STATE_RUNNING
#define STOPPING DOCA_CTX_STATE_STOPPING

static struct doca_buf *src, *dst;

static struct doca_dma_task_memcpy *small_task(uint64_t data)
{
	return tasks_alloc(src, dst, data);
}

static void get_bufs(void)
{
	src = tasks_source(0, 64);
	dst = tasks_room(0, TASKS_LEN);
}

static void drop_bufs(void)
{
	tasks_drop(src);
	tasks_drop(dst);
}

static void new_context_is_idle_and_blank(void **state)
{
	union doca_data data = {.u64 = 1};
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	size_t num = 1;

	assert_ok(doca_dma_create(tasks.dev, &dma));
	ctx = doca_dma_as_ctx(dma);
	assert_ok(doca_ctx_get_user_data(ctx, &data));
	assert_int_equal(data.u64, 0);
	assert_ok(doca_ctx_get_num_inflight_tasks(ctx, &num));
	assert_int_equal(num, 0);
	assert_error(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	assert_ok(doca_ctx_stop(ctx));
	assert_ok(doca_dma_destroy(dma));
}

static void null_is_invalid(void **state)
{
	enum doca_ctx_states now;
	union doca_data data;
	size_t num;

	assert_error(doca_ctx_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_ctx_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_ctx_get_state(NULL, &now), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_ctx_get_state(tasks.ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_ctx_get_user_data(tasks.ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_ctx_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_ctx_get_num_inflight_tasks(NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_pe_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_pe_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_pe_connect_ctx(NULL, tasks.ctx), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_pe_connect_ctx(tasks.pe, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_pe_request_notification(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_pe_clear_notification(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_task_try_submit(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_dma_as_ctx(NULL));
	assert_null(doca_dma_task_memcpy_as_task(NULL));
	doca_task_free(NULL);
}

static void start_and_stop_are_synchronous(void **state)
{
	tasks_start();
	assert_int_equal(tasks_state(), RUNNING);
	assert_error(doca_ctx_start(tasks.ctx), DOCA_ERROR_BAD_STATE);
	assert_error(doca_dma_destroy(tasks.dma), DOCA_ERROR_IN_USE);
	assert_ok(doca_ctx_stop(tasks.ctx));
	assert_ok(doca_ctx_stop(tasks.ctx));
	assert_int_equal(tasks.num_changes, 2);
	assert_change(0, IDLE, RUNNING);
	assert_change(1, RUNNING, IDLE);
	tasks_start();
	tasks_stop();
	assert_int_equal(tasks.num_changes, 4);
}

static void context_has_one_engine(void **state)
{
	struct doca_pe *other;

	assert_ok(doca_pe_create(&other));
	assert_error(doca_pe_connect_ctx(other, tasks.ctx), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_pe_destroy(tasks.pe), DOCA_ERROR_IN_USE);
	tasks_start();
	assert_error(doca_pe_connect_ctx(other, tasks.ctx), DOCA_ERROR_BAD_STATE);
	tasks_stop();
	assert_ok(doca_pe_destroy(other));
}

static void start_without_conf_is_refused(void **state)
{
	struct doca_dma *dma;

	assert_ok(doca_dma_create(tasks.dev, &dma));
	assert_ok(doca_pe_connect_ctx(tasks.pe, doca_dma_as_ctx(dma)));
	assert_error(doca_ctx_start(doca_dma_as_ctx(dma)), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dma_destroy(dma));
}

static void submit_never_calls_back(void **state)
{
	size_t num;

	tasks_start();
	get_bufs();
	tasks_submit(small_task(7)); /* asserts it */
	assert_ok(doca_ctx_get_num_inflight_tasks(tasks.ctx, &num));
	assert_int_equal(num, 1);
	assert_ok(doca_pe_get_num_inflight_tasks(tasks.pe, &num));
	assert_int_equal(num, 1);
	tasks_wait(1);
	assert_int_equal(tasks.last_data, 7);
	assert_ok(doca_ctx_get_num_inflight_tasks(tasks.ctx, &num));
	assert_int_equal(num, 0);
	assert_int_equal(doca_pe_progress(tasks.pe), 0);
	drop_bufs();
	tasks_stop();
}

static void stop_waits_for_tasks_in_flight(void **state)
{
	tasks_start();
	get_bufs();
	for (unsigned int i = 0; i < TASKS_NUM; i++)
		tasks_submit(small_task(i));
	assert_error(doca_ctx_stop(tasks.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(tasks_state(), STOPPING);
	assert_error(doca_dma_destroy(tasks.dma), DOCA_ERROR_IN_USE);
	assert_error(doca_ctx_stop(tasks.ctx), DOCA_ERROR_IN_PROGRESS);
	tasks_wait(TASKS_NUM);
	assert_int_equal(tasks.num_changes, 3);
	assert_change(1, RUNNING, STOPPING);
	assert_change(2, STOPPING, IDLE);
	drop_bufs();
}

static void stop_waits_for_tasks_to_be_freed(void **state)
{
	struct doca_dma_task_memcpy *task;

	tasks_start();
	get_bufs();
	task = small_task(0);
	assert_error(doca_ctx_stop(tasks.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_error(doca_task_submit(doca_dma_task_memcpy_as_task(task)), DOCA_ERROR_BAD_STATE);
	assert_error(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)),
		     DOCA_ERROR_BAD_STATE);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	assert_int_equal(tasks_state(), IDLE);
	assert_change(2, STOPPING, IDLE);
	drop_bufs();
}

static void resubmit(struct tasks *t, struct doca_dma_task_memcpy *task)
{
	struct doca_task *base = doca_dma_task_memcpy_as_task(task);

	if (t->num_done == 100) {
		doca_task_free(base);
		return;
	}
	doca_task_set_user_data(base, (union doca_data){.u64 = t->num_done});
	tasks_submit(task);
}

static void callbacks_may_submit_again(void **state)
{
	tasks.on_task = resubmit;
	tasks_start();
	get_bufs();
	tasks_submit(small_task(0));
	tasks_wait(100);
	assert_int_equal(tasks.last_data, 99);
	drop_bufs();
	tasks_stop();
}

static void free_and_stop(struct tasks *t, struct doca_dma_task_memcpy *task)
{
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	assert_error(doca_ctx_stop(t->ctx), DOCA_ERROR_IN_PROGRESS);
}

static void callbacks_may_stop(void **state)
{
	tasks.on_task = free_and_stop;
	tasks_start();
	get_bufs();
	tasks_submit(small_task(0));
	tasks_submit(small_task(1));
	tasks_wait(2);
	assert_int_equal(tasks_state(), IDLE);
	assert_int_equal(tasks.changes[tasks.num_changes - 1].next, IDLE);
	drop_bufs();
}

static void submit_two(struct tasks *t, const struct change *change)
{
	if (change->next != RUNNING)
		return;
	get_bufs();
	tasks_submit(small_task(1));
	tasks_submit(small_task(2));
}

static void running_callback_may_submit(void **state)
{
	tasks.on_state = submit_two;
	tasks_start();
	tasks_wait(2);
	drop_bufs();
	tasks_stop();
}

static void stop_when_running(struct tasks *t, const struct change *change)
{
	if (change->next == RUNNING)
		assert_ok(doca_ctx_stop(t->ctx));
}

static void running_callback_may_stop(void **state)
{
	tasks.on_state = stop_when_running;
	tasks_start();
	assert_int_equal(tasks_state(), IDLE);
	assert_int_equal(tasks.num_changes, 2);
	assert_change(0, IDLE, RUNNING);
	assert_change(1, RUNNING, IDLE);
}

static void submit_and_stop(struct tasks *t, const struct change *change)
{
	if (change->next != RUNNING)
		return;
	submit_two(t, change);
	assert_error(doca_ctx_stop(t->ctx), DOCA_ERROR_IN_PROGRESS);
}

static void running_callback_may_submit_and_stop(void **state)
{
	tasks.on_state = submit_and_stop;
	tasks_start();
	assert_int_equal(tasks_state(), STOPPING);
	tasks_wait(2);
	assert_int_equal(tasks.num_changes, 3);
	assert_change(2, STOPPING, IDLE);
	drop_bufs();
}

static void destroy_when_idle(struct tasks *t, const struct change *change)
{
	if (change->next != IDLE)
		return;
	assert_ok(doca_dma_destroy(t->dma));
	t->dma = NULL;
}

static void idle_callback_may_destroy_inside_stop(void **state)
{
	tasks.on_state = destroy_when_idle;
	tasks_start();
	assert_ok(doca_ctx_stop(tasks.ctx));
	assert_null(tasks.dma);
}

static void idle_callback_may_destroy_after_stop_inside_completion(void **state)
{
	tasks.on_state = destroy_when_idle;
	tasks.on_task = free_and_stop;
	tasks_start();
	get_bufs();
	tasks_submit(small_task(0));
	tasks_wait(1);
	assert_null(tasks.dma);
	assert_int_equal(doca_pe_progress(tasks.pe), 0);
	drop_bufs();
}

static void stop_and_free(struct tasks *t, struct doca_dma_task_memcpy *task)
{
	assert_error(doca_ctx_stop(t->ctx), DOCA_ERROR_IN_PROGRESS);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	assert_error(doca_ctx_stop(t->ctx), DOCA_ERROR_IN_PROGRESS);
}

static void idle_callback_may_destroy_after_free_inside_completion(void **state)
{
	tasks.on_state = destroy_when_idle;
	tasks.on_task = stop_and_free;
	tasks_start();
	get_bufs();
	tasks_submit(small_task(0));
	tasks_wait(1);
	assert_null(tasks.dma);
	drop_bufs();
}

static void restart_when_idle(struct tasks *t, const struct change *change)
{
	if (change->next == IDLE && t->num_changes < 8)
		assert_ok(doca_ctx_start(t->ctx));
}

static void idle_callback_may_start_again(void **state)
{
	tasks.on_state = restart_when_idle;
	tasks_start();
	for (int i = 0; i < 4; i++)
		assert_ok(doca_ctx_stop(tasks.ctx));
	assert_int_equal(tasks_state(), IDLE);
	assert_int_equal(tasks.num_changes, 8);
}

static void failed_task_stops_its_context(void **state)
{
	struct doca_buf *nothing;

	tasks_start();
	get_bufs();
	nothing = tasks_source(0, 0);
	tasks_submit(small_task(1));
	tasks_submit(tasks_alloc(nothing, dst, 2));
	tasks_submit(small_task(3));
	tasks_wait(3);
	assert_true(tasks.num_failed >= 1);
	assert_int_equal(tasks_state(), IDLE);
	assert_int_equal(tasks.num_changes, 3);
	assert_change(1, RUNNING, STOPPING);
	assert_change(2, STOPPING, IDLE);
	tasks_drop(nothing);
	drop_bufs();
}

static void keep(struct tasks *t, struct doca_dma_task_memcpy *task)
{
	if (t->num_failed)
		assert_int_equal(tasks_state(), STOPPING);
}

static void failed_context_is_idle_once_its_tasks_are_freed(void **state)
{
	struct doca_dma_task_memcpy *bad, *spare;
	struct doca_buf *nothing;

	tasks.on_task = keep;
	tasks_start();
	get_bufs();
	nothing = tasks_source(0, 0);
	spare = small_task(0);
	bad = tasks_alloc(nothing, dst, 1);
	tasks_submit(bad);
	tasks_wait(1);
	assert_int_equal(tasks_state(), STOPPING);
	assert_error(doca_ctx_stop(tasks.ctx), DOCA_ERROR_IN_PROGRESS);
	doca_task_free(doca_dma_task_memcpy_as_task(bad));
	assert_int_equal(tasks_state(), STOPPING);
	doca_task_free(doca_dma_task_memcpy_as_task(spare));
	assert_int_equal(tasks_state(), IDLE);
	tasks_drop(nothing);
	drop_bufs();
}

static void task_in_flight_cannot_be_freed(void **state)
{
	struct doca_dma_task_memcpy *task;

	tasks_start();
	get_bufs();
	task = small_task(0);
	tasks_submit(task);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	assert_error(doca_task_try_submit(doca_dma_task_memcpy_as_task(task)),
		     DOCA_ERROR_BAD_STATE);
	tasks_wait(1);
	drop_bufs();
	tasks_stop();
}

static void unflushed_tasks_go_with_the_next_flush(void **state)
{
	tasks_start();
	get_bufs();
	for (uint64_t i = 0; i < 4; i++)
		assert_ok(doca_task_submit_ex(doca_dma_task_memcpy_as_task(small_task(i)),
					      DOCA_TASK_SUBMIT_FLAG_NONE));
	for (int i = 0; i < 1000; i++)
		assert_int_equal(doca_pe_progress(tasks.pe), 0);
	doca_ctx_flush_tasks(tasks.ctx);
	tasks_wait(4);
	assert_ok(doca_task_submit_ex(doca_dma_task_memcpy_as_task(small_task(4)),
				      DOCA_TASK_SUBMIT_FLAG_NONE));
	assert_error(doca_ctx_stop(tasks.ctx), DOCA_ERROR_IN_PROGRESS);
	tasks_wait(5);
	assert_int_equal(tasks_state(), IDLE);
	drop_bufs();
}

static bool is_readable(int timeout_ms)
{
	struct pollfd fd = {.events = POLLIN};

	assert_ok(doca_pe_get_notification_handle(tasks.pe, &fd.fd));
	return poll(&fd, 1, timeout_ms) == 1;
}

static void handle_is_readable_after_a_completion(void **state)
{
	tasks_start();
	get_bufs();
	for (unsigned int i = 1; i <= 20; i++) {
		assert_ok(doca_pe_request_notification(tasks.pe));
		assert_false(is_readable(0));
		tasks_submit(small_task(i));
		assert_true(is_readable(10000));
		assert_ok(doca_pe_clear_notification(tasks.pe, 0));
		tasks_wait(i);
		assert_int_equal(doca_pe_progress(tasks.pe), 0);
	}
	drop_bufs();
	tasks_stop();
}

static void handle_is_readable_for_what_completed_before_arming(void **state)
{
	tasks_start();
	get_bufs();
	for (unsigned int i = 1; i <= 20; i++) {
		uint64_t end = monotonic_ms() + 3;

		tasks_submit(small_task(i));
		while (monotonic_ms() < end)
			;
		assert_ok(doca_pe_request_notification(tasks.pe));
		assert_true(is_readable(10000));
		assert_ok(doca_pe_clear_notification(tasks.pe, 0));
		tasks_wait(i);
	}
	drop_bufs();
	tasks_stop();
}

static void handle_is_readable_for_tasks_that_fail_at_once(void **state)
{
	struct doca_buf *nothing;

	tasks_start();
	get_bufs();
	nothing = tasks_source(0, 0);
	assert_ok(doca_pe_request_notification(tasks.pe));
	tasks_submit(tasks_alloc(nothing, dst, 1));
	assert_true(is_readable(0));
	assert_ok(doca_pe_clear_notification(tasks.pe, 0));
	assert_false(is_readable(0));
	assert_ok(doca_pe_request_notification(tasks.pe));
	assert_true(is_readable(0)); /* it still exists */
	tasks_wait(1);
	assert_ok(doca_pe_clear_notification(tasks.pe, 0));
	tasks_drop(nothing);
	drop_bufs();
}

/* One call, one callback. */
static void progress_runs_one_task_at_a_time(void **state)
{
	unsigned int calls = 0;

	tasks_start();
	get_bufs();
	for (uint64_t i = 0; i < 8; i++)
		tasks_submit(small_task(i));
	while (tasks.num_done < 8)
		calls += doca_pe_progress(tasks.pe);
	assert_int_equal(calls, 8);
	drop_bufs();
	tasks_stop();
}

static unsigned int num_other;

static void count_other(struct doca_dma_task_memcpy *task, union doca_data task_data,
			union doca_data ctx_data)
{
	num_other++;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void submit_to_both(struct doca_dma *other, struct doca_buf *room)
{
	struct doca_dma_task_memcpy *task;

	tasks.num_done = num_other = 0;
	for (uint64_t i = 0; i < 8; i++) {
		tasks_submit(small_task(i));
		assert_ok(doca_dma_task_memcpy_alloc_init(other, src, room,
							  (union doca_data){.u64 = i}, &task));
		tasks_submit(task);
	}
}

/* Wait for all submitted tasks; returns false if one context was ahead of the other. */
static bool is_served_in_turn(void)
{
	bool in_turn = true;

	for (unsigned int i = 1; tasks.num_done < 8 || num_other < 8; i++) {
		in_turn = in_turn && doca_pe_progress(tasks.pe) == 1;
		in_turn = in_turn && doca_pe_progress(tasks.pe) == 1;
		in_turn = in_turn && tasks.num_done == i && num_other == i;
		if (!in_turn)
			doca_pe_progress(tasks.pe);
	}
	return in_turn;
}

/* Neither context waits until all tasks of the other are done; a busy machine needs more time. */
static void engine_serves_contexts_in_turn(void **state)
{
	struct doca_buf *room;
	struct doca_dma *other;
	bool in_turn = false;

	assert_ok(doca_dma_create(tasks.dev, &other));
	assert_ok(doca_dma_task_memcpy_set_conf(other, count_other, count_other, 8));
	assert_ok(doca_pe_connect_ctx(tasks.pe, doca_dma_as_ctx(other)));
	assert_ok(doca_ctx_start(doca_dma_as_ctx(other)));
	tasks_start();
	get_bufs();
	room = tasks_room(4096, 4096);
	for (useconds_t us = 50000; !in_turn && us < 60000000; us *= 4) {
		submit_to_both(other, room);
		usleep(us);
		in_turn = is_served_in_turn();
	}
	assert_true(in_turn);
	assert_ok(doca_ctx_stop(doca_dma_as_ctx(other)));
	assert_ok(doca_dma_destroy(other));
	tasks_drop(room);
	drop_bufs();
	tasks_stop();
}

static void other_data_paths_are_not_supported(void **state)
{
	uint32_t num = 0;

	assert_error(doca_ctx_set_datapath_on_gpu(tasks.ctx, (void *)&num),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_ctx_set_datapath_on_dpa(tasks.ctx, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_ctx_cap_get_num_completion_vectors(tasks.ctx, &num));
	assert_true(num >= 1);
	assert_ok(doca_ctx_set_completion_vector(tasks.ctx, num - 1));
	assert_error(doca_ctx_set_completion_vector(tasks.ctx, num), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_pe_set_event_mode(tasks.pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	tasks_start();
	assert_error(doca_ctx_set_completion_vector(tasks.ctx, 0), DOCA_ERROR_BAD_STATE);
	assert_error(doca_ctx_set_datapath_on_gpu(tasks.ctx, (void *)&num), DOCA_ERROR_BAD_STATE);
	tasks_stop();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		task_test(new_context_is_idle_and_blank),
		task_test(null_is_invalid),
		task_test(start_and_stop_are_synchronous),
		task_test(context_has_one_engine),
		task_test(start_without_conf_is_refused),
		task_test(submit_never_calls_back),
		task_test(stop_waits_for_tasks_in_flight),
		task_test(stop_waits_for_tasks_to_be_freed),
		task_test(callbacks_may_submit_again),
		task_test(callbacks_may_stop),
		task_test(running_callback_may_submit),
		task_test(running_callback_may_stop),
		task_test(running_callback_may_submit_and_stop),
		task_test(idle_callback_may_destroy_inside_stop),
		task_test(idle_callback_may_destroy_after_stop_inside_completion),
		task_test(idle_callback_may_destroy_after_free_inside_completion),
		task_test(idle_callback_may_start_again),
		task_test(failed_task_stops_its_context),
		task_test(failed_context_is_idle_once_its_tasks_are_freed),
		task_test(task_in_flight_cannot_be_freed),
		task_test(unflushed_tasks_go_with_the_next_flush),
		task_test(handle_is_readable_after_a_completion),
		task_test(handle_is_readable_for_what_completed_before_arming),
		task_test(handle_is_readable_for_tasks_that_fail_at_once),
		task_test(progress_runs_one_task_at_a_time),
		task_test(engine_serves_contexts_in_turn),
		task_test(other_data_paths_are_not_supported),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests_name("contexts", tests, NULL, NULL);
}
