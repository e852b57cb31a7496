/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a library can ask of contexts and progress engines beyond what DMA needs (core/pe/ctx.h and
 * pe.h). The library of these tests has no device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/array.h"
#include "core/pe/pe.h"
#include "core/pe/task_pool.h"

#define IDLE	   DOCA_CTX_STATE_IDLE
#define STARTING   DOCA_CTX_STATE_STARTING
#define RUNNING	   DOCA_CTX_STATE_RUNNING
#define STOPPING   DOCA_CTX_STATE_STOPPING
#define TIMEOUT_MS 30000
#define EVENTS	   5000u

/* The library: one task, and answers that a test sets. */
static struct library {
	struct doca_ctx ctx;
	struct task_pool pool;
	struct doca_task task;
	doca_error_t start, poll_start, submit, stop;
	bool is_finished; /* the task */
	bool is_state_ready, frees_in_callback;
	unsigned int begun, stops, completed, released;
	atomic_uint events;
	unsigned int seen; /* of events */
} lib;

static struct ctx_ops ops;
static struct doca_dev dev;
static struct doca_pe *pe;
static enum doca_ctx_states changes[8];
static unsigned int num_changes;

static doca_error_t lib_start(struct doca_ctx *ctx)
{
	(void)ctx;
	return lib.start;
}

static doca_error_t lib_poll_start(struct doca_ctx *ctx)
{
	(void)ctx;
	return lib.poll_start;
}

static void lib_begin_stop(struct doca_ctx *ctx)
{
	assert_int_equal(ctx->state, RUNNING);
	lib.begun++;
}

static doca_error_t lib_stop(struct doca_ctx *ctx)
{
	assert_int_equal(ctx->num_allocated, 0);
	lib.stops++;
	return lib.stop;
}

static void lib_nothing(struct doca_ctx *ctx)
{
	(void)ctx;
}

static doca_error_t lib_submit(struct doca_task *task, uint32_t flags)
{
	(void)flags;
	return lib.submit == DOCA_SUCCESS ? DOCA_SUCCESS : dpumap_task_refuse(task, lib.submit);
}

static bool lib_progress(struct doca_ctx *ctx)
{
	if (lib.seen < atomic_load(&lib.events)) {
		lib.seen++;
		return true;
	}
	return dpumap_ctx_progress(ctx);
}

static struct doca_task *lib_poll(struct doca_ctx *ctx)
{
	(void)ctx;
	if (!lib.is_finished)
		return NULL;
	lib.is_finished = false;
	return &lib.task;
}

static void lib_complete(struct doca_task *task)
{
	lib.completed++;
	if (lib.frees_in_callback)
		doca_task_free(task);
}

static void lib_release(struct doca_task *task)
{
	(void)task;
	lib.released++;
}

static doca_error_t lib_arm(struct doca_ctx *ctx)
{
	(void)ctx;
	return DOCA_SUCCESS;
}

static bool lib_is_ready(struct doca_ctx *ctx)
{
	(void)ctx;
	return lib.is_finished || lib.seen < atomic_load(&lib.events);
}

static bool lib_is_state_ready(struct doca_ctx *ctx)
{
	(void)ctx;
	return lib.is_state_ready;
}

static void note_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		       enum doca_ctx_states next)
{
	(void)data;
	(void)ctx;
	(void)prev;
	changes[num_changes++] = next;
}

static int open_library(void **state)
{
	ops = (struct ctx_ops){
		.name = "test",
		.start = lib_start,
		.poll_start = lib_poll_start,
		.begin_stop = lib_begin_stop,
		.stop = lib_stop,
		.free = lib_nothing,
		.submit = lib_submit,
		.flush = lib_nothing,
		.progress = lib_progress,
		.poll = lib_poll,
		.complete = lib_complete,
		.release = lib_release,
		.arm = lib_arm,
		.is_ready = lib_is_ready,
		.is_state_ready = lib_is_state_ready,
	};
	lib = (struct library){.poll_start = DOCA_ERROR_IN_PROGRESS};
	num_changes = 0;
	dpumap_ctx_init(&lib.ctx, &ops, &dev);
	lib.task.ctx = &lib.ctx;
	lib.task.pool = &lib.pool;
	return doca_pe_create(&pe) || doca_pe_connect_ctx(pe, &lib.ctx) ||
	       doca_ctx_set_state_changed_cb(&lib.ctx, note_state);
}

static int close_library(void **state)
{
	return dpumap_ctx_destroy(&lib.ctx) || doca_pe_destroy(pe) || lib.ctx.refs;
}

#define library_test(function) \
	cmocka_unit_test_setup_teardown(function, open_library, close_library)

static void start(void)
{
	assert_int_equal(doca_ctx_start(&lib.ctx), DOCA_SUCCESS);
}

