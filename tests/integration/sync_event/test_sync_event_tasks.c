/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sync events as contexts: tasks on events of each origin. */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "sync_side.h"

#define SPARE 8u /* descriptors */
#define NUM   3u

typedef struct doca_sync_event_task_get get_task;
typedef struct doca_sync_event_task_notify_set set_task;
typedef struct doca_sync_event_task_notify_add add_task;
typedef struct doca_sync_event_task_wait_eq eq_task;
typedef struct doca_sync_event_task_wait_neq neq_task;

/* What the callbacks saw. */
static struct {
	unsigned int num_done, num_failed;
	uint64_t last_data;
	doca_error_t last_error;
	uint64_t out;
	bool keeps; /* do not free the task */
	void (*then)(struct doca_task *task);
} seen;

static void record(struct doca_task *task, union doca_data data, union doca_data ctx_data)
{
	assert_ptr_equal(ctx_data.ptr, &seen);
	seen.last_data = data.u64;
	seen.last_error = doca_task_get_status(task);
	if (seen.last_error == DOCA_SUCCESS)
		seen.num_done++;
	else
		seen.num_failed++;
	if (seen.then)
		seen.then(task);
	else if (!seen.keeps)
		doca_task_free(task);
}

static void on_get(get_task *task, union doca_data data, union doca_data ctx_data)
{
	record(doca_sync_event_task_get_as_doca_task(task), data, ctx_data);
}

static void on_set(set_task *task, union doca_data data, union doca_data ctx_data)
{
	record(doca_sync_event_task_notify_set_as_doca_task(task), data, ctx_data);
}

static void on_add(add_task *task, union doca_data data, union doca_data ctx_data)
{
	record(doca_sync_event_task_notify_add_as_doca_task(task), data, ctx_data);
}

static void on_eq(eq_task *task, union doca_data data, union doca_data ctx_data)
{
	record(doca_sync_event_task_wait_eq_as_doca_task(task), data, ctx_data);
}

static void on_neq(neq_task *task, union doca_data data, union doca_data ctx_data)
{
	record(doca_sync_event_task_wait_neq_as_doca_task(task), data, ctx_data);
}

static void configure(uint32_t num)
{
	struct doca_sync_event *event = test.event;

	assert_ok(doca_sync_event_task_get_set_conf(event, on_get, on_get, num));
	assert_ok(doca_sync_event_task_notify_set_set_conf(event, on_set, on_set, num));
	assert_ok(doca_sync_event_task_notify_add_set_conf(event, on_add, on_add, num));
	assert_ok(doca_sync_event_task_wait_eq_set_conf(event, on_eq, on_eq, num));
	assert_ok(doca_sync_event_task_wait_neq_set_conf(event, on_neq, on_neq, num));
}

static void start_with(uint32_t num)
{
	memset(&seen, 0, sizeof(seen));
	sync_use_ctx();
	assert_ok(doca_ctx_set_user_data(test.ctx, (union doca_data){.ptr = &seen}));
	configure(num);
	sync_start_ctx();
}

static void submit(struct doca_task *task)
{
	unsigned int before = seen.num_done + seen.num_failed;

	assert_ok(doca_task_submit(task));
	assert_int_equal(seen.num_done + seen.num_failed, before);
}

static struct doca_task *get(uint64_t data)
{
	get_task *task = NULL;

	assert_ok(doca_sync_event_task_get_alloc_init(test.event, &seen.out,
						      (union doca_data){.u64 = data}, &task));
	return doca_sync_event_task_get_as_doca_task(task);
}

static struct doca_task *set(uint64_t value)
{
	set_task *task = NULL;

	assert_ok(doca_sync_event_task_notify_set_alloc_init(
		test.event, value, (union doca_data){.u64 = value}, &task));
	return doca_sync_event_task_notify_set_as_doca_task(task);
}

static struct doca_task *add(uint64_t value)
{
	add_task *task = NULL;

