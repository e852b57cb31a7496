/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Messages from producers to consumers. */
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>

#include "flow.h"

#define SMALL 64u
#define MIB   (1u << 20)

/* Consumer 0 there, and producer 0 here; returns the consumer's id. */
static uint32_t open_pair(uint32_t tasks, uint32_t size)
{
	uint32_t id;

	flow_ok(THERE, FLOW_CONSUMER, 0, tasks, size, 0);
	id = flow_value;
	flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(HERE, FLOW_PRODUCER, 0, tasks, size, 0);
	return id;
}

static uint32_t with_imm(uint32_t id, uint32_t imm_len)
{
	return id | imm_len << 16;
}

/* All that was sent by producer 0 here has arrived, and nothing else. */
static void assert_arrived(uint32_t n)
{
	flow_ok(HERE, FLOW_SENT, 0, n, 0, 0);
	flow_ok(THERE, FLOW_RECEIVED, 0, n, 0, 0);
	flow_is(THERE, FLOW_COUNT, 0, 0, 0, 0, n);
	flow_is(THERE, FLOW_BAD, 0, 0, 0, 0, 0);
}

/* rule: FP-5, FP-7a, X-13 */
static void messages_sent_arrive(void **state)
{
	uint32_t id = open_pair(4, SMALL);

	flow_ok(THERE, FLOW_POST, 0, 4, 0, 0);
	flow_ok(HERE, FLOW_SEND, 0, 4, SMALL, id);
	assert_arrived(4);
}

static struct doca_comch_producer_task_send *alloc_send(const struct doca_buf *buf, uint32_t id)
{
	struct doca_comch_producer_task_send *send;

	assert_ok(doca_comch_producer_task_send_alloc_init(flow.producers[0]->producer, buf, NULL,
							   0, id, &send));
	return send;
}

static unsigned int n_same;

static void count_same(struct doca_comch_producer_task_send *task, union doca_data task_user_data,
		       union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	n_same++;
	doca_task_free(doca_comch_producer_task_send_as_task(task));
}

/* rule: FP-7a */
static void several_tasks_with_one_buf_arrive(void **state)
{
	uint32_t id = open_pair(3, SMALL);
	struct flow_object *o = flow.producers[0];
	struct doca_buf *buf;

	n_same = 0;
	assert_ok(doca_ctx_stop(o->ctx));
	assert_ok(doca_comch_producer_task_send_set_conf(o->producer, count_same, count_same, 3));
	assert_ok(doca_ctx_start(o->ctx));
	flow_ok(THERE, FLOW_POST, 0, 3, 0, 0);
	assert_ok(doca_buf_inventory_buf_get_by_data(o->inventory, o->mmap, o->bytes, 3, &buf));
	for (int i = 0; i < 3; i++)
		assert_ok(doca_task_submit(
			doca_comch_producer_task_send_as_task(alloc_send(buf, id))));
	assert_true(flow_wait(&n_same, 3));
	flow_ok(THERE, FLOW_RECEIVED, 0, 3, 0, 0);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
}

/* rule: FP-7b, FP-8, FE-producer-id */
static void immediate_data_without_bufs_arrives(void **state)
{
	uint32_t there, id;

	flow_ok(HERE, FLOW_CONSUMER, 0, 2, SMALL, 0);
	id = flow_value;
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_POST, 0, 2, true, 0);
	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(THERE, FLOW_PRODUCER, 0, 2, SMALL, 0);
	there = flow_value;
	flow_ok(THERE, FLOW_SEND, 0, 1, 0, with_imm(id, 32));
	flow_ok(HERE, FLOW_RECEIVED, 0, 1, 0, 0);
	assert_int_equal(flow.consumers[0]->imm_len, 32);
	assert_int_equal(flow.consumers[0]->producer_id, there);
	fixture_fill(flow.consumers[0]->bytes, 32, 0);
	assert_memory_equal(flow.consumers[0]->imm, flow.consumers[0]->bytes, 32);
	flow_ok(THERE, FLOW_SEND, 0, 1, 0, id);
	flow_ok(HERE, FLOW_RECEIVED, 0, 2, 0, 0);
	assert_int_equal(flow.consumers[0]->imm_len, 0); /* and NULL: flow.c */
}

