/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A server in this process, and clients in the agent. */
#include <doca_comch_producer.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dpumap/comch.h>

#include "agent.h"

/* The hook of a test, and what it saw. */
static struct {
	struct doca_comch_connection *connection;
	struct doca_comch_server *server;
	union doca_data user_data;
	doca_error_t result;
	unsigned int calls;
} seen;

static void hook_on(struct node *node, void (*hook)(struct node *, const char *))
{
	memset(&seen, 0, sizeof(seen));
	node->hook = hook;
}

/* rule: CC-1 */
static void start_of_a_server_is_synchronous(void **state)
{
	assert_ok(node_open(&local, node_unique_name()));
	assert_ok(node_start(&local));
	assert_string_equal(local.log, "RUNNING");
	assert_int_equal(node_state(&local), DOCA_CTX_STATE_RUNNING);
}

/* rule: CC-1, CC-13 */
static void a_server_without_clients_stops_and_starts_again(void **state)
{
	assert_ok(node_open(&local, node_unique_name()));
	assert_ok(node_start(&local));
	node_stop(&local);
	node_wait(&local, "IDLE");
	assert_ok(node_start(&local));
	assert_int_equal(node_state(&local), DOCA_CTX_STATE_RUNNING);
}

/* rule: CC-4b */
static void a_second_server_of_a_name_is_in_use(void **state)
{
	static struct node other;
	const char *name = agent_open_both();

	assert_ok(node_open(&other, name));
	agent_connect();
	assert_error(node_start(&other), DOCA_ERROR_IN_USE);
	assert_int_equal(node_state(&other), DOCA_CTX_STATE_IDLE);
	assert_ok(agent_send(&agent, 0, 0, "still", 5));
	node_wait(&local, "msg:still");
	assert_ok(node_close(&local));
	assert_ok(node_start(&other));
	assert_ok(node_close(&other));
}

/* rule: CC-4a, CC-4c */
static void servers_of_other_names_are_independent(void **state)
{
	static struct node other;
	const char *name;

	agent_open_both();
	name = node_unique_name();
	assert_ok(node_open(&other, name));
	assert_ok(node_start(&other));
	agent_connect();
	assert_ok(agent_open(&agent, 1, name));
	assert_error(agent_start(&agent, 1), DOCA_ERROR_IN_PROGRESS);
	node_wait(&other, "connect:0");
	assert_ok(agent_send(&agent, 0, 0, "one", 3));
	assert_ok(agent_wait(&agent, 1, "RUNNING", 1));
	assert_ok(agent_send(&agent, 1, 0, "two", 3));
	node_wait(&local, "msg:one");
	node_wait(&other, "msg:two");
	assert_int_equal(node_count(&local, "msg:two"), 0);
	assert_ok(node_close(&other));
	assert_ok(agent_wait(&agent, 1, "IDLE", 1));
	assert_string_equal(agent_log(&agent, 0), "STARTING RUNNING sent");
}

static void connect_another(unsigned int client, const char *name)
{
	char word[32];

	assert_ok(agent_open(&agent, client, name));
	assert_error(agent_start(&agent, client), DOCA_ERROR_IN_PROGRESS);
	assert_ok(agent_wait(&agent, client, "RUNNING", 1));
	snprintf(word, sizeof(word), "connect:%u", client);
	node_wait(&local, word);
}

/* rule: CC-5a */
static void one_server_has_many_clients(void **state)
{
	const char *name = agent_open_both();

	agent_connect();
	for (unsigned int i = 1; i < AGENT_NODES; i++)
		connect_another(i, name);
	for (unsigned int i = 0; i < AGENT_NODES; i++) {
		char text[16];
		int len = snprintf(text, sizeof(text), "to:%u", i);

		assert_ok(node_send_all(&local, i, text, (uint32_t)len));
	}
	for (unsigned int i = 0; i < AGENT_NODES; i++) {
		char word[16], wanted[64];

		snprintf(word, sizeof(word), "msg:to:%u", i);
		assert_ok(agent_wait(&agent, i, word, 1));
		snprintf(wanted, sizeof(wanted), "STARTING RUNNING %s", word);
		assert_string_equal(agent_log(&agent, i), wanted);
	}
}

