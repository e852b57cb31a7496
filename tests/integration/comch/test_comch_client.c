/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A client in this process, and servers in the agent. */
#include <string.h>
#include <unistd.h>

#include "agent.h"

/* rule: CC-2 */
static void start_of_a_client_is_asynchronous(void **state)
{
	agent_open_both();
	assert_ok(agent_start(&agent, 0));
	assert_error(node_start(&local), DOCA_ERROR_IN_PROGRESS);
	assert_string_equal(local.log, "STARTING");
	usleep(50000); /* nothing happens without progress */
	assert_string_equal(local.log, "STARTING");
	node_wait(&local, "RUNNING");
	assert_string_equal(local.log, "STARTING RUNNING");
	assert_int_equal(node_state(&local), DOCA_CTX_STATE_RUNNING);
}

/* rule: CC-3 */
static void a_client_without_a_server_becomes_idle(void **state)
{
	agent_open_both();
	assert_error(node_start(&local), DOCA_ERROR_IN_PROGRESS);
	node_wait(&local, "IDLE");
	assert_string_equal(local.log, "STARTING STOPPING IDLE");
	/* It can try again. */
	assert_ok(agent_start(&agent, 0));
	assert_error(node_start(&local), DOCA_ERROR_IN_PROGRESS);
	node_wait(&local, "RUNNING");
}

/* rule: CC-3 */
static void a_client_finds_a_server_that_comes_a_moment_later(void **state)
{
	agent_open_both();
	/* On a busy machine, the moment may be too long. */
	for (int i = 0; i < 10 && !node_count(&local, "RUNNING"); i++) {
		assert_error(node_start(&local), DOCA_ERROR_IN_PROGRESS);
		node_progress_all();
		assert_int_equal(node_count(&local, "RUNNING"), 0);
		assert_ok(agent_start(&agent, 0));
		while (node_state(&local) != DOCA_CTX_STATE_RUNNING &&
		       node_state(&local) != DOCA_CTX_STATE_IDLE)
			node_progress_all();
		if (!node_count(&local, "RUNNING")) {
			agent_stop(&agent, 0);
			assert_ok(agent_wait(&agent, 0, "IDLE", (unsigned int)i + 1));
		}
	}
	assert_int_equal(node_state(&local), DOCA_CTX_STATE_RUNNING);
}

/* rule: CC-3 */
static void a_client_can_be_stopped_while_it_starts(void **state)
{
	assert_ok(node_open(&local, node_unique_name()));
	assert_error(node_start(&local), DOCA_ERROR_IN_PROGRESS);
	node_progress_all();
	node_stop(&local);
	node_wait(&local, "IDLE");
	assert_string_equal(local.log, "STARTING STOPPING IDLE");
}

static void stop_on_starting(struct node *node, const char *word)
{
	if (!strcmp(word, "STARTING"))
		node_stop(node);
}

/* rule: X-7, CC-3 */
static void a_client_can_be_stopped_in_the_callback_that_reports_its_start(void **state)
{
	assert_ok(node_open(&local, node_unique_name()));
	local.hook = stop_on_starting;
	node_start(&local);
	node_wait(&local, "IDLE");
	assert_string_equal(local.log, "STARTING STOPPING IDLE");
}

/* rule: CE-connection, CE-which, CC-5a, CC-9 */
static void a_client_has_one_connection(void **state)
{
	struct doca_comch_connection *connection = NULL;

	agent_open_both();
	agent_connect();
	/* The node got it inside the callback that reported RUNNING. */
	assert_non_null(local.connections[0]);
	assert_ok(doca_comch_client_get_connection(local.client, &connection));
	assert_ptr_equal(connection, local.connections[0]);
	assert_ptr_equal(doca_comch_client_get_client_ctx(connection), local.client);
	assert_null(doca_comch_server_get_server_ctx(connection));
}

/* rule: CC-7 */
static void a_client_sees_running_before_the_first_message(void **state)
{
	uint64_t deadline = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	agent_open_both();
	assert_ok(agent_set_actions(&agent, 0, NODE_SEND_ON_CONNECT));
	assert_ok(agent_start(&agent, 0));
	local.is_frozen = true;
	assert_error(node_start(&local), DOCA_ERROR_IN_PROGRESS);
	while (node_state(&local) != DOCA_CTX_STATE_RUNNING && monotonic_ms() < deadline)
		if (!doca_pe_progress(local.pe))
			usleep(100);
	/* The program may set user data now, before its next progress. */
	assert_string_equal(local.log, "STARTING RUNNING");
	local.is_frozen = false;
	node_wait(&local, "msg:welcome");
}

/* rule: CC-8, CE-user-data */
static void each_side_has_user_data_of_its_own(void **state)
{
	union doca_data data = {.u64 = 42};

	agent_open_both();
	assert_ok(agent_set_actions(&agent, 0, NODE_ECHO));
	agent_connect();
	assert_null(doca_comch_connection_get_user_data(local.connections[0]).ptr);
	assert_ok(doca_comch_connection_set_user_data(local.connections[0], data));
	assert_ok(node_send(&local, 0, "x", 1));
	node_wait(&local, "msg:x");
	data = doca_comch_connection_get_user_data(local.connections[0]);
	assert_true(data.u64 == 42);
}

/* rule: CC-10a */
static void stop_of_a_client_is_told_to_the_server(void **state)
{
	doca_error_t result;

	agent_open_both();
	agent_connect();
	result = node_stop(&local);
	assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	node_wait(&local, "IDLE");
	assert_string_equal(local.log, "STARTING RUNNING STOPPING IDLE");
	assert_ok(agent_wait(&agent, 0, "disconnect:0", 1));
}