/* rule: FP-8 */
static void immediate_data_of_any_length_arrives_with_data(void **state)
{
	uint32_t id;

	flow_ok(HERE, FLOW_CONSUMER, 0, 33, SMALL, 0);
	id = flow_value;
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_POST, 0, 33, 0, 0);
	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(THERE, FLOW_PRODUCER, 0, 1, SMALL, 0);
	for (uint32_t len = 0; len <= 32; len++) {
		uint8_t imm[64];

		flow_ok(THERE, FLOW_SEND, 0, 1, SMALL - len, with_imm(id, len));
		flow_ok(HERE, FLOW_RECEIVED, 0, len + 1, 0, 0);
		fixture_fill(imm, sizeof(imm), len);
		assert_int_equal(flow.consumers[0]->imm_len, len);
		assert_memory_equal(flow.consumers[0]->imm, imm, len);
	}
	flow_is(HERE, FLOW_BAD, 0, 0, 0, 0, 0);
}

/* rule: FE-alloc-4, FP-8 */
static void immediate_data_longer_than_the_consumer_wants_is_refused(void **state)
{
	struct doca_comch_producer_task_send *task;
	uint8_t imm[33] = {0};
	uint32_t id;

	flow_ok(THERE, FLOW_CONSUMER, 0, 2, SMALL, 0);
	id = flow_value;
	flow_ok(THERE, FLOW_IMM, 0, 5, 0, 0);
	flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(THERE, FLOW_POST, 0, 2, 0, 0);
	flow_ok(HERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(HERE, FLOW_PRODUCER, 0, 2, SMALL, 0);
	flow_ok(HERE, FLOW_SEND, 0, 1, SMALL, with_imm(id, 5));
	assert_error(flow_send(flow.producers[0], SMALL, id, 6), DOCA_ERROR_INVALID_VALUE);
	task = alloc_send(NULL, id);
	doca_comch_producer_task_send_set_imm_data(task, imm, sizeof(imm));
	assert_error(doca_task_submit(doca_comch_producer_task_send_as_task(task)),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_task_try_submit(doca_comch_producer_task_send_as_task(task)),
		     DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_comch_producer_task_send_as_task(task));
	assert_arrived(1);
}

/* rule: FP-6 */
static void message_extends_the_data_of_its_buf(void **state)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct flow_object *o;
	struct doca_buf *buf;
	uint8_t expected[20];
	uint16_t refs;
	uint32_t id;
	size_t len;

	flow_ok(HERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	id = flow_value;
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(THERE, FLOW_PRODUCER, 0, 1, SMALL, 0);
	o = flow.consumers[0];
	memset(o->bytes, 0x11, SMALL);
	assert_ok(doca_buf_inventory_buf_get_by_data(o->inventory, o->mmap, o->bytes, 10, &buf));
	assert_ok(doca_buf_inc_refcount(buf, &refs));
	assert_ok(doca_buf_inc_refcount(buf, &refs));
	assert_ok(doca_comch_consumer_task_post_recv_alloc_init(o->consumer, buf, &recv));
	o->tasks[0].task = doca_comch_consumer_task_post_recv_as_task(recv);
	o->tasks[0].buf = buf;
	doca_task_set_user_data(o->tasks[0].task, (union doca_data){.ptr = &o->tasks[0]});
	/* The buf is as long as its data: get_by_data. */
	assert_ok(doca_buf_reset_data_len(buf));
	assert_ok(doca_task_submit(o->tasks[0].task));
	flow_ok(THERE, FLOW_SEND, 0, 1, 3, id);
	flow_ok(HERE, FLOW_RECEIVED, 0, 1, 0, 0);
	assert_ok(doca_buf_get_data_len(buf, &len));
	assert_int_equal(len, 3);
	/* Another one behind it. */
	assert_ok(doca_comch_consumer_task_post_recv_alloc_init(o->consumer, buf, &recv));
	o->tasks[0].task = doca_comch_consumer_task_post_recv_as_task(recv);
	o->tasks[0].buf = buf;
	doca_task_set_user_data(o->tasks[0].task, (union doca_data){.ptr = &o->tasks[0]});
	assert_ok(doca_task_submit(o->tasks[0].task));
	flow_ok(THERE, FLOW_SEND, 0, 1, 2, id);
	flow_ok(HERE, FLOW_RECEIVED, 0, 2, 0, 0);
	assert_ok(doca_buf_get_data_len(buf, &len));
	assert_int_equal(len, 5);
	fixture_fill(expected, 3, 0);
	fixture_fill(expected + 3, 2, 1);
	assert_memory_equal(o->bytes, expected, 5);
	assert_int_equal(o->bytes[5], 0x11);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
}

/* rule: FP-6, FP-11 */
static void posting_again_from_the_callback_goes_on(void **state)
{
	uint32_t id = open_pair(8, SMALL);

	flow_ok(THERE, FLOW_REPOST, 0, true, 0, 0);
	flow_ok(THERE, FLOW_POST, 0, 8, 0, 0);
	flow_ok(HERE, FLOW_SEND, 0, 1000, SMALL, id);
	assert_arrived(1000);
}

/* rule: FP-7c */
static void message_longer_than_the_posted_buf_fails_alone(void **state)
{
	uint32_t id;

	flow_ok(THERE, FLOW_CONSUMER, 0, 6, SMALL, 0);
	id = flow_value;
	flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(THERE, FLOW_POST, 0, 5, 0, 0);
	flow_ok(HERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(HERE, FLOW_PRODUCER, 0, 8, 2 * SMALL, 0);
	flow_ok(HERE, FLOW_SEND, 0, 2, SMALL, id);
	flow_ok(HERE, FLOW_SEND, 0, 1, SMALL + 1, id);
	flow_ok(HERE, FLOW_SEND, 0, 3, SMALL, id);
	flow_ok(HERE, FLOW_UNSENT, 0, 1, 0, 0);
	flow_is(HERE, FLOW_ERROR, 0, true, 0, 0, DOCA_ERROR_INVALID_VALUE);
	assert_arrived(5);
	flow_ok(THERE, FLOW_STATE, 0, false, DOCA_CTX_STATE_RUNNING, 0);
	flow_ok(HERE, FLOW_STATE, 0, true, DOCA_CTX_STATE_RUNNING, 0);
	flow_is(HERE, FLOW_SENT_COUNT, 0, 0, 0, 0, 5);
	flow_ok(THERE, FLOW_FAILED, 0, 0, 0, 0);
}

/* rule: FP-9 */
static void receives_are_taken_in_posting_order(void **state)
{
	const uint32_t n = 100;
	uint32_t id;

	flow_ok(HERE, FLOW_CONSUMER, 0, n, SMALL, 0);
	id = flow_value;
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_POST, 0, n, 0, 0);
	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(THERE, FLOW_PRODUCER, 0, 16, SMALL, 0);
	flow_ok(THERE, FLOW_SEND, 0, n, SMALL, id);
	flow_ok(HERE, FLOW_RECEIVED, 0, n, 0, 0);
	for (uint32_t i = 0; i < n; i++)
		assert_memory_equal(flow.consumers[0]->bytes + (size_t)i * SMALL, &i, sizeof(i));
}

/* rule: FP-10 */
static void send_before_the_first_receive_waits_for_it(void **state)
{
	uint32_t id = open_pair(4, SMALL);

	flow_ok(HERE, FLOW_FREEZE, FLOW_FAST_ENGINE, 0, 0, 0);
	flow_ok(HERE, FLOW_SEND, 0, 4, SMALL, id);
	flow_ok(THERE, FLOW_POST, 0, 4, 0, 0);
	/* The engine of the connection is enough to connect. */
	flow_ok(THERE, FLOW_RECEIVED, 0, 4, 0, 0);
	flow_ok(HERE, FLOW_FREEZE, 0, 0, 0, 0);
	assert_arrived(4);
}

/* rule: FP-10 */
static void send_without_any_progress_arrives(void **state)
{
	uint32_t id = open_pair(4, SMALL);

	flow_ok(THERE, FLOW_POST, 0, 1, 0, 0);
	flow_ok(HERE, FLOW_SEND, 0, 1, SMALL, id);
	assert_arrived(1);
	flow_ok(HERE, FLOW_FREEZE, FLOW_FAST_ENGINE | FLOW_NODE_ENGINE, 0, 0, 0);
	flow_ok(HERE, FLOW_SEND, 0, 3, SMALL, id);
	flow_ok(THERE, FLOW_POST, 0, 3, 0, 0);
	flow_ok(THERE, FLOW_RECEIVED, 0, 4, 0, 0);
	flow_ok(HERE, FLOW_FREEZE, 0, 0, 0, 0);
	assert_arrived(4);
}

/* rule: FP-10 */
static void consumer_is_reached_by_the_engine_of_its_connection(void **state)
{
	uint32_t id = open_pair(4, SMALL);

	flow_ok(THERE, FLOW_POST, 0, 4, 0, 0);
	flow_ok(THERE, FLOW_FREEZE, FLOW_FAST_ENGINE, 0, 0, 0);
	flow_ok(HERE, FLOW_SEND, 0, 4, SMALL, id);
	flow_ok(HERE, FLOW_SENT, 0, 4, 0, 0); /* the data is there */
	flow_ok(THERE, FLOW_FREEZE, 0, 0, 0, 0);
	assert_arrived(4);
}

/* In both directions at once. */
static void exchange(uint32_t tasks, uint32_t n, uint32_t size)
{
	uint32_t here, there;

	flow_ok(HERE, FLOW_CONSUMER, 0, tasks, size, 0);
	here = flow_value;
	flow_ok(THERE, FLOW_CONSUMER, 0, tasks, size, 0);
	there = flow_value;
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_REPOST, 0, true, 0, 0);
	flow_ok(THERE, FLOW_REPOST, 0, true, 0, 0);
	flow_ok(HERE, FLOW_POST, 0, tasks, 0, 0);
	flow_ok(THERE, FLOW_POST, 0, tasks, 0, 0);
	flow_ok(HERE, FLOW_WORD, 0, there, 0, 0);
	flow_ok(THERE, FLOW_WORD, 0, here, 0, 0);
	flow_ok(HERE, FLOW_PRODUCER, 0, tasks, size, 0);
	flow_ok(THERE, FLOW_PRODUCER, 0, tasks, size, 0);
	flow_ok(HERE, FLOW_SEND, 0, tasks, size, there);
	flow_ok(THERE, FLOW_SEND, 0, n, size, here);
	flow_ok(HERE, FLOW_SEND, 0, n - tasks, size, there);
	flow_ok(HERE, FLOW_SENT, 0, n, 0, 0);
	flow_ok(THERE, FLOW_SENT, 0, n, 0, 0);
	flow_ok(HERE, FLOW_RECEIVED, 0, n, 0, 0);
	flow_ok(THERE, FLOW_RECEIVED, 0, n, 0, 0);
	flow_is(HERE, FLOW_BAD, 0, 0, 0, 0, 0);
	flow_is(THERE, FLOW_BAD, 0, 0, 0, 0, 0);
}