static struct doca_task *allocate(void)
{
	lib.ctx.num_allocated++;
	lib.task.allocated = true;
	lib.task.status = DOCA_SUCCESS;
	return &lib.task;
}

static void submit(void)
{
	assert_int_equal(doca_task_submit(allocate()), DOCA_SUCCESS);
}

/* Report the task with this status. */
static void finish(doca_error_t status)
{
	lib.task.status = status;
	lib.is_finished = true;
	assert_int_equal(doca_pe_progress(pe), 1);
}

static void assert_inflight(size_t wanted)
{
	size_t num;

	assert_int_equal(doca_ctx_get_num_inflight_tasks(&lib.ctx, &num), DOCA_SUCCESS);
	assert_int_equal(num, wanted);
	assert_int_equal(doca_pe_get_num_inflight_tasks(pe, &num), DOCA_SUCCESS);
	assert_int_equal(num, wanted);
}

static bool is_readable(int timeout_ms)
{
	struct pollfd handle = {.events = POLLIN};

	assert_int_equal(doca_pe_get_notification_handle(pe, &handle.fd), DOCA_SUCCESS);
	return poll(&handle, 1, timeout_ms) == 1;
}

static void arm(void)
{
	assert_int_equal(doca_pe_request_notification(pe), DOCA_SUCCESS);
}

static void clear(void)
{
	assert_int_equal(doca_pe_clear_notification(pe, 0), DOCA_SUCCESS);
}

/* --- tasks ------------------------------------------------------------------------------------ */

static void refused_task_is_not_in_flight(void **state)
{
	start();
	lib.submit = DOCA_ERROR_AGAIN;
	assert_int_equal(doca_task_submit(allocate()), DOCA_ERROR_AGAIN);
	assert_inflight(0);
	lib.submit = DOCA_SUCCESS;
	assert_int_equal(doca_task_submit(&lib.task), DOCA_SUCCESS);
	assert_inflight(1);
	finish(DOCA_SUCCESS);
	doca_task_free(&lib.task);
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_SUCCESS);
}

static void failed_task_stops_the_context(void **state)
{
	start();
	submit();
	finish(DOCA_ERROR_IO_FAILED);
	assert_int_equal(lib.ctx.state, STOPPING);
	assert_int_equal(lib.begun, 1);
	doca_task_free(&lib.task);
	assert_int_equal(lib.ctx.state, IDLE);
}

static void context_can_survive_a_failed_task(void **state)
{
	ops.survives_failure = true;
	start();
	submit();
	finish(DOCA_ERROR_IO_FAILED);
	assert_int_equal(lib.ctx.state, RUNNING);
	assert_int_equal(lib.begun, 0);
	doca_task_free(&lib.task);
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_SUCCESS);
}

static void task_freed_in_flight_is_freed_after_its_callback(void **state)
{
	start();
	for (unsigned int i = 1; i <= 2; i++) {
		submit();
		doca_task_free(&lib.task);
		doca_task_free(&lib.task);
		assert_inflight(1);
		assert_int_equal(lib.released, i - 1);
		lib.frees_in_callback = i == 2;
		finish(DOCA_SUCCESS);
		assert_int_equal(lib.completed, i);
		assert_int_equal(lib.released, i);
	}
	doca_task_free(&lib.task); /* refused: it is freed already */
	assert_int_equal(lib.released, 2);
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_SUCCESS);
}

static void task_freed_in_flight_does_not_hold_up_the_stop(void **state)
{
	start();
	submit();
	doca_task_free(&lib.task);
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_ERROR_IN_PROGRESS);
	finish(DOCA_ERROR_SHUTDOWN);
	assert_int_equal(lib.ctx.state, IDLE);
	assert_int_equal(lib.released, 1);
}

static void library_takes_a_task_freed_in_flight(void **state)
{
	ops.frees_inflight = true;
	start();
	submit();
	doca_task_free(&lib.task);
	assert_inflight(0);
	doca_task_free(&lib.task); /* refused: it is freed already */
	assert_inflight(0);
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_SUCCESS);
	assert_int_equal(lib.completed, 0);
}

static void freeing_the_last_task_in_flight_completes_the_stop(void **state)
{
	ops.frees_inflight = true;
	start();
	submit();
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_ERROR_IN_PROGRESS);
	doca_task_free(&lib.task);
	assert_int_equal(lib.ctx.state, IDLE);
}

/* --- states ----------------------------------------------------------------------------------- */

