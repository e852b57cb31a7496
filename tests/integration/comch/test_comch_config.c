/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What needs no peer: capabilities, properties, arguments, and the states in which calls are legal. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "node.h"

static struct node node;

static int setup(void **state)
{
	if (fixture_count(state))
		return -1;
	return node_open(&node, node_unique_name()) == DOCA_SUCCESS ? 0 : -1;
}

static int teardown(void **state)
{
	return node_close(&node) == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

#define config_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

/* A server is RUNNING afterwards, a client STARTING. */
static void activate(void)
{
	assert_error(node_start(&node), node.is_server ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS);
}

static doca_error_t get_max_message(uint32_t *len)
{
	return node.is_server ? doca_comch_server_get_max_msg_size(node.server, len)
			      : doca_comch_client_get_max_msg_size(node.client, len);
}

static doca_error_t get_queue(uint32_t *size)
{
	return node.is_server ? doca_comch_server_get_recv_queue_size(node.server, size)
			      : doca_comch_client_get_recv_queue_size(node.client, size);
}

static doca_error_t get_device(struct doca_dev **dev)
{
	return node.is_server ? doca_comch_server_get_device(node.server, dev)
			      : doca_comch_client_get_device(node.client, dev);
}

static uint32_t capability(doca_error_t (*get)(const struct doca_devinfo *, uint32_t *))
{
	uint32_t value = 0;

	assert_ok(get(doca_dev_as_devinfo(node.dev), &value));
	return value;
}

#define assert_invalid(call) assert_error((call), DOCA_ERROR_INVALID_VALUE)

static void sent(struct doca_comch_task_send *task, union doca_data task_data,
		 union doca_data ctx_data)
{
}

static void received(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		     struct doca_comch_connection *connection)
{
}

static void changed(struct doca_comch_event_connection_status_changed *event,
		    struct doca_comch_connection *connection, uint8_t successful)
{
}

static void consumer(struct doca_comch_event_consumer *event,
		     struct doca_comch_connection *connection, uint32_t id)
{
}

/* rule */
static void server_calls_without_a_server_are_invalid(void **state)
{
	struct doca_comch_server *server;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	uint32_t n;

	assert_invalid(doca_comch_server_create(NULL, node.rep, "name", &server));
	assert_invalid(doca_comch_server_create(node.dev, NULL, "name", &server));
	assert_invalid(doca_comch_server_destroy(NULL));
	assert_null(doca_comch_server_as_ctx(NULL));
	assert_invalid(doca_comch_server_set_max_msg_size(NULL, 64));
	assert_invalid(doca_comch_server_get_max_msg_size(NULL, &n));
	assert_invalid(doca_comch_server_set_recv_queue_size(NULL, 64));
	assert_invalid(doca_comch_server_get_recv_queue_size(NULL, &n));
	assert_invalid(doca_comch_server_get_device(NULL, &dev));
	assert_invalid(doca_comch_server_get_device_rep(NULL, &rep));
	assert_invalid(doca_comch_server_task_send_set_conf(NULL, sent, sent, 1));
	assert_invalid(doca_comch_server_event_msg_recv_register(NULL, received));
	assert_invalid(doca_comch_server_event_consumer_register(NULL, consumer, consumer));
	assert_invalid(
		doca_comch_server_event_connection_status_changed_register(NULL, changed, changed));
	assert_invalid(doca_comch_server_disconnect(NULL, NULL));
	assert_null(doca_comch_server_get_server_ctx(NULL));
}

/* rule: CE-rep */
static void a_representor_is_in_use_until_its_server_is_destroyed(void **state)
{
	struct doca_comch_server *second;

	if (!node.is_server)
		return;
	assert_error(doca_dev_rep_close(node.rep), DOCA_ERROR_IN_USE);
	assert_ok(doca_comch_server_create(node.dev, node.rep, "second", &second));
	assert_ok(doca_comch_server_destroy(second));
	assert_error(doca_dev_rep_close(node.rep), DOCA_ERROR_IN_USE);
}

/* rule */
static void client_calls_without_a_client_are_invalid(void **state)
{
	struct doca_comch_connection *connection;
	struct doca_comch_client *client;
	struct doca_dev *dev;
	uint32_t n;

	assert_invalid(doca_comch_client_create(NULL, "name", &client));
	assert_invalid(doca_comch_client_destroy(NULL));
	assert_null(doca_comch_client_as_ctx(NULL));
	assert_invalid(doca_comch_client_set_max_msg_size(NULL, 64));
	assert_invalid(doca_comch_client_get_max_msg_size(NULL, &n));
	assert_invalid(doca_comch_client_set_recv_queue_size(NULL, 64));
	assert_invalid(doca_comch_client_get_recv_queue_size(NULL, &n));
	assert_invalid(doca_comch_client_get_device(NULL, &dev));
	assert_invalid(doca_comch_client_task_send_set_conf(NULL, sent, sent, 1));
	assert_invalid(doca_comch_client_event_msg_recv_register(NULL, received));
	assert_invalid(doca_comch_client_event_consumer_register(NULL, consumer, consumer));
	assert_invalid(doca_comch_client_get_connection(NULL, &connection));
	assert_null(doca_comch_client_get_client_ctx(NULL));
}

/* rule */
static void calls_without_a_task_or_a_connection_are_invalid(void **state)
{
	struct doca_comch_task_send *task;
	uint64_t value;

	if (node.is_server)
		assert_invalid(
			doca_comch_server_task_send_alloc_init(node.server, NULL, "x", 1, &task));
	else
		assert_invalid(
			doca_comch_client_task_send_alloc_init(node.client, NULL, "x", 1, &task));
	assert_invalid(doca_comch_server_task_send_alloc_init(NULL, NULL, "x", 1, &task));
	assert_invalid(doca_comch_client_task_send_alloc_init(NULL, NULL, "x", 1, &task));
	assert_null(doca_comch_task_send_as_task(NULL));
	assert_invalid(doca_comch_connection_set_user_data(NULL, (union doca_data){.ptr = NULL}));
	assert_true(doca_comch_connection_get_user_data(NULL).u64 == 0);
	assert_invalid(doca_comch_connection_update_info(NULL));
	assert_invalid(
		doca_comch_connection_get_counter(NULL, DOCA_COMCH_COUNTER_SENT_MESSAGES, &value));
}

/* rule: X-1 */
static void calls_without_an_output_are_invalid(void **state)
{
	assert_invalid(get_max_message(NULL));
	assert_invalid(get_queue(NULL));
	assert_invalid(get_device(NULL));
	if (node.is_server) {
		assert_invalid(doca_comch_server_get_device_rep(node.server, NULL));
		assert_invalid(doca_comch_server_create(node.dev, node.rep, "name", NULL));
	} else {
		assert_invalid(doca_comch_client_get_connection(node.client, NULL));
		assert_invalid(doca_comch_client_create(node.dev, "name", NULL));
	}
}

/* rule: X-10 */
static void clean_up_after_a_failed_set_up_does_not_crash(void **state)
{
	struct doca_ctx *ctx = doca_comch_client_as_ctx(NULL);
	enum doca_ctx_states ctx_state;

	assert_null(ctx);
	assert_invalid(doca_ctx_stop(ctx));
	assert_invalid(doca_ctx_get_state(ctx, &ctx_state));
	assert_invalid(doca_pe_destroy(NULL));
	assert_int_equal(doca_pe_progress(NULL), 0);
}

/* rule: X-2, CM-7c */
static void capabilities_allow_what_programs_use(void **state)
{
	assert_in_range(capability(doca_comch_cap_get_max_msg_size), NODE_MESSAGE, UINT32_MAX);
	assert_in_range(capability(doca_comch_cap_get_max_send_tasks), 1024, UINT32_MAX);
	assert_in_range(capability(doca_comch_cap_get_max_recv_queue_size), 16, UINT32_MAX);
	assert_in_range(capability(doca_comch_cap_get_max_name_len), 31, UINT32_MAX);
	assert_in_range(capability(doca_comch_cap_get_max_clients), 64, UINT32_MAX);
}

static doca_error_t any(doca_error_t (*get)(const struct doca_devinfo *, uint32_t *))
{
	uint32_t value = 5;
	doca_error_t result = get(NULL, &value);

	assert_int_equal(value, 5);
	assert_invalid(get(doca_dev_as_devinfo(node.dev), NULL));
	return result;
}

/* rule */
static void capabilities_of_nothing_are_invalid(void **state)
{
	assert_invalid(any(doca_comch_cap_get_max_msg_size));
	assert_invalid(any(doca_comch_cap_get_max_send_tasks));
	assert_invalid(any(doca_comch_cap_get_max_recv_queue_size));
	assert_invalid(any(doca_comch_cap_get_max_name_len));
	assert_invalid(any(doca_comch_cap_get_max_clients));
	assert_invalid(doca_comch_cap_server_is_supported(NULL));
	assert_invalid(doca_comch_cap_client_is_supported(NULL));
}

/* rule: X-2 */
static void devices_that_are_not_open_have_capabilities(void **state)
{
	doca_error_t (*filter)(const struct doca_devinfo *) =
		node.is_server ? doca_comch_cap_server_is_supported
			       : doca_comch_cap_client_is_supported;
	struct doca_devinfo **list;
	uint32_t n, len;

	assert_ok(doca_devinfo_create_list(&list, &n));
	assert_true(n > 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_ok(filter(list[i]));
		assert_ok(doca_comch_cap_get_max_msg_size(list[i], &len));
	}
	assert_ok(doca_devinfo_destroy_list(list));
}

/* rule: CE-create-2, CC-4a, X-2 */
static void the_wrong_side_of_the_card_is_not_supported(void **state)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(node.dev);
	struct doca_comch_client *client = NULL;

	if (!node.is_server) {
		assert_error(doca_comch_cap_server_is_supported(info), DOCA_ERROR_NOT_SUPPORTED);
		return;
	}
	assert_error(doca_comch_cap_client_is_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_comch_client_create(node.dev, "name", &client), DOCA_ERROR_NOT_SUPPORTED);
	assert_null(client);
}

