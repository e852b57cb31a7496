/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arguments of consumers and producers, and the states in which calls are legal. */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "base/array.h"

#define LEN		       4096u

#define assert_invalid(call)   assert_error((call), DOCA_ERROR_INVALID_VALUE)
#define assert_bad_state(call) assert_error((call), DOCA_ERROR_BAD_STATE)

/* A consumer and a producer on the connection of `local`, each with an engine; not started. */
static struct {
	struct fixture fixture;
	struct fixture_buf memory;
	struct doca_pe *pe;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
} fast;

static void received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data,
		     union doca_data ctx_data)
{
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void sent(struct doca_comch_producer_task_send *task, union doca_data task_data,
		 union doca_data ctx_data)
{
}

static const struct doca_devinfo *info(void)
{
	return doca_dev_as_devinfo(local.dev);
}

static struct doca_comch_connection *connection(void)
{
	return local.connections[0];
}

static int setup(void **state)
{
	memset(&fast, 0, sizeof(fast));
	if (agent_setup(state))
		return -1;
	agent_open_both();
	agent_connect();
	fast.fixture.dev = local.dev;
	assert_ok(fixture_buf_create(&fast.fixture, LEN, PCI_RW, &fast.memory));
	assert_ok(doca_pe_create(&fast.pe));
	assert_ok(doca_comch_consumer_create(connection(), fast.memory.mmap, &fast.consumer));
	assert_ok(doca_comch_producer_create(connection(), &fast.producer));
	assert_ok(doca_pe_connect_ctx(fast.pe, doca_comch_consumer_as_ctx(fast.consumer)));
	assert_ok(doca_pe_connect_ctx(fast.pe, doca_comch_producer_as_ctx(fast.producer)));
	assert_ok(
		doca_comch_consumer_task_post_recv_set_conf(fast.consumer, received, received, 2));
	assert_ok(doca_comch_producer_task_send_set_conf(fast.producer, sent, sent, 2));
	return 0;
}

static void wait_for_state(struct doca_ctx *ctx, enum doca_ctx_states wanted)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	enum doca_ctx_states state;

	assert_ok(doca_ctx_get_state(ctx, &state));
	while (state != wanted && monotonic_ms() < deadline) {
		if (!doca_pe_progress(fast.pe) && !node_progress_all())
			usleep(200);
		assert_ok(doca_ctx_get_state(ctx, &state));
	}
	assert_int_equal(state, wanted);
}

static void stop_ctx(struct doca_ctx *ctx)
{
	doca_ctx_stop(ctx);
	wait_for_state(ctx, DOCA_CTX_STATE_IDLE);
}

static int teardown(void **state)
{
	stop_ctx(doca_comch_consumer_as_ctx(fast.consumer));
	stop_ctx(doca_comch_producer_as_ctx(fast.producer));
	assert_ok(doca_comch_consumer_destroy(fast.consumer));
	assert_ok(doca_comch_producer_destroy(fast.producer));
	assert_ok(doca_pe_destroy(fast.pe));
	assert_ok(fixture_buf_destroy(&fast.memory));
	return agent_teardown(state);
}

#define fast_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

/* The producer is RUNNING afterwards, and the consumer too. */
static void start_both(void)
{
	assert_ok(doca_ctx_start(doca_comch_producer_as_ctx(fast.producer)));
	assert_error(doca_ctx_start(doca_comch_consumer_as_ctx(fast.consumer)),
		     DOCA_ERROR_IN_PROGRESS);
	wait_for_state(doca_comch_consumer_as_ctx(fast.consumer), DOCA_CTX_STATE_RUNNING);
}

