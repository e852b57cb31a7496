/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How consumers and producers start, stop, and lose their connection. */
#include <string.h>

#include <doca_buf.h>

#include "flow.h"

#define SMALL 64u
#define TASKS 16u

static uint32_t open_pair(void)
{
	uint32_t id;

	flow_ok(THERE, FLOW_CONSUMER, 0, TASKS, SMALL, 0);
	id = flow_value;
	flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(HERE, FLOW_PRODUCER, 0, TASKS, SMALL, 0);
	return id;
}

static uint32_t run_consumer_here(void)
{
	uint32_t id;

	flow_ok(HERE, FLOW_CONSUMER, 0, TASKS, SMALL, 0);
	id = flow_value;
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	return id;
}

static uint32_t eager_id;
static doca_error_t eager_result;
static bool eager_ran;

static void send_when_running(const union doca_data data, struct doca_ctx *ctx,
			      enum doca_ctx_states prev, enum doca_ctx_states next)
{
	(void)data;
	(void)ctx;
	(void)prev;
	if (next != DOCA_CTX_STATE_RUNNING)
		return;
	eager_ran = true;
	eager_result = flow_send(flow.producers[0], SMALL, eager_id, 0);
}

/* rule: FP-1 */
static void producer_sends_in_the_callback_of_its_start(void **state)
{
	struct flow_object *o;

	eager_id = open_pair();
	eager_ran = false;
	flow_ok(THERE, FLOW_POST, 0, 1, 0, 0);
	o = flow.producers[0];
	assert_string_equal(o->states, "RUNNING"); /* doca_ctx_start() was SUCCESS: flow.c */
	assert_ok(doca_ctx_stop(o->ctx));
	assert_ok(doca_ctx_set_state_changed_cb(o->ctx, send_when_running));
	assert_ok(doca_ctx_start(o->ctx));
	assert_true(eager_ran);
	assert_ok(eager_result);
	flow_ok(HERE, FLOW_SENT, 0, 1, 0, 0);
	flow_ok(THERE, FLOW_RECEIVED, 0, 1, 0, 0);
}

/* rule: FP-2, FP-3a */
static void consumer_start_is_in_progress_until_the_peer_knows_it(void **state)
{
	uint32_t first = run_consumer_here(), second;

	assert_string_equal(flow.consumers[0]->states, "STARTING RUNNING");
	flow_ok(HERE, FLOW_CONSUMER, 1, 1, SMALL, 0);
	second = flow_value;
	flow_ok(HERE, FLOW_RUN, 1, 0, 0, 0);
	assert_true(first && first < 0xffff && second && second < 0xffff && first != second);
	flow_ok(THERE, FLOW_WORD, 0, first, 0, 0);
	flow_ok(THERE, FLOW_WORD, 0, second, 0, 0);
	flow_is(THERE, FLOW_WORDS, 0, first, 0, 0, 1);
}