	assert_ok(doca_sync_event_task_notify_add_alloc_init(
		test.event, value, &seen.out, (union doca_data){.u64 = value}, &task));
	return doca_sync_event_task_notify_add_as_doca_task(task);
}

static struct doca_task *wait_eq(uint64_t value, uint64_t mask)
{
	eq_task *task = NULL;

	assert_ok(doca_sync_event_task_wait_eq_alloc_init(test.event, value, mask,
							  (union doca_data){.u64 = value}, &task));
	return doca_sync_event_task_wait_eq_as_doca_task(task);
}

static struct doca_task *wait_neq(uint64_t value, uint64_t mask)
{
	neq_task *task = NULL;

	assert_ok(doca_sync_event_task_wait_neq_alloc_init(test.event, value, mask,
							   (union doca_data){.u64 = value}, &task));
	return doca_sync_event_task_wait_neq_as_doca_task(task);
}

/* Progress is non-zero only for a callback. */
static void wait_for(unsigned int num)
{
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (seen.num_done + seen.num_failed < num) {
		unsigned int before = seen.num_done + seen.num_failed;
		uint8_t moved = doca_pe_progress(test.pe);

		assert_int_equal(moved, seen.num_done + seen.num_failed - before);
		assert_true(monotonic_ms() < end);
	}
}

static void progress_in_vain(void)
{
	for (int i = 0; i < 100; i++)
		assert_int_equal(doca_pe_progress(test.pe), 0);
}

static enum doca_ctx_states state_now(void)
{
	enum doca_ctx_states now;

	assert_ok(doca_ctx_get_state(test.ctx, &now));
	return now;
}

/* rule: SE-8a, SE-3 */
static void tasks_read_and_update(void **state)
{
	start_with(NUM);
	assert_int_equal(state_now(), DOCA_CTX_STATE_RUNNING);
	submit(set(40));
	wait_for(1);
	submit(add(2));
	wait_for(2);
	assert_int_equal(seen.out, 40);
	submit(get(7));
	wait_for(3);
	assert_int_equal(seen.out, 42);
	assert_int_equal(seen.last_data, 7);
	assert_int_equal(seen.num_failed, 0);
	assert_int_equal(sync_value(), 42);
	sync_stop_ctx();
}

/* rule: SE-8c */
static void completed_addition_has_stored_the_value_before(void **state)
{
	start_with(NUM);
	assert_ok(doca_sync_event_update_set(test.event, 11));
	seen.out = 1;
	submit(add(5));
	assert_int_equal(seen.out, 1);
	wait_for(1);
	assert_int_equal(seen.out, 11);
	sync_stop_ctx();
}

/* rule: SE-8a */
static void tasks_are_executed_in_order(void **state)
{
	start_with(NUM);
	submit(set(1));
	submit(add(1));
	submit(set(5));
	submit(add(1));
	submit(get(0));
	wait_for(5);
	assert_int_equal(seen.out, 6);
	sync_stop_ctx();
}

/* rule: SE-8b, X-9 */
static void wait_stays_in_flight_until_it_is_true(void **state)
{
	size_t num = 0;

	start_with(NUM);
	submit(wait_eq(3, UINT64_MAX));
	submit(wait_neq(0, 0xff));
	progress_in_vain();
	assert_ok(doca_ctx_get_num_inflight_tasks(test.ctx, &num));
	assert_int_equal(num, 2);
	assert_ok(doca_sync_event_update_set(test.event, 0x300));
	progress_in_vain();
	assert_ok(doca_sync_event_update_set(test.event, 1));
	wait_for(1);
	assert_int_equal(seen.last_data, 0);
	progress_in_vain();
	assert_ok(doca_sync_event_update_set(test.event, 3));
	wait_for(2);
	assert_int_equal(seen.last_data, 3);
	assert_int_equal(seen.num_failed, 0);
	sync_stop_ctx();
}