static doca_error_t create_named(const char *name)
{
	struct doca_comch_server *server = NULL;
	struct doca_comch_client *client = NULL;
	doca_error_t result;

	if (node.is_server) {
		result = doca_comch_server_create(node.dev, node.rep, name, &server);
		assert_int_equal(result == DOCA_SUCCESS, server != NULL);
		if (server)
			assert_ok(doca_comch_server_destroy(server));
	} else {
		result = doca_comch_client_create(node.dev, name, &client);
		assert_int_equal(result == DOCA_SUCCESS, client != NULL);
		if (client)
			assert_ok(doca_comch_client_destroy(client));
	}
	return result;
}

/* rule: CE-create-1, CM-7b, X-1 */
static void names_have_a_length(void **state)
{
	uint32_t max = capability(doca_comch_cap_get_max_name_len);
	char *name = calloc(1, max + 1);

	assert_non_null(name);
	assert_invalid(create_named(NULL));
	assert_invalid(create_named(""));
	memset(name, 'x', max);
	assert_invalid(create_named(name));
	name[max - 1] = 0;
	assert_ok(create_named(name));
	assert_ok(create_named("x"));
	assert_ok(create_named("a name with thirty characters."));
	free(name);
}

/* rule: CE-destroy, X-12 */
static void an_active_object_cannot_be_destroyed(void **state)
{
	activate();
	if (node.is_server)
		assert_error(doca_comch_server_destroy(node.server), DOCA_ERROR_IN_USE);
	else
		assert_error(doca_comch_client_destroy(node.client), DOCA_ERROR_IN_USE);
	assert_int_not_equal(node_state(&node), DOCA_CTX_STATE_IDLE);
}