static void start_error_is_passed_on_or_initialization(void **state)
{
	static const doca_error_t passed[] = {DOCA_ERROR_IN_USE, DOCA_ERROR_NOT_SUPPORTED,
					      DOCA_ERROR_BAD_STATE};

	for (unsigned int i = 0; i < ARRAY_SIZE(passed); i++) {
		lib.start = passed[i];
		assert_int_equal(doca_ctx_start(&lib.ctx), passed[i]);
	}
	lib.start = DOCA_ERROR_DRIVER;
	assert_int_equal(doca_ctx_start(&lib.ctx), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(num_changes, 0);
}

static void stop_lasts_until_the_library_is_done(void **state)
{
	start();
	lib.stop = DOCA_ERROR_IN_PROGRESS;
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(lib.ctx.state, STOPPING);
	assert_int_equal(doca_pe_progress(pe), 0);
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(dpumap_ctx_destroy(&lib.ctx), DOCA_ERROR_IN_USE);
	atomic_store(&lib.events, 1); /* still progressed */
	assert_int_equal(doca_pe_progress(pe), 1);
	lib.stop = DOCA_SUCCESS;
	assert_int_equal(doca_pe_progress(pe), 1);
	assert_int_equal(lib.ctx.state, IDLE);
	assert_int_equal(lib.begun, 1);
	assert_int_equal(num_changes, 3);
	assert_int_equal(changes[1], STOPPING);
}

static void stop_again(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		       enum doca_ctx_states next)
{
	note_state(data, ctx, prev, next);
	lib.stop = DOCA_SUCCESS;
	if (next == STOPPING)
		assert_int_equal(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

static void stop_in_the_state_callback_of_a_stop_is_final(void **state)
{
	start();
	doca_ctx_set_state_changed_cb(&lib.ctx, stop_again);
	lib.stop = DOCA_ERROR_IN_PROGRESS;
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_SUCCESS);
	assert_int_equal(lib.ctx.state, IDLE);
	assert_int_equal(lib.stops, 2);
}

static void failed_start_can_pass_through_stopping(void **state)
{
	static const enum doca_ctx_states expected[] = {STARTING, STOPPING, IDLE};

	lib.start = DOCA_ERROR_IN_PROGRESS;
	assert_int_equal(doca_ctx_start(&lib.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_pe_progress(pe), 0);
	lib.poll_start = DOCA_ERROR_NOT_FOUND;
	lib.stop = DOCA_ERROR_IN_PROGRESS;
	assert_int_equal(doca_pe_progress(pe), 1);
	lib.stop = DOCA_SUCCESS;
	assert_int_equal(doca_pe_progress(pe), 1);
	assert_int_equal(num_changes, 3);
	assert_memory_equal(changes, expected, sizeof(expected));
}

static bool stop_by_itself(struct doca_ctx *ctx)
{
	ops.progress = lib_progress;
	dpumap_ctx_begin_stop(ctx);
	return true;
}

static void context_stops_by_itself(void **state)
{
	start();
	allocate();
	ops.progress = stop_by_itself;
	assert_int_equal(doca_pe_progress(pe), 1);
	assert_int_equal(lib.ctx.state, STOPPING);
	assert_int_equal(lib.begun, 1);
	assert_int_equal(doca_pe_progress(pe), 0);
	doca_task_free(&lib.task);
	assert_int_equal(lib.ctx.state, IDLE);
}

static void active_context_is_not_destroyed(void **state)
{
	start();
	assert_int_equal(dpumap_ctx_destroy(&lib.ctx), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_SUCCESS);
}

/* --- engines ---------------------------------------------------------------------------------- */

static void engine_without_contexts_has_nothing_to_do(void **state)
{
	struct doca_pe *empty;
	size_t num;

	assert_int_equal(doca_pe_progress(NULL), 0);
	assert_int_equal(doca_pe_create(&empty), DOCA_SUCCESS);
	assert_int_equal(doca_pe_progress(empty), 0);
	assert_int_equal(doca_pe_get_num_inflight_tasks(empty, &num), DOCA_SUCCESS);
	assert_int_equal(num, 0);
	assert_int_equal(doca_pe_request_notification(empty), DOCA_SUCCESS);
	assert_int_equal(doca_pe_clear_notification(empty, 0), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(empty), DOCA_SUCCESS);
}

static void contexts_come_and_go(void **state)
{
	struct doca_ctx others[3] = {0};

	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 3; i++) {
			dpumap_ctx_init(&others[i], &ops, &dev);
			assert_int_equal(doca_pe_connect_ctx(pe, &others[i]), DOCA_SUCCESS);
			assert_int_equal(doca_pe_progress(pe), 0);
		}
		assert_int_equal(doca_pe_destroy(pe), DOCA_ERROR_IN_USE);
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(dpumap_ctx_destroy(&others[(i + round) % 3]),
					 DOCA_SUCCESS);
			assert_int_equal(doca_pe_progress(pe), 0);
		}
	}
}