/* rule: FP-11 */
static void each_side_may_have_1024_tasks_in_both_directions(void **state)
{
	exchange(FLOW_TASKS, 3 * FLOW_TASKS, 128);
}

/* rule: FP-11 */
static void messages_of_64_kib_less_one_arrive(void **state)
{
	exchange(16, 48, 65535);
}

/* rule: FP-11 */
static void messages_of_1_mib_arrive_in_both_directions(void **state)
{
	exchange(4, 12, MIB);
}

/* rule: FP-11 */
static void fast_path_capabilities_allow_what_programs_use(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(flow.node.dev);
	uint32_t value;

	assert_ok(doca_comch_consumer_cap_is_supported(info));
	assert_ok(doca_comch_producer_cap_is_supported(info));
	assert_ok(doca_comch_consumer_cap_get_max_num_tasks(info, &value));
	assert_true(value >= 1024);
	assert_ok(doca_comch_producer_cap_get_max_num_tasks(info, &value));
	assert_true(value >= 1024);
	assert_ok(doca_comch_consumer_cap_get_max_buf_size(info, &value));
	assert_true(value >= MIB);
	assert_ok(doca_comch_producer_cap_get_max_buf_size(info, &value));
	assert_true(value >= MIB);
	assert_ok(doca_comch_consumer_cap_get_max_buf_list_len(info, &value));
	assert_int_equal(value, 1);
	assert_ok(doca_comch_producer_cap_get_max_buf_list_len(info, &value));
	assert_int_equal(value, 1);
	assert_ok(doca_comch_consumer_cap_get_max_imm_data_len(info, &value));
	assert_int_equal(value, 32);
	assert_ok(doca_comch_consumer_cap_get_max_consumers(info, &value));
	assert_true(value > 0);
	assert_ok(doca_comch_producer_cap_get_max_producers(info, &value));
	assert_true(value > 0);
}