/* rule: CM-8 */
static void sizes_default_to_the_capabilities(void **state)
{
	uint32_t value;

	assert_ok(get_max_message(&value));
	assert_int_equal(value, capability(doca_comch_cap_get_max_msg_size));
	assert_ok(get_queue(&value));
	assert_int_equal(value, capability(doca_comch_cap_get_max_recv_queue_size));
}

static void check_size(doca_error_t (*set)(struct node *, uint32_t),
		       doca_error_t (*get)(uint32_t *), uint32_t max)
{
	const uint32_t good[] = {1, 8, 10, max};
	uint32_t value;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_ok(set(&node, good[i]));
		assert_ok(get(&value));
		assert_int_equal(value, good[i]);
	}
	assert_invalid(set(&node, 0));
	assert_invalid(set(&node, max + 1));
	assert_invalid(set(&node, UINT32_MAX));
	assert_ok(get(&value));
	assert_int_equal(value, max);
}

/* rule: CE-size-2 */
static void sizes_have_limits(void **state)
{
	check_size(node_set_max_message, get_max_message,
		   capability(doca_comch_cap_get_max_msg_size));
	check_size(node_set_queue, get_queue, capability(doca_comch_cap_get_max_recv_queue_size));
}

/* rule: CE-size-1 */
static void sizes_of_an_active_object_are_final(void **state)
{
	uint32_t value;

	assert_ok(node_set_max_message(&node, 100));
	activate();
	assert_error(node_set_max_message(&node, 200), DOCA_ERROR_BAD_STATE);
	assert_error(node_set_queue(&node, 8), DOCA_ERROR_BAD_STATE);
	assert_ok(get_max_message(&value));
	assert_int_equal(value, 100);
}

