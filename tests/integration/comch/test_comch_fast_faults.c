/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Each allocation and each command of a consumer and of a producer fails once: the error is reported,
 * nothing is left behind, and the next attempt succeeds. And messages need neither.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "faults.h"
#include "flow.h"

#define SMALL 64u
#define MAX_N 400u

static unsigned int n_sent, n_received, n_failed;

static void on_sent(struct doca_comch_producer_task_send *task, union doca_data task_user_data,
		    union doca_data ctx_user_data)
{
	struct doca_task *base = doca_comch_producer_task_send_as_task(task);

	(void)task_user_data;
	(void)ctx_user_data;
	n_sent++;
	n_failed += doca_task_get_status(base) != DOCA_SUCCESS;
	doca_task_free(base);
}

static void on_received(struct doca_comch_consumer_task_post_recv *task,
			union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	n_received++;
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static enum doca_ctx_states state_of(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	assert_ok(doca_ctx_get_state(ctx, &state));
	return state;
}

static void make_idle(struct doca_ctx *ctx)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	doca_ctx_stop(ctx);
	while (state_of(ctx) != DOCA_CTX_STATE_IDLE) {
		assert_true(monotonic_ms() < deadline);
		flow_progress();
	}
}

static uint32_t there_id;

static doca_error_t send_one(struct doca_comch_producer *producer)
{
	struct doca_comch_producer_task_send *task;
	unsigned int before = n_sent;
	doca_error_t result;

	result = doca_comch_producer_task_send_alloc_init(producer, NULL, NULL, 0, there_id, &task);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_task_submit(doca_comch_producer_task_send_as_task(task));
	if (result != DOCA_SUCCESS) {
		doca_task_free(doca_comch_producer_task_send_as_task(task));
		return result;
	}
	assert_true(flow_wait(&n_sent, before + 1));
	return n_failed ? DOCA_ERROR_NOT_CONNECTED : DOCA_SUCCESS;
}

/* The life of a producer, up to the first error. */
static doca_error_t live_producer(void)
{
	struct doca_comch_producer *producer;
	struct doca_ctx *ctx;
	doca_error_t result;

	n_failed = 0;
	result = doca_comch_producer_create(flow_connection(), &producer);
	if (result != DOCA_SUCCESS)
		return result;
	ctx = doca_comch_producer_as_ctx(producer);
	assert_ok(doca_comch_producer_task_send_set_conf(producer, on_sent, on_sent, 2));
	assert_ok(doca_pe_connect_ctx(flow.pe, ctx));
	result = doca_ctx_start(ctx);
	if (result == DOCA_SUCCESS)
		result = send_one(producer);
	make_idle(ctx);
	assert_ok(doca_comch_producer_destroy(producer));
	return result;
}

static struct flow_object *spare; /* its map */

static doca_error_t receive_one(struct doca_comch_consumer *consumer, struct doca_ctx *ctx)
{
	struct doca_comch_consumer_task_post_recv *task;
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	doca_error_t result;

	while (state_of(ctx) == DOCA_CTX_STATE_STARTING) {
		assert_true(monotonic_ms() < deadline);
		flow_progress();
	}
	if (state_of(ctx) != DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_INITIALIZATION;
	result = doca_comch_consumer_task_post_recv_alloc_init(consumer, NULL, &task);
	return result == DOCA_SUCCESS
		       ? doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task))
		       : result;
}

static doca_error_t live_consumer(void)
{
	struct doca_comch_consumer *consumer;
	struct doca_ctx *ctx;
	doca_error_t result;

	result = doca_comch_consumer_create(flow_connection(), spare->mmap, &consumer);
	if (result != DOCA_SUCCESS)
		return result;
	ctx = doca_comch_consumer_as_ctx(consumer);
	assert_ok(
		doca_comch_consumer_task_post_recv_set_conf(consumer, on_received, on_received, 2));
	assert_ok(doca_pe_connect_ctx(flow.pe, ctx));
	result = doca_ctx_start(ctx);
	if (result == DOCA_ERROR_IN_PROGRESS)
		result = receive_one(consumer, ctx);
	make_idle(ctx);
	assert_ok(doca_comch_consumer_destroy(consumer));
	return result;
}