/* rule */
static void calls_without_a_consumer_are_invalid(void **state)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_comch_consumer *consumer = NULL;
	struct doca_comch_gpu_consumer *on_gpu = NULL;
	uint32_t n = 5;

	assert_invalid(doca_comch_consumer_create(NULL, fast.memory.mmap, &consumer));
	assert_invalid(doca_comch_consumer_create(connection(), NULL, &consumer));
	assert_invalid(doca_comch_consumer_create(connection(), fast.memory.mmap, NULL));
	assert_null(consumer);
	assert_invalid(doca_comch_consumer_destroy(NULL));
	assert_null(doca_comch_consumer_as_ctx(NULL));
	assert_invalid(doca_comch_consumer_get_id(NULL, &n));
	assert_invalid(doca_comch_consumer_get_id(fast.consumer, NULL));
	assert_invalid(doca_comch_consumer_get_gpu_handle(NULL, &on_gpu));
	assert_invalid(doca_comch_consumer_get_gpu_handle(fast.consumer, NULL));
	assert_error(doca_comch_consumer_get_gpu_handle(fast.consumer, &on_gpu),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_null(on_gpu);
	assert_invalid(doca_comch_consumer_set_imm_data_len(NULL, 8));
	assert_invalid(doca_comch_consumer_get_imm_data_len(NULL, &n));
	assert_invalid(doca_comch_consumer_get_imm_data_len(fast.consumer, NULL));
	assert_invalid(doca_comch_consumer_task_post_recv_set_conf(NULL, received, received, 1));
	assert_invalid(
		doca_comch_consumer_task_post_recv_set_conf(fast.consumer, NULL, received, 1));
	assert_invalid(
		doca_comch_consumer_task_post_recv_set_conf(fast.consumer, received, NULL, 1));
	assert_invalid(doca_comch_consumer_task_post_recv_alloc_init(NULL, NULL, &task));
	assert_null(doca_comch_consumer_task_post_recv_as_task(NULL));
	assert_invalid(doca_comch_consumer_cap_is_supported(NULL));
	assert_invalid(doca_comch_consumer_cap_get_max_consumers(NULL, &n));
	assert_invalid(doca_comch_consumer_cap_get_max_num_tasks(NULL, &n));
	assert_invalid(doca_comch_consumer_cap_get_max_buf_size(NULL, &n));
	assert_invalid(doca_comch_consumer_cap_get_max_buf_list_len(NULL, &n));
	assert_invalid(doca_comch_consumer_cap_get_max_imm_data_len(NULL, &n));
	assert_int_equal(n, 5);
}