/* rule: CE-get */
static void getters_answer_in_every_state(void **state)
{
	struct doca_dev_rep *rep = NULL;
	struct doca_dev *dev = NULL;
	uint32_t value;

	for (int active = 0; active < 2; active++) {
		assert_ok(get_device(&dev));
		assert_ptr_equal(dev, node.dev);
		assert_ok(get_max_message(&value));
		assert_ok(get_queue(&value));
		if (node.is_server) {
			assert_ok(doca_comch_server_get_device_rep(node.server, &rep));
			assert_ptr_equal(rep, node.rep);
		}
		if (!active)
			activate();
	}
}

static doca_error_t set_conf(doca_comch_task_send_completion_cb_t ok,
			     doca_comch_task_send_completion_cb_t failed, uint32_t n)
{
	return node.is_server ? doca_comch_server_task_send_set_conf(node.server, ok, failed, n)
			      : doca_comch_client_task_send_set_conf(node.client, ok, failed, n);
}

/* rule: CE-conf-2, X-3, X-1 */
static void tasks_have_a_maximum(void **state)
{
	uint32_t max = capability(doca_comch_cap_get_max_send_tasks);

	assert_ok(set_conf(sent, sent, 1));
	assert_ok(set_conf(sent, sent, max));
	assert_invalid(set_conf(sent, sent, 0));
	assert_invalid(set_conf(sent, sent, max + 1));
	assert_invalid(set_conf(NULL, sent, 1));
	assert_invalid(set_conf(sent, NULL, 1));
}

/* rule: CE-conf-1, X-3 */
static void tasks_of_an_active_object_are_final(void **state)
{
	activate();
	assert_error(set_conf(sent, sent, 1), DOCA_ERROR_BAD_STATE);
}

static doca_error_t register_messages(doca_comch_event_msg_recv_cb_t callback)
{
	return node.is_server ? doca_comch_server_event_msg_recv_register(node.server, callback)
			      : doca_comch_client_event_msg_recv_register(node.client, callback);
}

