/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What consumers, producers and their tasks refuse. */
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>

#include "flow.h"

#define SMALL 64u

static void ignore_received(struct doca_comch_consumer_task_post_recv *task,
			    union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task;
	(void)task_user_data;
	(void)ctx_user_data;
}

static void ignore_sent(struct doca_comch_producer_task_send *task, union doca_data task_user_data,
			union doca_data ctx_user_data)
{
	(void)task;
	(void)task_user_data;
	(void)ctx_user_data;
}

/* rule */
static void null_is_refused_by_consumers_and_producers(void **state)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_producer_task_send *send;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	uint32_t value = 7;

	flow_ok(HERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	flow_ok(HERE, FLOW_PRODUCER, 0, 1, SMALL, 0);
	consumer = flow.consumers[0]->consumer;
	producer = flow.producers[0]->producer;
	assert_error(doca_comch_consumer_create(NULL, flow.consumers[0]->mmap, &consumer),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_create(flow_connection(), NULL, &consumer),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_create(flow_connection(), flow.consumers[0]->mmap, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_producer_create(NULL, &producer), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_producer_create(flow_connection(), NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_producer_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_get_id(NULL, &value), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_get_id(consumer, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_producer_get_id(NULL, &value), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_producer_get_id(producer, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_set_imm_data_len(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_get_imm_data_len(NULL, &value), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_get_imm_data_len(consumer, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(
		doca_comch_consumer_task_post_recv_set_conf(consumer, NULL, ignore_received, 1),
		DOCA_ERROR_INVALID_VALUE);
	assert_error(
		doca_comch_consumer_task_post_recv_set_conf(consumer, ignore_received, NULL, 1),
		DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_task_post_recv_set_conf(NULL, ignore_received,
								 ignore_received, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_producer_task_send_set_conf(producer, NULL, ignore_sent, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_producer_task_send_set_conf(producer, ignore_sent, NULL, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_producer_task_send_set_conf(NULL, ignore_sent, ignore_sent, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_task_post_recv_alloc_init(NULL, NULL, &recv),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_task_post_recv_alloc_init(consumer, NULL, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_producer_task_send_alloc_init(NULL, NULL, NULL, 0, 1, &send),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_producer_task_send_alloc_init(producer, NULL, NULL, 0, 1, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_producer_task_send_alloc_init(producer, NULL, NULL, 1, 1, &send),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_cap_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_producer_cap_get_max_buf_size(NULL, &value),
		     DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_comch_consumer_as_ctx(NULL));
	assert_null(doca_comch_producer_as_ctx(NULL));
	assert_null(doca_comch_consumer_task_post_recv_as_task(NULL));
	assert_null(doca_comch_producer_task_send_as_task(NULL));
	assert_int_equal(value, 7);
}

static doca_error_t create_on(uint32_t access, bool start)
{
	struct flow_object *o = flow.consumers[0];
	struct doca_comch_consumer *consumer;
	struct doca_mmap *mmap;
	doca_error_t result;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_add_dev(mmap, o->dev));
	assert_ok(doca_mmap_set_memrange(mmap, o->bytes, SMALL));
	assert_ok(doca_mmap_set_permissions(mmap, access));
	if (start)
		assert_ok(doca_mmap_start(mmap));
	result = doca_comch_consumer_create(flow_connection(), mmap, &consumer);
	if (result == DOCA_SUCCESS)
		assert_ok(doca_comch_consumer_destroy(consumer));
	if (start)
		assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_destroy(mmap));
	return result;
}

/* rule: FE-create-3 */
static void map_that_cannot_receive_is_refused(void **state)
{
	flow_ok(HERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	assert_error(create_on(PCI_RW, false), DOCA_ERROR_INVALID_VALUE);
	assert_error(create_on(PCI_RO, true), DOCA_ERROR_INVALID_VALUE);
	assert_error(create_on(LOCAL_RW, true), DOCA_ERROR_INVALID_VALUE);
	assert_ok(create_on(PCI_RW, true));
	assert_ok(create_on(LOCAL_RW | PCI_RW, true));
}

/* rule: FE-create-2 */
static void consumers_and_producers_have_a_maximum(void **state)
{
	struct doca_comch_consumer *consumers[300];
	struct doca_comch_producer *producers[300];
	const struct doca_devinfo *info = doca_dev_as_devinfo(flow.node.dev);
	uint32_t max_consumers, max_producers, n = 1, m = 0;

	flow_ok(HERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	assert_ok(doca_comch_consumer_cap_get_max_consumers(info, &max_consumers));
	assert_ok(doca_comch_producer_cap_get_max_producers(info, &max_producers));
	assert_true(max_consumers <= 300 && max_producers < 300);
	for (; n < max_consumers; n++)
		assert_ok(doca_comch_consumer_create(flow_connection(), flow.consumers[0]->mmap,
						     &consumers[n]));
	assert_error(doca_comch_consumer_create(flow_connection(), flow.consumers[0]->mmap,
						&consumers[0]),
		     DOCA_ERROR_NO_MEMORY);
	for (; m < max_producers; m++)
		assert_ok(doca_comch_producer_create(flow_connection(), &producers[m]));
	assert_error(doca_comch_producer_create(flow_connection(), &producers[m]),
		     DOCA_ERROR_NO_MEMORY);
	while (n > 1)
		assert_ok(doca_comch_consumer_destroy(consumers[--n]));
	while (m)
		assert_ok(doca_comch_producer_destroy(producers[--m]));
}

/* rule: FE-create-1 */
static void create_after_the_connection_ended_is_refused(void **state)
{
	struct doca_comch_connection *connection = flow_connection();
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;

	flow_ok(HERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	assert_true(process_kill(&flow_peer));
	flow_ok(HERE, FLOW_STATE, 0, false, DOCA_CTX_STATE_IDLE, 0);
	/* The consumer still holds it. */
	assert_error(doca_comch_consumer_create(connection, flow.consumers[0]->mmap, &consumer),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_comch_producer_create(connection, &producer), DOCA_ERROR_BAD_STATE);
}

/* rule: FE-destroy, FE-imm-1, FE-conf-1, X-3, X-12 */
static void settings_and_destroy_need_an_idle_context(void **state)
{
	struct flow_object *c, *p;
	uint32_t value;

	flow_ok(HERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	flow_ok(HERE, FLOW_PRODUCER, 0, 1, SMALL, 0);
	c = flow.consumers[0];
	p = flow.producers[0];
	assert_ok(doca_comch_consumer_set_imm_data_len(c->consumer, 9));
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	assert_error(doca_comch_consumer_set_imm_data_len(c->consumer, 8), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_comch_consumer_get_imm_data_len(c->consumer, &value));
	assert_int_equal(value, 9);
	assert_error(doca_comch_consumer_task_post_recv_set_conf(c->consumer, ignore_received,
								 ignore_received, 1),
		     DOCA_ERROR_BAD_STATE);
	assert_error(
		doca_comch_producer_task_send_set_conf(p->producer, ignore_sent, ignore_sent, 1),
		DOCA_ERROR_BAD_STATE);
	assert_error(doca_comch_consumer_destroy(c->consumer), DOCA_ERROR_IN_USE);
	assert_error(doca_comch_producer_destroy(p->producer), DOCA_ERROR_IN_USE);
}

/* rule: FE-imm-2, FE-conf-2 */
static void settings_above_the_maximum_are_refused(void **state)
{
	struct flow_object *c, *p;
	uint32_t max;

	flow_ok(HERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	flow_ok(HERE, FLOW_PRODUCER, 0, 1, SMALL, 0);
	c = flow.consumers[0];
	p = flow.producers[0];
	flow_ok(HERE, FLOW_HALT, 0, true, 0, 0);
	assert_error(doca_comch_consumer_set_imm_data_len(c->consumer, 33),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_comch_consumer_set_imm_data_len(c->consumer, 0));
	assert_ok(doca_comch_consumer_set_imm_data_len(c->consumer, 32));
	assert_ok(doca_comch_consumer_cap_get_max_num_tasks(doca_dev_as_devinfo(c->dev), &max));
	assert_ok(doca_comch_consumer_task_post_recv_set_conf(c->consumer, ignore_received,
							      ignore_received, max));
	assert_error(doca_comch_consumer_task_post_recv_set_conf(c->consumer, ignore_received,
								 ignore_received, max + 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_consumer_task_post_recv_set_conf(c->consumer, ignore_received,
								 ignore_received, 0),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_comch_producer_cap_get_max_num_tasks(doca_dev_as_devinfo(c->dev), &max));
	assert_ok(
		doca_comch_producer_task_send_set_conf(p->producer, ignore_sent, ignore_sent, max));
	assert_error(doca_comch_producer_task_send_set_conf(p->producer, ignore_sent, ignore_sent,
							    max + 1),
		     DOCA_ERROR_INVALID_VALUE);
	flow_ok(HERE, FLOW_BEGIN, 0, true, 0, 0); /* so many are possible */
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
}

/* rule: FE-alloc-1, X-4 */
static void alloc_fails_without_tasks_and_without_a_running_context(void **state)
{
	struct doca_comch_consumer_task_post_recv *recv[3];
	struct doca_comch_producer_task_send *send[3];
	struct flow_object *c, *p;
	uint32_t id;

	flow_ok(THERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	id = flow_value;
	flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(HERE, FLOW_CONSUMER, 0, 2, SMALL, 0);
	flow_ok(HERE, FLOW_PRODUCER, 0, 2, SMALL, 0);
	c = flow.consumers[0];
	p = flow.producers[0];
	assert_error(doca_comch_consumer_task_post_recv_alloc_init(c->consumer, NULL, &recv[0]),
		     DOCA_ERROR_BAD_STATE);
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	for (int i = 0; i < 2; i++) {
		assert_ok(
			doca_comch_consumer_task_post_recv_alloc_init(c->consumer, NULL, &recv[i]));
		assert_ok(doca_comch_producer_task_send_alloc_init(p->producer, NULL, NULL, 0, id,
								   &send[i]));
	}
	assert_error(doca_comch_consumer_task_post_recv_alloc_init(c->consumer, NULL, &recv[2]),
		     DOCA_ERROR_NO_MEMORY);
	assert_error(
		doca_comch_producer_task_send_alloc_init(p->producer, NULL, NULL, 0, id, &send[2]),
		DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < 2; i++) {
		doca_task_free(doca_comch_consumer_task_post_recv_as_task(recv[i]));
		doca_task_free(doca_comch_producer_task_send_as_task(send[i]));
	}
	flow_ok(HERE, FLOW_HALT, 0, true, 0, 0);
	assert_error(
		doca_comch_producer_task_send_alloc_init(p->producer, NULL, NULL, 0, id, &send[0]),
		DOCA_ERROR_BAD_STATE);
}

/* rule: FE-alloc-2 */
static void buf_outside_the_map_of_the_consumer_is_refused(void **state)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_task *task;
	struct flow_object *c, *other;
	struct doca_buf *buf, *good;

	flow_ok(HERE, FLOW_CONSUMER, 0, 2, SMALL, 0);
	flow_ok(HERE, FLOW_CONSUMER, 1, 1, SMALL, 0);
	flow_ok(HERE, FLOW_RUN, 0, 0, 0, 0);
	c = flow.consumers[0];
	other = flow.consumers[1];
	assert_ok(doca_buf_inventory_buf_get_by_addr(other->inventory, other->mmap, other->bytes,
						     SMALL, &buf));
	assert_ok(
		doca_buf_inventory_buf_get_by_addr(c->inventory, c->mmap, c->bytes, SMALL, &good));
	assert_ok(doca_comch_consumer_task_post_recv_alloc_init(c->consumer, buf, &recv));
	task = doca_comch_consumer_task_post_recv_as_task(recv);
	assert_error(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	doca_comch_consumer_task_post_recv_set_buf(recv, good);
	assert_ptr_equal(doca_comch_consumer_task_post_recv_get_buf(recv), good);
	assert_ok(doca_task_try_submit(task));
	assert_error(doca_task_try_submit(task), DOCA_ERROR_BAD_STATE); /* it is in flight */
	doca_task_free(task);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_ok(doca_buf_dec_refcount(good, NULL));
}

/* rule: FE-alloc-3 */
static void consumer_that_the_peer_does_not_have_is_refused(void **state)
{
	struct doca_comch_producer_task_send *send;
	struct doca_task *task;
	struct flow_object *p;
	uint32_t id;

	flow_ok(THERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	id = flow_value;
	flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_WORD, 0, id, 0, 0);
	flow_ok(HERE, FLOW_PRODUCER, 0, 2, SMALL, 0);
	p = flow.producers[0];
	for (uint32_t bad = 0; bad <= 0x10000; bad += 0xffff)
		assert_error(doca_comch_producer_task_send_alloc_init(p->producer, NULL, NULL, 0,
								      bad, &send),
			     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_comch_producer_task_send_alloc_init(p->producer, NULL, NULL, 0, id, &send));
	task = doca_comch_producer_task_send_as_task(send);
	doca_comch_producer_task_send_set_consumer_id(send, id + 1);
	assert_error(doca_task_submit(task), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(task);
}

/* rule: FE-alloc-3 */
static void message_longer_than_the_maximum_is_refused(void **state)
{
	struct doca_comch_producer_task_send *send;
	struct flow_object *p;
	struct doca_buf *buf;
	uint32_t id, max;

	flow_ok(THERE, FLOW_CONSUMER, 0, 1, SMALL, 0);
	id = flow_value;
	flow_ok(THERE, FLOW_RUN, 0, 0, 0, 0);
	flow_ok(HERE, FLOW_WORD, 0, id, 0, 0);

	assert_ok(
		doca_comch_producer_cap_get_max_buf_size(doca_dev_as_devinfo(flow.node.dev), &max));
	flow_ok(HERE, FLOW_PRODUCER, 0, 1, max + 1, 0);
	p = flow.producers[0];
	assert_ok(
		doca_buf_inventory_buf_get_by_data(p->inventory, p->mmap, p->bytes, max + 1, &buf));
	assert_ok(doca_comch_producer_task_send_alloc_init(p->producer, buf, NULL, 0, id, &send));
	assert_error(doca_task_submit(doca_comch_producer_task_send_as_task(send)),
		     DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_comch_producer_task_send_as_task(send));
	assert_ok(doca_buf_dec_refcount(buf, NULL));
}

/* rule: CE-disconnect-1 */
static void server_with_a_producer_does_not_disconnect(void **state)
{
	if (!flow.node.is_server)
		return;
	flow_ok(HERE, FLOW_PRODUCER, 0, 1, SMALL, 0);
	assert_error(doca_comch_server_disconnect(flow.node.server, flow_connection()),
		     DOCA_ERROR_IN_USE);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		flow_test(null_is_refused_by_consumers_and_producers),
		flow_test(map_that_cannot_receive_is_refused),
		flow_test(consumers_and_producers_have_a_maximum),
		flow_killing_test(create_after_the_connection_ended_is_refused),
		flow_test(settings_and_destroy_need_an_idle_context),
		flow_test(settings_above_the_maximum_are_refused),
		flow_test(alloc_fails_without_tasks_and_without_a_running_context),
		flow_test(buf_outside_the_map_of_the_consumer_is_refused),
		flow_test(consumer_that_the_peer_does_not_have_is_refused),
		flow_test(message_longer_than_the_maximum_is_refused),
		flow_test(server_with_a_producer_does_not_disconnect),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return flow_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