/* rule: FP-17 */
static void several_producers_reach_one_consumer(void **state)
{
	const uint32_t n = 200, producers = 4;
	uint32_t id;

	flow_ok(HERE, FLOW_CONSUMER, 0, 32, SMALL, 0);
	id = flow_value;
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_REPOST, 0, true, 0, 0);
	flow_ok(HERE, FLOW_POST, 0, 32, 0, 0);
	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	for (uint32_t i = 0; i < producers; i++)
		flow_ok(THERE, FLOW_PRODUCER, i, 32, SMALL, 0);
	for (uint32_t round = 0; round < 4; round++)
		for (uint32_t i = 0; i < producers; i++)
			flow_ok(THERE, FLOW_SEND, i, n / 4, SMALL, id);
	flow_ok(HERE, FLOW_RECEIVED, 0, n * producers, 0, 0);
	flow_is(HERE, FLOW_BAD, 0, 0, 0, 0, 0);
}

/* rule: FP-17 */
static void one_producer_reaches_several_consumers(void **state)
{
	const uint32_t n = 100, consumers = 4;
	uint32_t ids[4];

	for (uint32_t i = 0; i < consumers; i++) {
		flow_ok(THERE, FLOW_CONSUMER, i, 16, SMALL, 0);
		ids[i] = flow_value;
		flow_ok(THERE, FLOW_RUN, i, 0, 0, 0);
		flow_ok(THERE, FLOW_REPOST, i, true, 0, 0);
		flow_ok(THERE, FLOW_POST, i, 16, 0, 0);
		flow_ok(HERE, FLOW_WORD, 0, ids[i], 0, 0);
	}
	flow_ok(HERE, FLOW_PRODUCER, 0, 16, SMALL, 0);
	for (uint32_t i = 0; i < n * consumers; i++)
		flow_ok(HERE, FLOW_SEND, 0, 1, SMALL, ids[i % consumers]);
	for (uint32_t i = 0; i < consumers; i++) {
		flow_ok(THERE, FLOW_RECEIVED, i, n, 0, 0);
		flow_is(THERE, FLOW_BAD, i, 0, 0, 0, 0);
	}
}