static void starting_context_is_polled_unless_events_tell(void **state)
{
	lib.start = DOCA_ERROR_IN_PROGRESS;
	assert_int_equal(doca_ctx_start(&lib.ctx), DOCA_ERROR_IN_PROGRESS);
	arm();
	assert_false(is_readable(0));
	lib.is_state_ready = true;
	arm();
	assert_true(is_readable(0));
	clear();
	ops.is_state_ready = NULL;
	arm();
	assert_true(is_readable(0));
	clear();
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_SUCCESS);
}

static void stopping_context_is_polled_unless_events_tell(void **state)
{
	start();
	lib.stop = DOCA_ERROR_IN_PROGRESS;
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_ERROR_IN_PROGRESS);
	arm();
	assert_false(is_readable(0));
	lib.is_state_ready = true;
	arm();
	assert_true(is_readable(0));
	clear();
	ops.is_state_ready = NULL;
	arm();
	assert_true(is_readable(0));
	clear();
	lib.stop = DOCA_SUCCESS;
	assert_int_equal(doca_pe_progress(pe), 1);
}

static void watched_descriptor_makes_the_handle_readable(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	eventfd_t value;

	assert_int_equal(dpumap_pe_watch(pe, fd), DOCA_SUCCESS);
	assert_false(is_readable(0));
	assert_int_equal(eventfd_write(fd, 1), 0);
	assert_true(is_readable(0));
	clear();
	assert_true(is_readable(0));
	assert_int_equal(eventfd_read(fd, &value), 0);
	assert_false(is_readable(0));
	dpumap_pe_unwatch(pe, fd);
	close(fd);
}

static void descriptor_is_watched_as_often_as_asked(void **state)
{
	int fd = eventfd(1, EFD_CLOEXEC), other = eventfd(0, EFD_CLOEXEC);

	assert_int_equal(dpumap_pe_watch(pe, fd), DOCA_SUCCESS);
	assert_int_equal(dpumap_pe_watch(pe, other), DOCA_SUCCESS);
	assert_int_equal(dpumap_pe_watch(pe, fd), DOCA_SUCCESS);
	dpumap_pe_unwatch(pe, fd);
	assert_true(is_readable(0));
	dpumap_pe_unwatch(pe, fd);
	assert_false(is_readable(0));
	dpumap_pe_unwatch(pe, fd);
	assert_int_equal(eventfd_write(other, 1), 0);
	assert_true(is_readable(0));
	dpumap_pe_unwatch(pe, other);
	close(other);
	close(fd);
}

static void descriptor_that_is_not_open_is_not_watched(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	close(fd);
	assert_int_equal(dpumap_pe_watch(pe, fd), DOCA_ERROR_OPERATING_SYSTEM);
	dpumap_pe_unwatch(pe, fd);
}

static void wake_without_a_request_is_ignored(void **state)
{
	dpumap_pe_wake(pe);
	assert_false(is_readable(0));
	arm();
	dpumap_pe_wake(pe);
	dpumap_pe_wake(pe);
	assert_true(is_readable(0));
	clear();
	assert_false(is_readable(0));
}

static void *raise_events(void *unused)
{
	(void)unused;
	for (unsigned int i = 0; i < EVENTS; i++) {
		atomic_fetch_add(&lib.events, 1);
		dpumap_pe_wake(pe);
	}
	return NULL;
}

static void wake_from_other_threads_is_never_lost(void **state)
{
	pthread_t threads[2];

	start();
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, raise_events, NULL), 0);
	while (lib.seen < 2 * EVENTS) {
		arm();
		assert_true(is_readable(TIMEOUT_MS));
		clear();
		while (doca_pe_progress(pe))
			;
	}
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(doca_ctx_stop(&lib.ctx), DOCA_SUCCESS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		library_test(refused_task_is_not_in_flight),
		library_test(failed_task_stops_the_context),
		library_test(context_can_survive_a_failed_task),
		library_test(task_freed_in_flight_is_freed_after_its_callback),
		library_test(task_freed_in_flight_does_not_hold_up_the_stop),
		library_test(library_takes_a_task_freed_in_flight),
		library_test(freeing_the_last_task_in_flight_completes_the_stop),
		library_test(start_error_is_passed_on_or_initialization),
		library_test(stop_lasts_until_the_library_is_done),
		library_test(stop_in_the_state_callback_of_a_stop_is_final),
		library_test(failed_start_can_pass_through_stopping),
		library_test(context_stops_by_itself),
		library_test(active_context_is_not_destroyed),
		cmocka_unit_test(engine_without_contexts_has_nothing_to_do),
		library_test(contexts_come_and_go),
		library_test(starting_context_is_polled_unless_events_tell),
		library_test(stopping_context_is_polled_unless_events_tell),
		library_test(watched_descriptor_makes_the_handle_readable),
		library_test(descriptor_is_watched_as_often_as_asked),
		library_test(descriptor_that_is_not_open_is_not_watched),
		library_test(wake_without_a_request_is_ignored),
		library_test(wake_from_other_threads_is_never_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