/* rule: CC-10a, CC-2 */
static void a_client_connects_again_after_its_stop(void **state)
{
	agent_open_both();
	agent_connect();
	node_stop(&local);
	node_wait(&local, "IDLE");
	assert_error(node_start(&local), DOCA_ERROR_IN_PROGRESS);
	assert_true(node_wait_for(&local, "RUNNING", 2));
	assert_ok(agent_wait(&agent, 0, "connect:1", 1));
	assert_ok(agent_send(&agent, 0, 1, "again", 5));
	node_wait(&local, "msg:again");
}

/* rule: CC-10a, CM-3 */
static void a_message_before_the_stop_of_a_client_arrives(void **state)
{
	agent_open_both();
	agent_connect();
	assert_ok(node_send(&local, 0, "last", 4));
	node_stop(&local);
	node_wait(&local, "IDLE");
	assert_ok(agent_wait(&agent, 0, "disconnect:0", 1));
	assert_string_equal(agent_log(&agent, 0), "RUNNING connect:0 msg:last disconnect:0");
}

/* rule: CC-11a */
static void a_client_whose_server_stops_becomes_idle(void **state)
{
	agent_open_both();
	agent_connect();
	agent_stop(&agent, 0);
	node_wait(&local, "IDLE");
	assert_string_equal(local.log, "STARTING RUNNING STOPPING IDLE");
	assert_ok(agent_wait(&agent, 0, "IDLE", 1));
}

/* rule: CC-11c */
static void a_client_whose_server_dies_becomes_idle(void **state)
{
	agent_open_both();
	agent_connect();
	assert_true(process_kill(&agent));
	node_wait(&local, "IDLE");
	assert_string_equal(local.log, "STARTING RUNNING STOPPING IDLE");
}

/* rule: CC-11c, CC-3 */
static void a_name_is_free_after_its_server_died(void **state)
{
	const char *name = agent_open_both();

	agent_connect();
	assert_true(process_kill(&agent));
	node_wait(&local, "IDLE");
	assert_true(process_start_peer(&agent, test_options.peer_as));
	assert_ok(agent_open(&agent, 0, name));
	assert_ok(agent_start(&agent, 0));
	assert_error(node_start(&local), DOCA_ERROR_IN_PROGRESS);
	assert_true(node_wait_for(&local, "RUNNING", 2));
}

/* rule: CC-11c, CM-6, X-4 */
static void tasks_of_a_client_are_flushed_when_its_server_dies(void **state)
{
	struct doca_comch_task_send *task, *other;

	agent_open_both();
	assert_ok(agent_set_queue(&agent, 0, 1));
	agent_connect();
	assert_ok(agent_set_frozen(&agent, 0, true));
	for (int i = 0; i < 8; i++)
		assert_ok(node_send(&local, 0, "wait", 4));
	assert_ok(node_alloc(&local, 0, "late", 4, &task));
	assert_true(process_kill(&agent));
	node_wait(&local, "STOPPING");
	assert_error(node_alloc(&local, 0, "x", 1, &other), DOCA_ERROR_BAD_STATE);
	while (node_count(&local, "sent") + node_count(&local, "failed:CONNECTION_RESET") < 8)
		node_wait(&local, "failed:CONNECTION_RESET");
	/* It holds a task, so it is not idle yet. */
	assert_int_equal(node_state(&local), DOCA_CTX_STATE_STOPPING);
	doca_task_free(doca_comch_task_send_as_task(task));
	node_wait(&local, "IDLE");
}

/* rule: X-7, CC-10a */
static void a_client_can_stop_in_the_callback_that_reports_running(void **state)
{
	agent_open_both();
	local.actions = NODE_STOP_ON_RUNNING;
	assert_ok(agent_start(&agent, 0));
	assert_error(node_start(&local), DOCA_ERROR_IN_PROGRESS);
	node_wait(&local, "IDLE");
	assert_string_equal(local.log, "STARTING RUNNING STOPPING IDLE");
}

/* rule: CC-13, X-7 */
static void a_client_can_stop_in_the_callback_of_a_message(void **state)
{
	agent_open_both();
	assert_ok(agent_set_actions(&agent, 0, NODE_SEND_ON_CONNECT | NODE_STOP_ON_SENT));
	local.actions = NODE_STOP_ON_MESSAGE;
	assert_ok(agent_start(&agent, 0));
	assert_error(node_start(&local), DOCA_ERROR_IN_PROGRESS);
	node_wait(&local, "IDLE");
	assert_string_equal(local.log, "STARTING RUNNING msg:welcome STOPPING IDLE");
	assert_ok(agent_wait(&agent, 0, "IDLE", 1));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		agent_test(start_of_a_client_is_asynchronous),
		agent_test(a_client_without_a_server_becomes_idle),
		agent_test(a_client_finds_a_server_that_comes_a_moment_later),
		agent_test(a_client_can_be_stopped_while_it_starts),
		agent_test(a_client_can_be_stopped_in_the_callback_that_reports_its_start),
		agent_test(a_client_has_one_connection),
		agent_test(a_client_sees_running_before_the_first_message),
		agent_test(each_side_has_user_data_of_its_own),
		agent_test(stop_of_a_client_is_told_to_the_server),
		agent_test(a_client_connects_again_after_its_stop),
		agent_test(a_message_before_the_stop_of_a_client_arrives),
		agent_test(a_client_whose_server_stops_becomes_idle),
		agent_killing_test(a_client_whose_server_dies_becomes_idle),
		agent_test(a_name_is_free_after_its_server_died),
		agent_killing_test(tasks_of_a_client_are_flushed_when_its_server_dies),
		agent_test(a_client_can_stop_in_the_callback_that_reports_running),
		agent_test(a_client_can_stop_in_the_callback_of_a_message),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return agent_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