/* rule */
static void calls_without_a_producer_are_invalid(void **state)
{
	struct doca_comch_producer_task_send *task;
	struct doca_comch_producer *producer = NULL;
	struct doca_comch_gpu_producer *on_gpu = NULL;
	uint32_t n = 5;

	assert_invalid(doca_comch_producer_create(NULL, &producer));
	assert_invalid(doca_comch_producer_create(connection(), NULL));
	assert_null(producer);
	assert_invalid(doca_comch_producer_destroy(NULL));
	assert_null(doca_comch_producer_as_ctx(NULL));
	assert_invalid(doca_comch_producer_get_id(NULL, &n));
	assert_invalid(doca_comch_producer_get_id(fast.producer, NULL));
	assert_invalid(doca_comch_producer_get_gpu_handle(NULL, &on_gpu));
	assert_invalid(doca_comch_producer_get_gpu_handle(fast.producer, NULL));
	assert_error(doca_comch_producer_get_gpu_handle(fast.producer, &on_gpu),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_null(on_gpu);
	assert_invalid(doca_comch_producer_task_send_set_conf(NULL, sent, sent, 1));
	assert_invalid(doca_comch_producer_task_send_set_conf(fast.producer, NULL, sent, 1));
	assert_invalid(doca_comch_producer_task_send_set_conf(fast.producer, sent, NULL, 1));
	assert_invalid(doca_comch_producer_task_send_alloc_init(NULL, NULL, NULL, 0, 1, &task));
	assert_null(doca_comch_producer_task_send_as_task(NULL));
	assert_invalid(doca_comch_producer_cap_is_supported(NULL));
	assert_invalid(doca_comch_producer_cap_get_max_producers(NULL, &n));
	assert_invalid(doca_comch_producer_cap_get_max_num_tasks(NULL, &n));
	assert_invalid(doca_comch_producer_cap_get_max_buf_size(NULL, &n));
	assert_invalid(doca_comch_producer_cap_get_max_buf_list_len(NULL, &n));
	assert_int_equal(n, 5);
}

static doca_error_t made[2];

static void create_at_the_end(struct node *node, const char *word)
{
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;

	if (strcmp(word, node->is_server ? "disconnect:0" : "STOPPING") != 0)
		return;
	made[0] = doca_comch_consumer_create(connection(), fast.memory.mmap, &consumer);
	made[1] = doca_comch_producer_create(connection(), &producer);
}

/* rule: FE-create-1 */
static void a_connection_that_ended_gets_no_consumer(void **state)
{
	made[0] = made[1] = DOCA_SUCCESS;
	local.hook = create_at_the_end;
	agent_stop(&agent, 0);
	node_wait(&local, local.is_server ? "disconnect:0" : "STOPPING");
	assert_bad_state(made[0]);
	assert_bad_state(made[1]);
}

/* rule: FE-create-2 */
static void producers_of_a_connection_have_a_maximum(void **state)
{
	struct doca_comch_producer **all, *other = NULL;
	uint32_t max;

	assert_ok(doca_comch_producer_cap_get_max_producers(info(), &max));
	all = calloc(max, sizeof(struct doca_comch_producer *));
	assert_non_null(all);
	for (uint32_t i = 1; i < max; i++)
		assert_ok(doca_comch_producer_create(connection(), &all[i]));
	assert_error(doca_comch_producer_create(connection(), &other), DOCA_ERROR_NO_MEMORY);
	assert_null(other);
	for (uint32_t i = 1; i < max; i++)
		assert_ok(doca_comch_producer_destroy(all[i]));
	free(all);
}

/* rule: FE-create-2 */
static void consumers_of_a_connection_have_a_maximum(void **state)
{
	struct doca_comch_consumer **all, *other = NULL;
	uint32_t max;

	assert_ok(doca_comch_consumer_cap_get_max_consumers(info(), &max));
	all = calloc(max, sizeof(struct doca_comch_consumer *));
	assert_non_null(all);
	for (uint32_t i = 1; i < max; i++)
		assert_ok(doca_comch_consumer_create(connection(), fast.memory.mmap, &all[i]));
	assert_error(doca_comch_consumer_create(connection(), fast.memory.mmap, &other),
		     DOCA_ERROR_NO_MEMORY);
	assert_null(other);
	for (uint32_t i = 1; i < max; i++)
		assert_ok(doca_comch_consumer_destroy(all[i]));
	free(all);
}

/* rule: FE-create-3 */
static void a_consumer_needs_a_started_map_that_its_peer_may_write(void **state)
{
	static const uint32_t too_little[] = {LOCAL_RW, PCI_RO};
	struct doca_comch_consumer *consumer = NULL;
	struct fixture_buf buf;

	for (size_t i = 0; i < ARRAY_SIZE(too_little); i++) {
		assert_ok(fixture_buf_create(&fast.fixture, LEN, too_little[i], &buf));
		assert_invalid(doca_comch_consumer_create(connection(), buf.mmap, &consumer));
		assert_ok(fixture_buf_destroy(&buf));
	}
	assert_ok(fixture_buf_create(&fast.fixture, LEN, LOCAL_RW | PCI_RW, &buf));
	assert_ok(doca_mmap_stop(buf.mmap));
	assert_invalid(doca_comch_consumer_create(connection(), buf.mmap, &consumer));
	assert_null(consumer);
	assert_ok(doca_mmap_start(buf.mmap));
	assert_ok(doca_comch_consumer_create(connection(), buf.mmap, &consumer));
	assert_ok(doca_comch_consumer_destroy(consumer));
	assert_ok(fixture_buf_destroy(&buf));
}

/* rule: FE-destroy, X-12 */
static void active_objects_cannot_be_destroyed(void **state)
{
	start_both();
	assert_error(doca_comch_consumer_destroy(fast.consumer), DOCA_ERROR_IN_USE);
	assert_error(doca_comch_producer_destroy(fast.producer), DOCA_ERROR_IN_USE);
}

/* rule: FE-imm-1, FE-imm-2 */
static void immediate_data_has_a_maximum(void **state)
{
	uint32_t max, len = 0;

	assert_ok(doca_comch_consumer_cap_get_max_imm_data_len(info(), &max));
	assert_invalid(doca_comch_consumer_set_imm_data_len(fast.consumer, max + 1));
	assert_ok(doca_comch_consumer_get_imm_data_len(fast.consumer, &len));
	assert_int_equal(len, max);
	assert_ok(doca_comch_consumer_set_imm_data_len(fast.consumer, 8));
	start_both();
	assert_bad_state(doca_comch_consumer_set_imm_data_len(fast.consumer, 16));
	assert_ok(doca_comch_consumer_get_imm_data_len(fast.consumer, &len));
	assert_int_equal(len, 8);
}

/* rule: FE-conf-1, FE-conf-2, X-3 */
static void tasks_of_both_kinds_have_a_maximum(void **state)
{
	uint32_t max;

	assert_ok(doca_comch_consumer_cap_get_max_num_tasks(info(), &max));
	assert_invalid(doca_comch_consumer_task_post_recv_set_conf(fast.consumer, received,
								   received, max + 1));
	assert_ok(doca_comch_producer_cap_get_max_num_tasks(info(), &max));
	assert_invalid(doca_comch_producer_task_send_set_conf(fast.producer, sent, sent, max + 1));
	start_both();
	assert_bad_state(
		doca_comch_consumer_task_post_recv_set_conf(fast.consumer, received, received, 1));
	assert_bad_state(doca_comch_producer_task_send_set_conf(fast.producer, sent, sent, 1));
}

/* rule: FE-alloc-1, X-4 */
static void receive_tasks_end(void **state)
{
	struct doca_comch_consumer_task_post_recv *tasks[2], *other = NULL;

	assert_bad_state(
		doca_comch_consumer_task_post_recv_alloc_init(fast.consumer, NULL, &other));
	start_both();
	for (int i = 0; i < 2; i++)
		assert_ok(doca_comch_consumer_task_post_recv_alloc_init(fast.consumer, NULL,
									&tasks[i]));
	assert_error(doca_comch_consumer_task_post_recv_alloc_init(fast.consumer, NULL, &other),
		     DOCA_ERROR_NO_MEMORY);
	assert_null(other);
	for (int i = 0; i < 2; i++)
		doca_task_free(doca_comch_consumer_task_post_recv_as_task(tasks[i]));
}

/* rule: FE-alloc-2 */
static void a_buf_of_another_map_is_not_posted(void **state)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_buf_inventory *inventory;
	struct fixture_buf other;
	struct doca_buf *buf;

	start_both();
	assert_ok(fixture_buf_create(&fast.fixture, LEN, PCI_RW, &other));
	assert_ok(doca_buf_inventory_create(1, &inventory));
	assert_ok(doca_buf_inventory_start(inventory));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, other.mmap, other.bytes, 64, &buf));
	assert_ok(doca_comch_consumer_task_post_recv_alloc_init(fast.consumer, buf, &task));
	assert_invalid(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_ok(doca_buf_inventory_destroy(inventory));
	assert_ok(fixture_buf_destroy(&other));
}