/* rule: FP-2 */
static void consumer_that_is_stopped_while_it_starts_becomes_idle(void **state)
{
	flow_ok(HERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	assert_error(flow_do(HERE, FLOW_BEGIN, 0, 0, 0, 0), DOCA_ERROR_IN_PROGRESS);
	assert_ok(doca_ctx_stop(flow.consumers[0]->ctx));
	assert_string_equal(flow.consumers[0]->states, "STARTING IDLE");
	flow.consumers[0]->states[0] = 0;
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
}

/* rule: FP-3b */
static void peer_hears_of_a_consumer_that_stops(void **state)
{
	uint32_t id = run_consumer_here();

	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(HERE, FLOW_DESTROY, 0, 0, 0, 0);
	flow_ok(THERE, FLOW_WORD, 1, id, 0, 0);
	flow_is(THERE, FLOW_WORDS, 1, id, 0, 0, 1);
}

/* rule: FP-3b */
static void consumer_of_a_killed_process_is_reported_gone(void **state)
{
	uint32_t id = open_pair();

	assert_true(process_kill(&flow_peer));
	flow_ok(HERE, FLOW_WORD, 1, id, 0, 0);
}

/* rule: FP-4 */
static void consumer_that_started_earlier_is_reported(void **state)
{
	uint32_t id;

	flow_ok(THERE, FLOW_FREEZE, FLOW_NODE_ENGINE, 0, 0, 0);
	flow_ok(HERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	id = flow_value;
	assert_error(flow_do(HERE, FLOW_BEGIN, 0, 0, 0, 0), DOCA_ERROR_IN_PROGRESS);
	flow_is(THERE, FLOW_WORDS, 0, id, 0, 0, 0);
	flow_ok(THERE, FLOW_FREEZE, 0, 0, 0, 0);
	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(HERE, FLOW_STATE, 0, false, DOCA_CTX_STATE_RUNNING, 0);
}

/* rule: FP-13 */
static void producer_stops_by_its_own_engine_with_tasks_nobody_receives(void **state)
{
	uint32_t id = open_pair();
	struct flow_object *o = flow.producers[0];

	flow_ok(THERE, FLOW_POST, 0, 2, 0, 0);
	flow_ok(HERE, FLOW_SEND, 0, TASKS, SMALL, id);
	flow_ok(HERE, FLOW_SENT, 0, 2, 0, 0);
	flow_ok(HERE, FLOW_FREEZE, FLOW_NODE_ENGINE, 0, 0, 0);
	assert_error(doca_ctx_stop(o->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_true(flow_wait_state(o, DOCA_CTX_STATE_IDLE));
	assert_string_equal(o->states, "RUNNING STOPPING IDLE");
	assert_int_equal(o->n_failed, TASKS - 2);
	assert_int_equal(o->error, DOCA_ERROR_SHUTDOWN);
}

/* rule: FP-13 */
static void producer_stops_before_its_path_is_there(void **state)
{
	uint32_t id = open_pair();
	struct flow_object *o = flow.producers[0];

	flow_ok(HERE, FLOW_FREEZE, FLOW_NODE_ENGINE | FLOW_FAST_ENGINE, 0, 0, 0);
	flow_ok(HERE, FLOW_SEND, 0, 3, SMALL, id);
	assert_error(doca_ctx_stop(o->ctx), DOCA_ERROR_IN_PROGRESS);
	flow_ok(HERE, FLOW_FREEZE, FLOW_NODE_ENGINE, 0, 0, 0);
	assert_true(flow_wait_state(o, DOCA_CTX_STATE_IDLE));
	assert_int_equal(o->n_failed, 3);
	assert_int_equal(o->error, DOCA_ERROR_SHUTDOWN);
	/* An answer that comes late does no harm. */
	flow_ok(HERE, FLOW_FREEZE, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_BEGIN, 0, true, 0, 0);
	flow_ok(THERE, FLOW_POST, 0, 1, 0, 0);
	flow_ok(HERE, FLOW_SEND, 0, 1, SMALL, id);
	flow_ok(HERE, FLOW_SENT, 0, 1, 0, 0);
	flow_ok(THERE, FLOW_RECEIVED, 0, 1, 0, 0);
}

/* rule: FP-14a */
static void posted_tasks_fail_when_their_consumer_stops(void **state)
{
	struct flow_object *o;

	run_consumer_here();
	flow_ok(HERE, FLOW_POST, 0, TASKS, 0, 0);
	o = flow.consumers[0];
	assert_error(doca_ctx_stop(o->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(o->n_failed, 0); /* not inside doca_ctx_stop() */
	assert_true(flow_wait_state(o, DOCA_CTX_STATE_IDLE));
	assert_string_equal(o->states, "STARTING RUNNING STOPPING IDLE");
	assert_int_equal(o->n_failed, TASKS);
	assert_int_equal(o->error, DOCA_ERROR_SHUTDOWN);
}

/* rule: FP-14a */
static void messages_received_before_the_stop_are_delivered(void **state)
{
	uint32_t id = run_consumer_here();
	struct flow_object *o = flow.consumers[0];

	flow_ok(HERE, FLOW_POST, 0, TASKS, 0, 0);
	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(THERE, FLOW_PRODUCER, 0, TASKS, SMALL, 0);
	flow_ok(HERE, FLOW_FREEZE, FLOW_FAST_ENGINE, 0, 0, 0);
	flow_ok(THERE, FLOW_SEND, 0, 5, SMALL, id);
	flow_ok(THERE, FLOW_SENT, 0, 5, 0, 0);
	assert_error(doca_ctx_stop(o->ctx), DOCA_ERROR_IN_PROGRESS);
	flow_ok(HERE, FLOW_FREEZE, 0, 0, 0, 0);
	assert_true(flow_wait_state(o, DOCA_CTX_STATE_IDLE));
	assert_int_equal(o->n_done, 5);
	assert_int_equal(o->n_bad, 0);
	assert_int_equal(o->n_failed, TASKS - 5);
}

/* rule: FP-14b */
static void posted_tasks_may_be_freed_before_the_stop(void **state)
{
	struct flow_object *o;
	size_t n;

	run_consumer_here();
	flow_ok(HERE, FLOW_POST, 0, TASKS, 0, 0);
	flow_ok(HERE, FLOW_DROP, 0, 0, 0, 0);
	o = flow.consumers[0];
	assert_ok(doca_ctx_get_num_inflight_tasks(o->ctx, &n));
	assert_int_equal(n, 0);
	doca_ctx_stop(o->ctx);
	assert_true(flow_wait_state(o, DOCA_CTX_STATE_IDLE));
	assert_int_equal(o->n_failed + o->n_done, 0);
	/* Memory, map and inventory go before the consumer. */
	assert_ok(doca_mmap_stop(o->mmap));
	assert_ok(doca_mmap_start(o->mmap));
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_POST, 0, TASKS, 0, 0);
}

/* rule: FP-14b */
static void message_for_a_freed_task_disappears(void **state)
{
	uint32_t id = run_consumer_here();

	flow_ok(HERE, FLOW_POST, 0, 2, 0, 0);
	flow_ok(HERE, FLOW_DROP, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_POST, 0, 1, 0, 0);
	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(THERE, FLOW_PRODUCER, 0, TASKS, SMALL, 0);
	flow_ok(THERE, FLOW_SEND, 0, 3, SMALL, id);
	flow_ok(HERE, FLOW_RECEIVED, 0, 1, 0, 0);
	flow_is(HERE, FLOW_BAD, 0, 0, 0, 0, 0);
	/* All tasks are there again. */
	flow_ok(HERE, FLOW_POST, 0, TASKS, 0, 0);
	flow_ok(THERE, FLOW_SENT, 0, 3, 0, 0);
}

/* rule: X-6 */
static void freed_tasks_of_both_kinds_can_be_read(void **state)
{
	uint32_t id = open_pair(), here;
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_producer_task_send *send;
	uint8_t imm[3] = {1, 2, 3};

	here = run_consumer_here();
	(void)here;
	assert_ok(doca_comch_producer_task_send_alloc_init(flow.producers[0]->producer, NULL, imm,
							   sizeof(imm), id, &send));
	assert_ok(doca_comch_consumer_task_post_recv_alloc_init(flow.consumers[0]->consumer, NULL,
								&recv));
	doca_comch_producer_task_send_set_buf(send, (const void *)imm); /* not used */
	doca_task_free(doca_comch_producer_task_send_as_task(send));
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(recv));
	flow_ok(HERE, FLOW_HALT, 0, true, 0, 0);
	flow_ok(HERE, FLOW_HALT, 0, false, 0, 0);
	assert_ptr_equal(doca_comch_producer_task_send_get_buf(send), imm);
	assert_int_equal(doca_comch_producer_task_send_get_consumer_id(send), id);
	assert_int_equal(doca_comch_producer_task_send_get_imm_data_len(send), sizeof(imm));
	assert_memory_equal(doca_comch_producer_task_send_get_imm_data(send), imm, sizeof(imm));
	assert_null(doca_comch_consumer_task_post_recv_get_buf(recv));
	assert_int_equal(doca_comch_consumer_task_post_recv_get_producer_id(recv), 0);
}

/* rule: FP-15 */
static void killed_peer_stops_a_consumer_with_posted_tasks(void **state)
{
	uint32_t id = run_consumer_here();
	struct flow_object *o = flow.consumers[0];

	flow_ok(HERE, FLOW_POST, 0, TASKS, 0, 0);
	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(THERE, FLOW_PRODUCER, 0, TASKS, SMALL, 0);
	flow_ok(THERE, FLOW_SEND, 0, 1, SMALL, id);
	flow_ok(HERE, FLOW_RECEIVED, 0, 1, 0, 0);
	assert_true(process_kill(&flow_peer));
	flow_ok(HERE, FLOW_FREEZE, FLOW_NODE_ENGINE, 0, 0, 0); /* its own engine is enough */
	assert_true(flow_wait_state(o, DOCA_CTX_STATE_IDLE));
	assert_string_equal(o->states, "STARTING RUNNING STOPPING IDLE");
	assert_int_equal(o->n_failed, TASKS - 1);
	assert_error(doca_ctx_start(o->ctx), DOCA_ERROR_BAD_STATE);
}

/* rule: FP-15 */
static void killed_peer_stops_a_producer_with_tasks(void **state)
{
	uint32_t id = open_pair();
	struct flow_object *o = flow.producers[0];

	flow_ok(THERE, FLOW_POST, 0, 2, 0, 0);
	flow_ok(HERE, FLOW_SEND, 0, TASKS, SMALL, id);
	flow_ok(HERE, FLOW_SENT, 0, 2, 0, 0);
	assert_true(process_kill(&flow_peer));
	flow_ok(HERE, FLOW_FREEZE, FLOW_NODE_ENGINE, 0, 0, 0);
	assert_true(flow_wait_state(o, DOCA_CTX_STATE_IDLE));
	assert_string_equal(o->states, "RUNNING STOPPING IDLE");
	assert_int_equal(o->n_failed, TASKS - 2);
	assert_int_equal(o->error, DOCA_ERROR_NOT_CONNECTED);
	assert_error(doca_ctx_start(o->ctx), DOCA_ERROR_BAD_STATE);
}

/* rule: FP-15 */
static void killed_peer_ends_a_consumer_that_starts(void **state)
{
	struct flow_object *o;

	flow_ok(THERE, FLOW_FREEZE, FLOW_NODE_ENGINE | FLOW_FAST_ENGINE, 0, 0, 0);
	flow_ok(HERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	o = flow.consumers[0];
	assert_error(doca_ctx_start(o->ctx), DOCA_ERROR_IN_PROGRESS);
	assert_true(process_kill(&flow_peer));
	assert_true(flow_wait_state(o, DOCA_CTX_STATE_IDLE));
	assert_null(strstr(o->states, "RUNNING"));
}

/* rule: FP-16 */
static void consumer_that_starts_when_the_connection_does_is_reported(void **state)
{
	/* flow_eager_setup() has started it and sent a message in the callback. */
	flow_ok(THERE, FLOW_WORD, 0, flow_eager_id, 0, 0);
	flow_ok(THERE, FLOW_WORD, 2, 0, 0, 0);
	flow_ok(HERE, FLOW_STATE, 0, false, DOCA_CTX_STATE_RUNNING, 0);
}

/* rule: FP-18 */
static void consumer_and_producer_start_again(void **state)
{
	uint32_t id = open_pair();

	for (uint32_t i = 1; i <= 3; i++) {
		flow_ok(THERE, FLOW_POST, 0, 2, 0, 0);
		flow_ok(HERE, FLOW_SEND, 0, 2, SMALL, id);
		flow_ok(HERE, FLOW_SENT, 0, 2 * i, 0, 0);
		flow_ok(THERE, FLOW_RECEIVED, 0, 2 * i, 0, 0);
		if (i == 1) { /* the producer alone */
			flow_ok(HERE, FLOW_HALT, 0, true, 0, 0);
			flow_ok(HERE, FLOW_BEGIN, 0, true, 0, 0);
			continue;
		}
		flow_ok(THERE, FLOW_HALT, 0, false, 0, 0);
		if (i == 2) {
			flow_ok(HERE, FLOW_WORD, 1, id, 0, 0);
			assert_error(flow_send(flow.producers[0], SMALL, id, 0),
				     DOCA_ERROR_INVALID_VALUE);
		}
		flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
	}
	flow_is(THERE, FLOW_BAD, 0, 0, 0, 0, 0);
}

/* rule: FP-19 */
static void end_of_a_consumer_fails_the_tasks_for_it_alone(void **state)
{
	uint32_t ids[2];

	for (uint32_t i = 0; i < 2; i++) {
		flow_ok(THERE, FLOW_CONSUMER, i, TASKS, SMALL, 0);
		ids[i] = flow_value;
		flow_ok(THERE, FLOW_RUN, i, 0, 0, 0);
		flow_ok(HERE, FLOW_WORD, 0, ids[i], 0, 0);
	}
	flow_ok(HERE, FLOW_PRODUCER, 0, TASKS, SMALL, 0);
	flow_ok(THERE, FLOW_POST, 0, 1, 0, 0);
	flow_ok(HERE, FLOW_SEND, 0, 5, SMALL, ids[0]);
	flow_ok(HERE, FLOW_SEND, 0, 5, SMALL, ids[1]);
	flow_ok(HERE, FLOW_SENT, 0, 1, 0, 0);
	flow_ok(THERE, FLOW_DESTROY, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_UNSENT, 0, 4, 0, 0);
	flow_is(HERE, FLOW_ERROR, 0, true, 0, 0, DOCA_ERROR_NOT_CONNECTED);
	flow_ok(THERE, FLOW_POST, 1, 5, 0, 0);
	flow_ok(HERE, FLOW_SENT, 0, 6, 0, 0);
	flow_ok(THERE, FLOW_RECEIVED, 1, 5, 0, 0);
	flow_ok(HERE, FLOW_STATE, 0, true, DOCA_CTX_STATE_RUNNING, 0);
	assert_int_equal(flow.producers[0]->n_failed, 4);
}

/* rule: FP-19 */
static void consumers_that_come_and_go_leave_nothing(void **state)
{
	flow_ok(HERE, FLOW_PRODUCER, 0, 4, SMALL, 0);
	for (uint32_t i = 1; i <= 20; i++) {
		uint32_t id;

		flow_ok(THERE, FLOW_CONSUMER, 0, 4, SMALL, 0);
		id = flow_value;
		flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
		flow_ok(THERE, FLOW_POST, 0, 2, 0, 0);
		flow_ok(HERE, FLOW_WORD, 0, id, 0, 0);
		flow_ok(HERE, FLOW_SEND, 0, 2, SMALL, id);
		flow_ok(HERE, FLOW_SENT, 0, 2 * i, 0, 0);
		flow_ok(THERE, FLOW_RECEIVED, 0, 2, 0, 0);
		flow_ok(THERE, FLOW_DESTROY, 0, 0, 0, 0);
		flow_ok(HERE, FLOW_WORD, 1, id, 0, 0);
	}
}

/* rule: CC-14 */
static void node_waits_for_the_end_of_its_consumer(void **state)
{
	run_consumer_here();
	assert_error(flow_do(HERE, FLOW_STOP, 0, 0, 0, 0), DOCA_ERROR_IN_PROGRESS);
	flow_ok(HERE, FLOW_DESTROY, 0, false, 0, 0);
	flow_ok(HERE, FLOW_NODE_STATE, DOCA_CTX_STATE_IDLE, 0, 0, 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		flow_test(producer_sends_in_the_callback_of_its_start),
		flow_test(consumer_start_is_in_progress_until_the_peer_knows_it),
		flow_test(consumer_that_is_stopped_while_it_starts_becomes_idle),
		flow_test(peer_hears_of_a_consumer_that_stops),
		flow_killing_test(consumer_of_a_killed_process_is_reported_gone),
		flow_test(consumer_that_started_earlier_is_reported),
		flow_test(producer_stops_by_its_own_engine_with_tasks_nobody_receives),
		flow_test(producer_stops_before_its_path_is_there),
		flow_test(posted_tasks_fail_when_their_consumer_stops),
		flow_test(messages_received_before_the_stop_are_delivered),
		flow_test(posted_tasks_may_be_freed_before_the_stop),
		flow_test(message_for_a_freed_task_disappears),
		flow_test(freed_tasks_of_both_kinds_can_be_read),
		flow_killing_test(killed_peer_stops_a_consumer_with_posted_tasks),
		flow_killing_test(killed_peer_stops_a_producer_with_tasks),
		flow_killing_test(killed_peer_ends_a_consumer_that_starts),
		flow_eager_test(consumer_that_starts_when_the_connection_does_is_reported),
		flow_test(consumer_and_producer_start_again),
		flow_test(end_of_a_consumer_fails_the_tasks_for_it_alone),
		flow_test(consumers_that_come_and_go_leave_nothing),
		flow_test(node_waits_for_the_end_of_its_consumer),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return flow_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