static doca_error_t register_consumers(doca_comch_event_consumer_cb_t new,
				       doca_comch_event_consumer_cb_t gone)
{
	return node.is_server ? doca_comch_server_event_consumer_register(node.server, new, gone)
			      : doca_comch_client_event_consumer_register(node.client, new, gone);
}

/* rule: CE-register-2 */
static void callbacks_are_never_null(void **state)
{
	assert_invalid(register_messages(NULL));
	assert_invalid(register_consumers(NULL, consumer));
	assert_invalid(register_consumers(consumer, NULL));
	if (!node.is_server)
		return;
	assert_invalid(doca_comch_server_event_connection_status_changed_register(node.server, NULL,
										  changed));
	assert_invalid(doca_comch_server_event_connection_status_changed_register(node.server,
										  changed, NULL));
}

/* rule: CE-register-1 */
static void callbacks_of_an_active_object_are_final(void **state)
{
	activate();
	assert_error(register_messages(received), DOCA_ERROR_BAD_STATE);
	assert_error(register_consumers(consumer, consumer), DOCA_ERROR_BAD_STATE);
	if (node.is_server)
		assert_error(doca_comch_server_event_connection_status_changed_register(
				     node.server, changed, changed),
			     DOCA_ERROR_BAD_STATE);
}

/* rule: CE-start */
static void start_without_a_callback_for_messages_fails(void **state)
{
	struct node bare;

	assert_ok(node_open_bare(&bare, node_unique_name(), NULL));
	assert_error(node_start(&bare), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(node_state(&bare), DOCA_CTX_STATE_IDLE);
	assert_ok(node_register(&bare));
	assert_error(node_start(&bare), bare.is_server ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS);
	assert_ok(node_close(&bare));
}

/* rule: CE-connection */
static void a_client_has_no_connection_before_it_runs(void **state)
{
	struct doca_comch_connection *connection = NULL;

	if (node.is_server)
		skip();
	assert_error(doca_comch_client_get_connection(node.client, &connection),
		     DOCA_ERROR_BAD_STATE);
	activate();
	assert_error(doca_comch_client_get_connection(node.client, &connection),
		     DOCA_ERROR_BAD_STATE);
	assert_null(connection);
}

/* rule: X-5 */
static void an_object_has_one_context(void **state)
{
	if (node.is_server)
		assert_ptr_equal(doca_comch_server_as_ctx(node.server), node.ctx);
	else
		assert_ptr_equal(doca_comch_client_as_ctx(node.client), node.ctx);
	assert_non_null(node.ctx);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		config_test(server_calls_without_a_server_are_invalid),
		config_test(client_calls_without_a_client_are_invalid),
		config_test(calls_without_a_task_or_a_connection_are_invalid),
		config_test(calls_without_an_output_are_invalid),
		config_test(clean_up_after_a_failed_set_up_does_not_crash),
		config_test(capabilities_allow_what_programs_use),
		config_test(capabilities_of_nothing_are_invalid),
		config_test(devices_that_are_not_open_have_capabilities),
		config_test(the_wrong_side_of_the_card_is_not_supported),
		config_test(names_have_a_length),
		config_test(a_representor_is_in_use_until_its_server_is_destroyed),
		config_test(an_active_object_cannot_be_destroyed),
		config_test(sizes_default_to_the_capabilities),
		config_test(sizes_have_limits),
		config_test(sizes_of_an_active_object_are_final),
		config_test(getters_answer_in_every_state),
		config_test(tasks_have_a_maximum),
		config_test(tasks_of_an_active_object_are_final),
		config_test(callbacks_are_never_null),
		config_test(callbacks_of_an_active_object_are_final),
		config_test(start_without_a_callback_for_messages_fails),
		config_test(a_client_has_no_connection_before_it_runs),
		config_test(an_object_has_one_context),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