/* rule: FP-17 */
static void task_can_change_its_consumer(void **state)
{
	struct doca_comch_producer_task_send *task;
	uint32_t ids[2];

	for (uint32_t i = 0; i < 2; i++) {
		flow_ok(THERE, FLOW_CONSUMER, i, 1, SMALL, 0);
		ids[i] = flow_value;
		flow_ok(THERE, FLOW_RUN, i, 0, 0, 0);
		flow_ok(THERE, FLOW_POST, i, 1, 0, 0);
		flow_ok(HERE, FLOW_WORD, 0, ids[i], 0, 0);
	}
	flow_ok(HERE, FLOW_PRODUCER, 0, 1, SMALL, 0);
	task = alloc_send(NULL, ids[0]);
	doca_comch_producer_task_send_set_consumer_id(task, ids[1]);
	assert_int_equal(doca_comch_producer_task_send_get_consumer_id(task), ids[1]);
	flow.producers[0]->tasks[0].task = doca_comch_producer_task_send_as_task(task);
	doca_task_set_user_data(flow.producers[0]->tasks[0].task,
				(union doca_data){.ptr = &flow.producers[0]->tasks[0]});
	assert_ok(doca_task_submit(flow.producers[0]->tasks[0].task));
	flow_ok(HERE, FLOW_SENT, 0, 1, 0, 0);
	flow_ok(THERE, FLOW_RECEIVED, 1, 1, 0, 0);
	flow_is(THERE, FLOW_COUNT, 0, 0, 0, 0, 0);
}