/* rule: CC-5b */
static void clients_above_the_maximum_are_refused(void **state)
{
	const char *name = agent_open_both();
	uint32_t max = 0;
	char last[32];

	assert_ok(doca_comch_cap_get_max_clients(doca_dev_as_devinfo(local.dev), &max));
	assert_in_range(max, 1, NODE_CONNECTIONS);
	assert_ok(node_start(&local));
	assert_ok(agent_crowd(&agent, 1, name, max));
	snprintf(last, sizeof(last), "connect:%u", max - 1);
	node_wait(&local, last);
	assert_error(agent_start(&agent, 0), DOCA_ERROR_IN_PROGRESS);
	assert_ok(agent_wait(&agent, 0, "IDLE", 1));
	assert_string_equal(agent_log(&agent, 0), "STARTING STOPPING IDLE");
	assert_int_equal(local.n_connections, max);
}

/* rule: CC-6 */
static void connect_comes_before_the_first_message(void **state)
{
	agent_open_both();
	assert_ok(agent_set_actions(&agent, 0, NODE_SEND_ON_RUNNING));
	assert_ok(node_start(&local));
	assert_error(agent_start(&agent, 0), DOCA_ERROR_IN_PROGRESS);
	node_wait(&local, "msg:hello");
	assert_string_equal(local.log, "RUNNING connect:0 msg:hello");
}

static void watch_life(struct node *node, const char *word)
{
	if (!strcmp(word, "connect:0")) {
		seen.connection = node->connections[0];
		seen.user_data = doca_comch_connection_get_user_data(seen.connection);
		seen.result = doca_comch_connection_set_user_data(seen.connection,
								  (union doca_data){.u64 = 42});
		seen.calls++;
	}
	if (!strcmp(word, "disconnect:0")) {
		seen.user_data = doca_comch_connection_get_user_data(seen.connection);
		seen.server = doca_comch_server_get_server_ctx(seen.connection);
		seen.result = doca_comch_connection_set_user_data(seen.connection,
								  (union doca_data){.u64 = 43});
		seen.calls++;
	}
}

/* rule: CC-8, CC-9, CC-10a, CE-user-data */
static void a_connection_is_the_same_until_its_disconnect(void **state)
{
	agent_open_both();
	hook_on(&local, watch_life);
	agent_connect();
	assert_int_equal(seen.calls, 1);
	assert_null(seen.user_data.ptr);
	assert_ok(seen.result);
	assert_ok(agent_send(&agent, 0, 0, "hello", 5));
	node_wait(&local, "msg:hello");
	agent_stop(&agent, 0);
	/* The word has the connection's index, so it is the same pointer. */
	node_wait(&local, "disconnect:0");
	assert_int_equal(seen.calls, 2);
	assert_true(seen.user_data.u64 == 42);
	assert_ptr_equal(seen.server, local.server);
	assert_ok(seen.result);
	assert_ok(agent_wait(&agent, 0, "IDLE", 1));
	assert_string_equal(agent_log(&agent, 0), "STARTING RUNNING sent STOPPING IDLE");
}

/* rule: CC-8, CE-counter-1 */
static void a_new_connection_has_nothing_of_an_old_one(void **state)
{
	uint64_t received;
	char word[32];

	agent_open_both();
	assert_ok(node_start(&local));
	for (unsigned int i = 0; i < 40; i++) {
		struct doca_comch_connection *connection;

		assert_error(agent_start(&agent, 0), DOCA_ERROR_IN_PROGRESS);
		snprintf(word, sizeof(word), "connect:%u", i);
		node_wait(&local, word);
		connection = local.connections[i];
		assert_null(doca_comch_connection_get_user_data(connection).ptr);
		assert_ok(doca_comch_connection_get_counter(
			connection, DOCA_COMCH_COUNTER_RECV_MESSAGES, &received));
		assert_int_equal(received, 0);
		assert_ok(doca_comch_connection_set_user_data(connection,
							      (union doca_data){.ptr = &local}));
		assert_ok(agent_wait(&agent, 0, "RUNNING", i + 1));
		assert_ok(agent_send(&agent, 0, 0, "x", 1));
		assert_true(node_wait_for(&local, "msg:x", i + 1));
		assert_ok(doca_comch_connection_update_info(connection));
		agent_stop(&agent, 0);
		snprintf(word, sizeof(word), "disconnect:%u", i);
		node_wait(&local, word);
		assert_ok(agent_wait(&agent, 0, "IDLE", i + 1));
	}
}