/* rule: SE-7, SE-8b */
static void tasks_that_wait_end_when_the_peer_updates(void **state)
{
	start_with(NUM);
	submit(wait_eq(9, UINT64_MAX));
	progress_in_vain();
	assert_ok(sync_ask(&test.peer, SYNC_SET, 8));
	progress_in_vain();
	assert_ok(sync_ask(&test.peer, SYNC_ADD, 1));
	wait_for(1);
	assert_int_equal(seen.num_failed, 0);
	sync_stop_ctx();
}

/* A read that began before the wait does not count for it. */
/* rule: SE-8b */
static void wait_ignores_earlier_values(void **state)
{
	start_with(NUM);
	for (unsigned int i = 0; i < 50; i++) {
		assert_ok(doca_sync_event_update_set(test.event, 5));
		submit(wait_eq(1, UINT64_MAX));
		assert_int_equal(doca_pe_progress(test.pe), 0);
		submit(set(0));
		submit(wait_neq(0, UINT64_MAX));
		wait_for(3 * i + 1);
		progress_in_vain();
		assert_ok(doca_sync_event_update_set(test.event, 1));
		wait_for(3 * i + 3);
	}
	sync_stop_ctx();
}

/* rule: SE-6 */
static void masks_are_neighbouring_bytes(void **state)
{
	static const uint64_t good[] = {0,
					0xff,
					0xff00,
					0xffff0000,
					0xffffffff,
					0xff00000000000000,
					0xffffffff00000000,
					0xffff000000,
					UINT64_MAX};
	static const uint64_t bad[] = {1,     0xf0,	    0xff00ff,	0xffffff,
				       0x1ff, 0xffffffffff, 0xffffff00, 0x8000000000000000};
	eq_task *task;

	start_with(NUM);
	for (unsigned int i = 0; i < ARRAY_SIZE(good); i++) {
		submit(wait_eq(0, good[i]));
		wait_for(i + 1);
	}
	task = (eq_task *)wait_eq(0, UINT64_MAX);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		doca_sync_event_task_wait_eq_set_mask(task, bad[i]);
		assert_error(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(task)),
			     DOCA_ERROR_INVALID_VALUE);
	}
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(task));
	sync_stop_ctx();
}