/* rule: X-14 */
static void engines_that_wait_for_events_miss_no_message(void **state)
{
	uint32_t id;

	flow_waits_for_events = true;
	flow_ok(HERE, FLOW_CONSUMER, 0, 4, SMALL, 0);
	id = flow_value;
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_REPOST, 0, true, 0, 0);
	flow_ok(HERE, FLOW_POST, 0, 4, 0, 0);
	flow_ok(THERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(THERE, FLOW_PRODUCER, 0, 4, SMALL, 0);
	for (uint32_t i = 0; i < 20; i++) {
		flow_ok(THERE, FLOW_SEND, 0, 3, SMALL, id);
		flow_ok(HERE, FLOW_RECEIVED, 0, 3 * (i + 1), 0, 0);
	}
	flow_ok(THERE, FLOW_CONSUMER, 1, 4, SMALL, 0);
	id = flow_value;
	flow_ok(THERE, FLOW_RUN, 1, 0, 0, 0);
	flow_ok(THERE, FLOW_REPOST, 1, true, 0, 0);
	flow_ok(THERE, FLOW_POST, 1, 4, 0, 0);
	flow_ok(HERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(HERE, FLOW_PRODUCER, 1, 4, SMALL, 0);
	for (uint32_t i = 0; i < 20; i++) {
		flow_ok(HERE, FLOW_SEND, 1, 3, SMALL, id);
		flow_ok(HERE, FLOW_SENT, 1, 3 * (i + 1), 0, 0);
	}
	assert_int_equal(flow_missed, 0);
	flow_waits_for_events = false;
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		flow_test(messages_sent_arrive),
		flow_test(several_tasks_with_one_buf_arrive),
		flow_test(immediate_data_without_bufs_arrives),
		flow_test(immediate_data_of_any_length_arrives_with_data),
		flow_test(immediate_data_longer_than_the_consumer_wants_is_refused),
		flow_test(message_extends_the_data_of_its_buf),
		flow_test(posting_again_from_the_callback_goes_on),
		flow_test(message_longer_than_the_posted_buf_fails_alone),
		flow_test(receives_are_taken_in_posting_order),
		flow_test(send_before_the_first_receive_waits_for_it),
		flow_test(send_without_any_progress_arrives),
		flow_test(consumer_is_reached_by_the_engine_of_its_connection),
		flow_test(each_side_may_have_1024_tasks_in_both_directions),
		flow_test(messages_of_64_kib_less_one_arrive),
		flow_test(messages_of_1_mib_arrive_in_both_directions),
		flow_test(fast_path_capabilities_allow_what_programs_use),
		flow_test(several_producers_reach_one_consumer),
		flow_test(one_producer_reaches_several_consumers),
		flow_test(task_can_change_its_consumer),
		flow_test(engines_that_wait_for_events_miss_no_message),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return flow_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