/* Let each event fail in turn; returns how many there are. */
static unsigned int sweep(doca_error_t (*live)(void), enum fault_kind kind, int err)
{
	unsigned int live_before, n = 0;
	doca_error_t result;
	bool fired;

	assert_ok(live()); /* what is allocated once */
	do {
		live_before = fault_count_live();
		fault_arm(kind, ++n, err);
		result = live();
		fired = fault_fired();
		fault_disarm();
		/* A thread of the emulator may have had the fault, or the object went on without. */
		if (!fired)
			assert_ok(result);
		assert_int_equal(fault_count_live(), live_before);
		assert_ok(live());
	} while (fired && n < MAX_N);
	assert_false(fired);
	return n - 1;
}

/* rule: FE-fault */
static void failures_of_a_producer_leave_nothing_behind(void **state)
{
	flow_ok(THERE, FLOW_CONSUMER, 0, 8, SMALL, 0);
	there_id = flow_value;
	flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(THERE, FLOW_REPOST, 0, true, 0, 0);
	flow_ok(THERE, FLOW_POST, 0, 8, 0, 0);
	flow_ok(HERE, FLOW_WORD, 0, there_id, 0, 0);
	assert_true(sweep(live_producer, FAULT_ALLOC, ENOMEM) >= 4);
	assert_true(sweep(live_producer, FAULT_COMMAND, EINVAL) >= 3);
	assert_true(sweep(live_producer, FAULT_DESTROY, EBUSY) >= 2);
}

/* rule: FE-fault */
static void failures_of_a_consumer_leave_nothing_behind(void **state)
{
	flow_ok(HERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	spare = flow.consumers[0];
	assert_true(sweep(live_consumer, FAULT_ALLOC, ENOMEM) >= 4);
	assert_true(sweep(live_consumer, FAULT_COMMAND, EINVAL) >= 3);
	assert_true(sweep(live_consumer, FAULT_DESTROY, EBUSY) >= 2);
}

/* rule: FE-fault */
static void failures_to_connect_a_producer_of_the_peer_reach_it(void **state)
{
	unsigned int n = 0, n_tasks = 0, n_good = 0, n_refused = 0, sent;
	uint32_t id;
	bool fired;

	flow_ok(HERE, FLOW_CONSUMER, 0, 64, SMALL, 0);
	id = flow_value;
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_REPOST, 0, true, 0, 0);
	flow_ok(HERE, FLOW_POST, 0, 64, 0, 0);
	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(THERE, FLOW_PRODUCER, 0, 1, SMALL, 0);
	do {
		fault_arm(FAULT_COMMAND, ++n, EINVAL);
		flow_ok(THERE, FLOW_SEND, 0, 1, SMALL, id);
		flow_ok(THERE, FLOW_ENDED, 0, ++n_tasks, 0, 0);
		fired = fault_fired();
		fault_disarm();
		flow_ok(THERE, FLOW_SENT_COUNT, 0, 0, 0, 0);
		sent = flow_value;
		n_refused += sent < ++n_good;
		n_good = sent + 1;
		flow_ok(THERE, FLOW_SEND, 0, 1, SMALL, id);
		flow_ok(THERE, FLOW_SENT, 0, n_good, 0, 0);
		n_tasks++;
		flow_ok(THERE, FLOW_HALT, 0, true, 0, 0); /* the next attempt connects again */
		flow_ok(THERE, FLOW_BEGIN, 0, true, 0, 0);
	} while (fired && n < MAX_N);
	assert_true(n_refused >= 3); /* the driver does without some commands */
	flow_is(HERE, FLOW_BAD, 0, 0, 0, 0, 0);
}

static atomic_uint n_locks;
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	atomic_fetch_add(&n_locks, 1);
	return __real_pthread_mutex_lock(mutex);
}

static unsigned int n_left;

static void send_again(struct doca_comch_producer_task_send *task, union doca_data task_user_data,
		       union doca_data ctx_user_data)
{
	struct doca_task *base = doca_comch_producer_task_send_as_task(task);