/* rule: CC-10a */
static void a_server_knows_who_its_client_is(void **state)
{
	struct doca_comch_connection *connection;
	const char *identity = NULL;
	char own[32];

	agent_open_both();
	assert_ok(node_start(&local));
	assert_error(agent_start(&agent, 0), DOCA_ERROR_IN_PROGRESS);
	node_wait(&local, "connect:0");
	connection = local.connections[0];
	assert_ok(dpumap_comch_connection_get_peer(connection, &identity));
	snprintf(own, sizeof(own), "uid:%u", geteuid());
	assert_string_equal(identity, own);
	assert_error(dpumap_comch_connection_get_peer(NULL, &identity), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_comch_connection_get_peer(connection, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(agent_wait(&agent, 0, "RUNNING", 1));
	agent_stop(&agent, 0);
	node_wait(&local, "disconnect:0");
	assert_ok(agent_wait(&agent, 0, "IDLE", 1));
	assert_string_equal(identity, own);
	assert_ok(dpumap_comch_connection_get_peer(connection, &identity));
	assert_string_equal(identity, own);
}

/* rule: CC-10b */
static void death_of_a_client_is_a_disconnect(void **state)
{
	agent_open_both();
	agent_connect();
	assert_true(process_kill(&agent));
	node_wait(&local, "disconnect:0");
	assert_string_equal(local.log, "RUNNING connect:0 disconnect:0");
}

/* rule: CC-10b, CM-1a */
static void messages_of_a_client_that_died_still_arrive(void **state)
{
	agent_open_both();
	agent_connect();
	local.is_frozen = true;
	assert_ok(agent_send(&agent, 0, 0, "one", 3));
	assert_ok(agent_send(&agent, 0, 0, "two", 3));
	assert_true(process_kill(&agent));
	local.is_frozen = false;
	node_wait(&local, "disconnect:0");
	assert_string_equal(local.log, "RUNNING connect:0 msg:one msg:two disconnect:0");
}

/* rule: CC-12, CC-11b */
static void disconnecting_a_client_calls_no_callback(void **state)
{
	agent_open_both();
	agent_connect();
	assert_ok(doca_comch_server_disconnect(local.server, local.connections[0]));
	local.connections[0] = NULL;
	assert_ok(agent_wait(&agent, 0, "IDLE", 1));
	assert_string_equal(agent_log(&agent, 0), "STARTING RUNNING STOPPING IDLE");
	for (int i = 0; i < 100; i++)
		node_progress_all();
	assert_string_equal(local.log, "RUNNING connect:0");
}

/* rule: CC-12, X-7 */
static void a_client_can_be_disconnected_in_its_connect_callback(void **state)
{
	const char *name = agent_open_both();

	local.actions = NODE_ONE_CLIENT;
	agent_connect();
	assert_ok(agent_open(&agent, 1, name));
	assert_error(agent_start(&agent, 1), DOCA_ERROR_IN_PROGRESS);
	assert_ok(agent_wait(&agent, 1, "IDLE", 1));
	assert_ok(agent_send(&agent, 0, 0, "first", 5));
	node_wait(&local, "msg:first");
	assert_string_equal(local.log, "RUNNING connect:0 connect:1 msg:first");
}

/* rule: CE-disconnect-1 */
static void a_connection_in_use_is_not_disconnected(void **state)
{
	struct doca_comch_producer *producer;

	agent_open_both();
	agent_connect();
	assert_ok(doca_comch_producer_create(local.connections[0], &producer));
	assert_error(doca_comch_server_disconnect(local.server, local.connections[0]),
		     DOCA_ERROR_IN_USE);
	assert_ok(agent_send(&agent, 0, 0, "still", 5));
	node_wait(&local, "msg:still");
	assert_ok(doca_comch_producer_destroy(producer));
	assert_ok(doca_comch_server_disconnect(local.server, local.connections[0]));
	assert_ok(agent_wait(&agent, 0, "IDLE", 1));
}

static void disconnect_on_stopping(struct node *node, const char *word)
{
	if (strcmp(word, "STOPPING") != 0)
		return;
	seen.result = doca_comch_server_disconnect(node->server, node->connections[0]);
	seen.calls++;
}

/* rule: CE-disconnect-3, X-1 */
static void only_a_running_server_disconnects(void **state)
{
	int other;

	agent_open_both();
	hook_on(&local, disconnect_on_stopping);
	agent_connect();
	assert_error(doca_comch_server_disconnect(local.server, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_server_disconnect(local.server, (void *)&other),
		     DOCA_ERROR_INVALID_VALUE);
	node_stop(&local);
	node_wait(&local, "IDLE");
	assert_int_equal(seen.calls, 1);
	assert_error(seen.result, DOCA_ERROR_BAD_STATE);
}

/* rule: CC-13, CC-11a */
static void a_server_that_stops_disconnects_its_clients(void **state)
{
	const char *name = agent_open_both();

	agent_connect();
	connect_another(1, name);
	node_stop(&local);
	node_wait(&local, "IDLE");
	for (unsigned int i = 0; i < 2; i++) {
		assert_ok(agent_wait(&agent, i, "IDLE", 1));
		assert_string_equal(agent_log(&agent, i), "STARTING RUNNING STOPPING IDLE");
	}
}

/* rule: CC-13, X-7 */
static void a_message_before_the_stop_arrives(void **state)
{
	agent_open_both();
	local.actions = NODE_ECHO | NODE_STOP_ON_MESSAGE;
	agent_connect();
	assert_ok(agent_send(&agent, 0, 0, "last", 4));
	node_wait(&local, "IDLE");
	assert_ok(agent_wait(&agent, 0, "IDLE", 1));
	assert_int_equal(agent_count(&agent, 0, "msg:last"), 1);
	assert_int_equal(node_count(&local, "sent"), 1);
}

/* rule: CC-13 */
static void a_message_before_the_stop_arrives_at_a_slow_client(void **state)
{
	agent_open_both();
	local.actions = NODE_ECHO | NODE_STOP_ON_MESSAGE;
	agent_connect();
	assert_ok(agent_send(&agent, 0, 0, "last", 4));
	assert_ok(agent_set_frozen(&agent, 0, true));
	node_wait(&local, "STOPPING");
	for (int i = 0; i < 50; i++)
		node_progress_all();
	assert_ok(agent_set_frozen(&agent, 0, false));
	assert_ok(agent_wait(&agent, 0, "IDLE", 1));
	assert_int_equal(agent_count(&agent, 0, "msg:last"), 1);
	node_wait(&local, "IDLE");
}

/* rule: CC-13, X-7 */
static void a_server_can_stop_in_the_completion_of_a_send(void **state)
{
	agent_open_both();
	local.actions = NODE_ECHO | NODE_STOP_ON_SENT;
	agent_connect();
	assert_ok(agent_send(&agent, 0, 0, "last", 4));
	node_wait(&local, "IDLE");
	assert_ok(agent_wait(&agent, 0, "IDLE", 1));
	assert_int_equal(agent_count(&agent, 0, "msg:last"), 1);
}

static void use_on_disconnect(struct node *node, const char *word)
{
	struct doca_comch_task_send *task;

	if (strcmp(word, "disconnect:0") != 0)
		return;
	seen.result = node_alloc(node, 0, "x", 1, &task);
	assert_error(doca_comch_connection_update_info(node->connections[0]),
		     DOCA_ERROR_CONNECTION_ABORTED);
	seen.calls++;
}

/* rule: CE-alloc-3, CE-counter-2 */
static void nothing_is_sent_on_a_connection_that_ended(void **state)
{
	agent_open_both();
	hook_on(&local, use_on_disconnect);
	agent_connect();
	agent_stop(&agent, 0);
	node_wait(&local, "disconnect:0");
	assert_int_equal(seen.calls, 1);
	assert_error(seen.result, DOCA_ERROR_NOT_CONNECTED);
}

/* rule: CM-6, CE-conf-1 */
static void a_task_of_a_connection_that_ended_fails(void **state)
{
	struct doca_comch_task_send *task;

	agent_open_both();
	agent_connect();
	assert_ok(node_alloc(&local, 0, "late", 4, &task));
	assert_true(process_kill(&agent));
	node_wait(&local, "disconnect:0");
	assert_ok(doca_task_submit(doca_comch_task_send_as_task(task)));
	assert_int_equal(node_count(&local, "failed:NOT_CONNECTED"), 0);
	node_wait(&local, "failed:NOT_CONNECTED");
	/* The server goes on. */
	assert_int_equal(node_state(&local), DOCA_CTX_STATE_RUNNING);
}

static uint64_t counter(enum doca_comch_counter which)
{
	uint64_t value = UINT64_MAX;

	assert_ok(doca_comch_connection_get_counter(local.connections[0], which, &value));
	return value;
}

static void check_counters(uint64_t sent, uint64_t sent_bytes, uint64_t received,
			   uint64_t received_bytes)
{
	assert_int_equal(counter(DOCA_COMCH_COUNTER_SENT_MESSAGES), sent);
	assert_int_equal(counter(DOCA_COMCH_COUNTER_SENT_BYTES), sent_bytes);
	assert_int_equal(counter(DOCA_COMCH_COUNTER_RECV_MESSAGES), received);
	assert_int_equal(counter(DOCA_COMCH_COUNTER_RECV_BYTES), received_bytes);
}

/* rule: CE-counter-1, X-1 */
static void counters_are_those_of_the_last_update(void **state)
{
	uint64_t value;

	agent_open_both();
	agent_connect();
	local.actions = NODE_ECHO;
	assert_ok(agent_send(&agent, 0, 0, "four", 4));
	assert_ok(agent_send(&agent, 0, 0, "seven", 5));
	assert_true(node_wait_for(&local, "sent", 2));
	check_counters(0, 0, 0, 0);
	assert_ok(doca_comch_connection_update_info(local.connections[0]));
	check_counters(2, 9, 2, 9);
	assert_ok(agent_send(&agent, 0, 0, "x", 1));
	assert_true(node_wait_for(&local, "sent", 3));
	check_counters(2, 9, 2, 9);
	assert_ok(doca_comch_connection_update_info(local.connections[0]));
	check_counters(3, 10, 3, 10);
	assert_error(doca_comch_connection_get_counter(local.connections[0],
						       (enum doca_comch_counter)0, &value),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_connection_get_counter(local.connections[0],
						       (enum doca_comch_counter)5, &value),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_connection_get_counter(local.connections[0],
						       DOCA_COMCH_COUNTER_SENT_BYTES, NULL),
		     DOCA_ERROR_INVALID_VALUE);
}

/* rule: CE-which */
static void the_connection_of_a_server_has_no_client(void **state)
{
	agent_open_both();
	agent_connect();
	assert_ptr_equal(doca_comch_server_get_server_ctx(local.connections[0]), local.server);
	assert_null(doca_comch_client_get_client_ctx(local.connections[0]));
}

/* rule: CC-15, CC-4c */
static void one_engine_serves_two_servers(void **state)
{
	static struct node other;
	const char *name;

	agent_open_both();
	name = node_unique_name();
	assert_ok(node_open_bare(&other, name, local.pe));
	assert_ok(node_register(&other));
	assert_ok(node_set_tasks(&other, 4));
	assert_ok(node_start(&other));
	agent_connect();
	assert_ok(agent_open(&agent, 1, name));
	assert_error(agent_start(&agent, 1), DOCA_ERROR_IN_PROGRESS);
	node_wait(&other, "connect:0");
	assert_ok(agent_wait(&agent, 1, "RUNNING", 1));
	assert_ok(agent_send(&agent, 1, 0, "two", 3));
	assert_ok(agent_send(&agent, 0, 0, "one", 3));
	node_wait(&other, "msg:two");
	node_wait(&local, "msg:one");
	assert_ok(node_close(&other));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		agent_test(start_of_a_server_is_synchronous),
		agent_test(a_server_without_clients_stops_and_starts_again),
		agent_test(a_second_server_of_a_name_is_in_use),
		agent_test(servers_of_other_names_are_independent),
		agent_test(one_server_has_many_clients),
		agent_test(clients_above_the_maximum_are_refused),
		agent_test(connect_comes_before_the_first_message),
		agent_test(a_connection_is_the_same_until_its_disconnect),
		agent_test(a_new_connection_has_nothing_of_an_old_one),
		agent_test(a_server_knows_who_its_client_is),
		agent_killing_test(death_of_a_client_is_a_disconnect),
		agent_killing_test(messages_of_a_client_that_died_still_arrive),
		agent_test(disconnecting_a_client_calls_no_callback),
		agent_test(a_client_can_be_disconnected_in_its_connect_callback),
		agent_test(a_connection_in_use_is_not_disconnected),
		agent_test(only_a_running_server_disconnects),
		agent_test(a_server_that_stops_disconnects_its_clients),
		agent_test(a_message_before_the_stop_arrives),
		agent_test(a_message_before_the_stop_arrives_at_a_slow_client),
		agent_test(a_server_can_stop_in_the_completion_of_a_send),
		agent_test(nothing_is_sent_on_a_connection_that_ended),
		agent_killing_test(a_task_of_a_connection_that_ended_fails),
		agent_test(counters_are_those_of_the_last_update),
		agent_test(the_connection_of_a_server_has_no_client),
		agent_test(one_engine_serves_two_servers),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return agent_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