/* rule: SE-9a */
static void stop_flushes_waits(void **state)
{
	start_with(NUM);
	submit(wait_eq(3, UINT64_MAX));
	submit(wait_neq(0, UINT64_MAX));
	progress_in_vain();
	assert_error(doca_ctx_stop(test.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(state_now(), DOCA_CTX_STATE_STOPPING);
	while (state_now() != DOCA_CTX_STATE_IDLE)
		assert_int_equal(doca_pe_progress(test.pe), 1);
	assert_int_equal(seen.num_failed, 2);
	assert_error(seen.last_error, DOCA_ERROR_SHUTDOWN);
}

/* rule: SE-9a, SE-9b */
static void stop_completes_tasks_of_the_device(void **state)
{
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	start_with(NUM);
	for (unsigned int i = 0; i < NUM; i++)
		submit(add(1));
	assert_error(doca_ctx_stop(test.ctx), DOCA_ERROR_IN_PROGRESS);
	while (state_now() != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(test.pe);
		assert_true(monotonic_ms() < end);
	}
	assert_int_equal(seen.num_done, NUM);
}

/* rule: SE-8a, SE-4a */
static void context_can_be_started_again(void **state)
{
	start_with(NUM);
	submit(set(4));
	wait_for(1);
	sync_stop_ctx();
	if (test.origin == SYNC_EXPORTED)
		assert_ok(sync_ask(&test.peer, SYNC_DESTROY, 0));
	sync_start_ctx();
	submit(get(0));
	wait_for(2);
	assert_int_equal(seen.out, test.origin == SYNC_IMPORTED ? 4 : 0);
	sync_stop_ctx();
}

/* A run with tasks that wait has a timer, and a run without them does not end it again. */
/* rule: SE-8a, SE-8d */
static void the_end_of_a_run_closes_its_own_descriptors_alone(void **state)
{
	int fds[SPARE], next = dup(STDERR_FILENO);

	assert_int_equal(close(next), 0);
	start_with(NUM);
	sync_stop_ctx();
	configure(0);
	for (unsigned int i = 0; i < SPARE; i++)
		fds[i] = dup(STDERR_FILENO);
	assert_int_equal(fds[0], next);
	sync_start_ctx();
	sync_stop_ctx();
	for (unsigned int i = 0; i < SPARE; i++)
		assert_int_equal(close(fds[i]), 0);
}

/* rule: X-4, X-6b */
static void tasks_are_limited_and_readable_after_free(void **state)
{
	struct doca_task *taken[NUM];
	get_task *extra = NULL;

	start_with(NUM);
	for (unsigned int i = 0; i < NUM; i++)
		taken[i] = get(i);
	assert_error(doca_sync_event_task_get_alloc_init(test.event, &seen.out,
							 (union doca_data){.u64 = 0}, &extra),
		     DOCA_ERROR_NO_MEMORY);
	assert_null(extra);
	for (unsigned int i = 0; i < NUM; i++)
		doca_task_free(taken[i]);
	assert_ptr_equal(doca_sync_event_task_get_get_ret_val_ptr((get_task *)taken[0]), &seen.out);
	sync_stop_ctx();
	assert_error(doca_sync_event_task_get_alloc_init(test.event, &seen.out,
							 (union doca_data){.u64 = 0}, &extra),
		     DOCA_ERROR_BAD_STATE);
}

/* rule: SE-8d, SEE-conf */
static void no_tasks_are_allocated_unless_configured(void **state)
{
	eq_task *task = NULL;
	add_task *other = NULL;

	start_with(0);
	assert_error(doca_sync_event_task_wait_eq_alloc_init(test.event, 0, 0,
							     (union doca_data){.u64 = 0}, &task),
		     DOCA_ERROR_NO_MEMORY);
	assert_error(doca_sync_event_task_notify_add_alloc_init(
			     test.event, 0, &seen.out, (union doca_data){.u64 = 0}, &other),
		     DOCA_ERROR_NO_MEMORY);
	assert_error(doca_sync_event_task_get_set_conf(test.event, on_get, on_get, 1),
		     DOCA_ERROR_NOT_PERMITTED);
	sync_stop_ctx();
}

static void submit_again(struct doca_task *task)
{
	if (seen.num_done < 200)
		assert_ok(doca_task_submit(task));
	else
		doca_task_free(task);
}

/* rule: X-7 */
static void callback_may_submit_again(void **state)
{
	start_with(NUM);
	seen.then = submit_again;
	submit(add(1));
	wait_for(200);
	assert_int_equal(seen.out, 199);
	assert_int_equal(sync_value(), 200);
	sync_stop_ctx();
}

static void free_and_stop(struct doca_task *task)
{
	doca_task_free(task);
	assert_error(doca_ctx_stop(test.ctx), DOCA_ERROR_IN_PROGRESS);
}

/* rule: X-7, SE-9a, SE-9b */
static void callback_may_stop(void **state)
{
	start_with(NUM);
	seen.then = free_and_stop;
	submit(add(1));
	wait_for(1);
	assert_int_equal(state_now(), DOCA_CTX_STATE_IDLE);
	assert_ok(doca_sync_event_destroy(test.event));
	test.event = NULL;
	assert_int_equal(doca_pe_progress(test.pe), 0);
}

static void keep(struct doca_task *task)
{
	(void)task;
}

/* rule: SE-9c */
static void tasks_freed_in_flight_are_freed_after_their_callbacks(void **state)
{
	struct doca_task *some[3];

	start_with(NUM);
	some[0] = add(1);
	some[1] = wait_eq(3, UINT64_MAX);
	some[2] = wait_neq(0, UINT64_MAX);
	seen.then = keep;
	for (unsigned int i = 1; i < 3; i++) {
		submit(some[i]);
		doca_task_free(some[i]);
	}
	progress_in_vain();
	submit(some[0]);
	doca_task_free(some[0]);
	assert_error(doca_ctx_stop(test.ctx), DOCA_ERROR_IN_PROGRESS);
	wait_for(3);
	assert_int_equal(state_now(), DOCA_CTX_STATE_IDLE);
}

/* More than the queue of the device takes. */
/* rule: SE-8a */
static void many_tasks_complete(void **state)
{
	const unsigned int many = 300;

	start_with(many);
	for (unsigned int i = 0; i < many; i++)
		submit(add(1));
	wait_for(many);
	assert_int_equal(seen.out, many - 1);
	assert_int_equal(sync_value(), many);
	sync_stop_ctx();
}

/* rule: X-5, X-6a */
static void fields_of_tasks_can_be_set_and_read(void **state)
{
	uint64_t other;
	get_task *g;
	set_task *s;
	add_task *a;
	eq_task *e;
	neq_task *n;

	start_with(NUM);
	g = (get_task *)get(0);
	s = (set_task *)set(0);
	a = (add_task *)add(0);
	e = (eq_task *)wait_eq(0, 0);
	n = (neq_task *)wait_neq(0, 0);
	assert_ptr_equal(doca_sync_event_task_get_as_doca_task(g), g);
	assert_ptr_equal(doca_sync_event_task_notify_add_as_doca_task(a), a);
	doca_sync_event_task_get_set_ret_val_ptr(g, &other);
	assert_ptr_equal(doca_sync_event_task_get_get_ret_val_ptr(g), &other);
	doca_sync_event_task_notify_set_set_set_val(s, 1);
	assert_int_equal(doca_sync_event_task_notify_set_get_set_val(s), 1);
	doca_sync_event_task_notify_add_set_inc_val(a, 2);
	assert_int_equal(doca_sync_event_task_notify_add_get_inc_val(a), 2);
	doca_sync_event_task_notify_add_set_fetched_val_ptr(a, &other);
	assert_ptr_equal(doca_sync_event_task_notify_add_get_fetched_val_ptr(a), &other);
	doca_sync_event_task_wait_eq_set_wait_val(e, 3);
	assert_int_equal(doca_sync_event_task_wait_eq_get_wait_val(e), 3);
	doca_sync_event_task_wait_eq_set_mask(e, 0xff);
	assert_int_equal(doca_sync_event_task_wait_eq_get_mask(e), 0xff);
	doca_sync_event_task_wait_neq_set_wait_val(n, 4);
	assert_int_equal(doca_sync_event_task_wait_neq_get_wait_val(n), 4);
	doca_sync_event_task_wait_neq_set_mask(n, 0xff00);
	assert_int_equal(doca_sync_event_task_wait_neq_get_mask(n), 0xff00);
	doca_sync_event_task_get_set_ret_val_ptr(g, NULL);
	assert_error(doca_task_submit(doca_sync_event_task_get_as_doca_task(g)),
		     DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_sync_event_task_get_as_doca_task(g));
	doca_task_free(doca_sync_event_task_notify_set_as_doca_task(s));
	doca_task_free(doca_sync_event_task_notify_add_as_doca_task(a));
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(e));
	doca_task_free(doca_sync_event_task_wait_neq_as_doca_task(n));
	sync_stop_ctx();
}

/* Arm the engine; true if its descriptor becomes readable within that time. */
static doca_notification_handle_t request_notification(void)
{
	doca_notification_handle_t handle;

	assert_ok(doca_pe_get_notification_handle(test.pe, &handle));
	assert_ok(doca_pe_request_notification(test.pe));
	return handle;
}

static bool is_readable(doca_notification_handle_t handle, int timeout_ms)
{
	struct pollfd waiting = {.fd = handle, .events = POLLIN};

	if (poll(&waiting, 1, timeout_ms) != 1)
		return false;
	assert_ok(doca_pe_clear_notification(test.pe, handle));
	return true;
}

static bool is_woken(int timeout_ms)
{
	return is_readable(request_notification(), timeout_ms);
}

/* rule: X-14 */
static void descriptor_reports_completions(void **state)
{
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	doca_notification_handle_t handle;

	start_with(NUM);
	assert_false(is_woken(0));
	submit(add(1));
	while (!seen.num_done) {
		assert_true(is_woken(FIXTURE_TIMEOUT_MS));
		doca_pe_progress(test.pe);
	}
	submit(wait_eq(5, UINT64_MAX));
	assert_ok(doca_sync_event_update_set(test.event, 5));
	while (seen.num_done < 2) {
		assert_true(is_woken(FIXTURE_TIMEOUT_MS));
		doca_pe_progress(test.pe);
		assert_true(monotonic_ms() < end);
	}
	while (doca_pe_progress(test.pe))
		;
	/* A task that is submitted while the program sleeps. */
	handle = request_notification();
	submit(get(0));
	assert_true(is_readable(handle, FIXTURE_TIMEOUT_MS));
	wait_for(3);
	while (doca_pe_progress(test.pe))
		;
	sync_stop_ctx();
}

/* rule: X-14 */
static void waits_of_one_kind_wake_the_program(void **state)
{
	doca_notification_handle_t handle;

	sync_use_ctx();
	assert_ok(doca_ctx_set_user_data(test.ctx, (union doca_data){.ptr = &seen}));
	for (int has_neq = 0; has_neq < 2; has_neq++) {
		memset(&seen, 0, sizeof(seen));
		assert_ok(
			doca_sync_event_task_wait_eq_set_conf(test.event, on_eq, on_eq, !has_neq));
		assert_ok(doca_sync_event_task_wait_neq_set_conf(test.event, on_neq, on_neq,
								 (uint32_t)has_neq));
		sync_start_ctx();
		submit(has_neq ? wait_neq(0, UINT64_MAX) : wait_eq(5, UINT64_MAX));
		progress_in_vain();
		/* It sleeps already. */
		handle = request_notification();
		assert_ok(doca_sync_event_update_set(test.event, 5));
		assert_true(is_readable(handle, FIXTURE_TIMEOUT_MS));
		doca_pe_progress(test.pe);
		assert_int_equal(seen.num_done, 1);
		while (doca_pe_progress(test.pe))
			;
		sync_stop_ctx();
	}
}

/* rule: SE-3 */
static void tasks_of_an_import_fail_after_its_export_ended(void **state)
{
	start_with(NUM);
	submit(get(0));
	wait_for(1);
	submit(wait_eq(5, UINT64_MAX));
	progress_in_vain();
	assert_ok(sync_ask(&test.peer, SYNC_STOP, 0));
	wait_for(2);
	assert_error(seen.last_error, DOCA_ERROR_NOT_PERMITTED);
	submit(add(1));
	wait_for(3);
	assert_error(seen.last_error, DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(state_now(), DOCA_CTX_STATE_RUNNING);
	sync_stop_ctx();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		all_test(tasks_read_and_update),
		all_test(completed_addition_has_stored_the_value_before),
		all_test(tasks_are_executed_in_order),
		all_test(wait_stays_in_flight_until_it_is_true),
		shared_test(tasks_that_wait_end_when_the_peer_updates),
		imported_test(wait_ignores_earlier_values),
		own_test(masks_are_neighbouring_bytes),
		all_test(stop_flushes_waits),
		all_test(stop_completes_tasks_of_the_device),
		all_test(context_can_be_started_again),
		own_test(the_end_of_a_run_closes_its_own_descriptors_alone),
		own_test(tasks_are_limited_and_readable_after_free),
		own_test(no_tasks_are_allocated_unless_configured),
		all_test(callback_may_submit_again),
		all_test(callback_may_stop),
		all_test(tasks_freed_in_flight_are_freed_after_their_callbacks),
		all_test(many_tasks_complete),
		own_test(fields_of_tasks_can_be_set_and_read),
		all_test(descriptor_reports_completions),
		own_test(waits_of_one_kind_wake_the_program),
		imported_test(tasks_of_an_import_fail_after_its_export_ended),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return sync_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