/* rule: FE-alloc-3, X-4 */
static void nothing_is_sent_to_a_consumer_that_is_not_there(void **state)
{
	static const uint32_t ids[] = {0, 1, 200, 0xffff, UINT32_MAX};
	struct doca_comch_producer_task_send *task = NULL;

	assert_bad_state(
		doca_comch_producer_task_send_alloc_init(fast.producer, NULL, NULL, 0, 1, &task));
	start_both();
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_invalid(doca_comch_producer_task_send_alloc_init(fast.producer, NULL, NULL,
									0, ids[i], &task));
	assert_null(task);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		fast_test(calls_without_a_consumer_are_invalid),
		fast_test(calls_without_a_producer_are_invalid),
		fast_test(a_connection_that_ended_gets_no_consumer),
		fast_test(producers_of_a_connection_have_a_maximum),
		fast_test(consumers_of_a_connection_have_a_maximum),
		fast_test(a_consumer_needs_a_started_map_that_its_peer_may_write),
		fast_test(active_objects_cannot_be_destroyed),
		fast_test(immediate_data_has_a_maximum),
		fast_test(tasks_of_both_kinds_have_a_maximum),
		fast_test(receive_tasks_end),
		fast_test(a_buf_of_another_map_is_not_posted),
		fast_test(nothing_is_sent_to_a_consumer_that_is_not_there),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return agent_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