	(void)task_user_data;
	(void)ctx_user_data;
	n_sent++;
	n_failed += doca_task_get_status(base) != DOCA_SUCCESS;
	if (n_left) {
		n_left--;
		n_failed += doca_task_submit(base) != DOCA_SUCCESS;
	} else {
		doca_task_free(base);
	}
}

/* The engine of consumers and producers alone. */
static bool drive(const unsigned int *what, unsigned int n)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (*what < n && monotonic_ms() < deadline)
		doca_pe_progress(flow.pe);
	return *what >= n;
}

/* Messages from here to there, without an allocation, a command or a lock in this process. */
static void stream(struct doca_comch_producer *producer, unsigned int n)
{
	struct doca_comch_producer_task_send *task;
	unsigned int commands = fault_count_commands();

	n_sent = n_failed = 0;
	n_left = n;
	fault_arm(FAULT_ALLOC, 1, ENOMEM);
	atomic_store(&n_locks, 0);
	for (int i = 0; i < 8; i++) {
		assert_ok(doca_comch_producer_task_send_alloc_init(producer, NULL, NULL, 0,
								   there_id, &task));
		assert_ok(doca_task_submit(doca_comch_producer_task_send_as_task(task)));
	}
	assert_true(drive(&n_sent, n + 8));
	assert_int_equal(atomic_load(&n_locks), 0);
	assert_false(fault_fired());
	fault_disarm();
	assert_int_equal(fault_count_commands(), commands);
	assert_int_equal(n_failed, 0);
}

/* rule: FP-20 */
static void messages_are_sent_without_allocation_and_lock(void **state)
{
	struct doca_comch_producer *producer;
	struct doca_ctx *ctx;

	flow_ok(THERE, FLOW_CONSUMER, 0, 64, SMALL, 0);
	there_id = flow_value;
	flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(THERE, FLOW_REPOST, 0, true, 0, 0);
	flow_ok(THERE, FLOW_POST, 0, 64, 0, 0);
	flow_ok(HERE, FLOW_WORD, 0, there_id, 0, 0);
	assert_ok(doca_comch_producer_create(flow_connection(), &producer));
	ctx = doca_comch_producer_as_ctx(producer);
	assert_ok(doca_comch_producer_task_send_set_conf(producer, send_again, send_again, 8));
	assert_ok(doca_pe_connect_ctx(flow.pe, ctx));
	assert_ok(doca_ctx_start(ctx));
	n_failed = 0;
	assert_ok(send_one(producer)); /* it connects */
	stream(producer, 2000);
	make_idle(ctx);
	assert_ok(doca_comch_producer_destroy(producer));
}

/* rule: FP-20 */
static void messages_are_received_without_allocation_and_lock(void **state)
{
	struct flow_object *o;
	uint32_t id;

	flow_ok(HERE, FLOW_CONSUMER, 0, 64, SMALL, 0);
	id = flow_value;
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_REPOST, 0, true, 0, 0);
	flow_ok(HERE, FLOW_POST, 0, 64, true, 0);
	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(THERE, FLOW_PRODUCER, 0, 64, SMALL, 0);
	flow_ok(THERE, FLOW_SEND, 0, 10, 0, id | 8 << 16);
	flow_ok(HERE, FLOW_RECEIVED, 0, 10, 0, 0);
	flow_ok(THERE, FLOW_SEND, 0, 40, 0, id | 8 << 16);
	o = flow.consumers[0];
	fault_arm(FAULT_ALLOC, 1, ENOMEM);
	atomic_store(&n_locks, 0);
	assert_true(drive(&o->n_done, 50));
	assert_int_equal(atomic_load(&n_locks), 0);
	assert_false(fault_fired());
	fault_disarm();
	assert_int_equal(o->n_failed, 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		flow_test(failures_of_a_producer_leave_nothing_behind),
		flow_test(failures_of_a_consumer_leave_nothing_behind),
		flow_test(failures_to_connect_a_producer_of_the_peer_reach_it),
		flow_test(messages_are_sent_without_allocation_and_lock),
		flow_test(messages_are_received_without_allocation_and_lock),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return flow_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
