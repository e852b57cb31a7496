/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Servers, clients and their messages (doca_comch.h), between the two functions of a card. */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "comch.h"

#define LONGEST 4080u

static void start_clients(unsigned int num)
{
	unsigned int wanted = comch_server.num_connected + num;

	for (unsigned int i = 0; i < num; i++)
		assert_command(COMCH_START, i, 0, 0);
	comch_wait(comch_server.num_connected == wanted);
}

static uint32_t command_value(enum comch_op op, unsigned int client, uint32_t num)
{
	uint32_t value = 0;

	assert_ok(comch_command(op, client, num, 0, &value));
	return value;
}

/* --- states ----------------------------------------------------------------------------------- */

static void server_is_running_when_start_returns(void **state)
{
	assert_int_equal(comch_server.num_changes, 1);
	assert_int_equal(comch_server.changes[0].prev, DOCA_CTX_STATE_IDLE);
	assert_int_equal(comch_server.changes[0].next, DOCA_CTX_STATE_RUNNING);
}

static void server_without_clients_stops_at_once(void **state)
{
	assert_ok(doca_ctx_stop(comch_server.ctx));
	assert_int_equal(comch_state(&comch_server), DOCA_CTX_STATE_IDLE);
	assert_ok(doca_ctx_start(comch_server.ctx));
	start_clients(1);
}

static void client_is_starting_until_progress(void **state)
{
	assert_command(COMCH_BEGIN, 0, 0, 0);
	assert_int_equal(command_value(COMCH_CHANGES, 0, 0), DOCA_CTX_STATE_STARTING);
	assert_command(COMCH_FINISH, 0, 0, 0);
	assert_int_equal(command_value(COMCH_CHANGES, 0, 0),
			 DOCA_CTX_STATE_STARTING << 4 | DOCA_CTX_STATE_RUNNING);
}

/* IDLE, STARTING, RUNNING and STOPPING are 0, 1, 2 and 3. */
static void client_stops_through_stopping(void **state)
{
	start_clients(1);
	assert_int_equal(command_value(COMCH_STOP, 0, 0), 0);
	assert_int_equal(command_value(COMCH_CHANGES, 0, 0), 0x1230);
	comch_wait(comch_server.num_disconnected == 1);
	assert_command(COMCH_START, 0, 0, 0);
	comch_wait(comch_server.num_connected == 2);
}

static void client_without_server_becomes_idle(void **state)
{
	assert_error(comch_command(COMCH_START, 0, 1, 0, NULL), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(command_value(COMCH_CHANGES, 0, 0), 0x130);
	assert_command(COMCH_DESTROY, 0, 0, 0);
}

static void client_that_waits_for_its_server_sleeps(void **state)
{
	uint32_t woken = 0;

	assert_command(COMCH_BEGIN, 0, 1, 0);
	assert_error(comch_command(COMCH_SLEEP, 0, 0, 0, &woken), DOCA_ERROR_NOT_FOUND);
	assert_in_range(woken, 1, 500);
	assert_command(COMCH_BEGIN, 1, 0, 0);
	assert_ok(comch_command(COMCH_SLEEP, 1, 0, 0, &woken));
}

static void client_stops_while_starting(void **state)
{
	assert_command(COMCH_BEGIN, 0, 1, 0);
	assert_command(COMCH_STOP, 0, 0, 0);
	assert_int_equal(command_value(COMCH_CHANGES, 0, 0), 0x130);
	assert_command(COMCH_BEGIN, 1, 0, 0);
	assert_command(COMCH_STOP, 1, 0, 0);
}

static void name_is_in_use_until_its_server_stops(void **state)
{
	struct comch_side second;

	assert_ok(comch_server_create(&second, comch_server.pe, COMCH_NAME));
	assert_error(doca_ctx_start(second.ctx), DOCA_ERROR_IN_USE);
	assert_ok(doca_ctx_stop(comch_server.ctx));
	assert_ok(doca_ctx_start(second.ctx));
	comch_server_destroy(&second);
	assert_ok(doca_ctx_start(comch_server.ctx));
}

static void objects_in_use_are_not_destroyed(void **state)
{
	assert_error(doca_comch_server_destroy(comch_server.server), DOCA_ERROR_IN_USE);
	assert_command(COMCH_START, 0, 0, 0);
	assert_error(comch_command(COMCH_DESTROY, 0, 0, 0, NULL), DOCA_ERROR_IN_USE);
	process_kill(&comch_peer);
}

/* --- messages --------------------------------------------------------------------------------- */

static void messages_arrive_in_order_in_both_directions(void **state)
{
	uint32_t wrong = 1;

	start_clients(1);
	assert_command(COMCH_SEND, 0, 3000, 64);
	assert_command(COMCH_SEND, 0, 300, LONGEST);
	comch_wait(comch_server.num_received == 3300);
	assert_int_equal(comch_server.num_wrong, 0);
	comch_ask(COMCH_RECEIVE, 0, 2000, 0);
	assert_ok(comch_send(&comch_server, comch_server.last, 2000, LONGEST));
	assert_ok(comch_answer(&wrong));
	assert_int_equal(wrong, 0);
	assert_int_equal(comch_server.num_failed, 0);
}

static void message_leaves_without_progress_of_its_sender(void **state)
{
	start_clients(1);
	assert_command(COMCH_SUBMIT, 0, 32, LONGEST);
	comch_wait(comch_server.num_received == 32);
	assert_int_equal(comch_server.num_wrong, 0);
}

/* The client makes no progress until all tasks are in flight. */
static void messages_wait_for_a_receiver_that_blocks(void **state)
{
	start_clients(1);
	for (uint32_t i = 0; i < COMCH_TASKS; i++)
		assert_ok(comch_submit(&comch_server, comch_server.last, LONGEST));
	assert_error(comch_submit(&comch_server, comch_server.last, 8), DOCA_ERROR_AGAIN);
	for (int i = 0; i < 1000; i++)
		doca_pe_progress(comch_server.pe);
	assert_true(comch_server.num_sent < COMCH_TASKS);
	assert_int_equal(command_value(COMCH_RECEIVE, 0, COMCH_TASKS), 0);
	comch_wait(comch_server.num_sent == COMCH_TASKS);
	assert_int_equal(comch_server.num_failed, 0);
}

static void client_that_does_not_read_delays_no_other(void **state)
{
	struct doca_comch_connection *silent;
	uint64_t begin = monotonic_ms();
	doca_error_t result;

	start_clients(1);
	silent = comch_server.last;
	for (uint32_t i = 0; i < COMCH_TASKS / 2; i++)
		assert_ok(comch_submit(&comch_server, silent, LONGEST));
	result = doca_comch_server_disconnect(comch_server.server, silent);
	/* A machine that stands still gives the client no time to read. */
	if (result == DOCA_SUCCESS && monotonic_ms() > begin + 1500)
		return;
	assert_error(result, DOCA_ERROR_AGAIN);
	assert_command(COMCH_START, 1, 0, 0);
	comch_wait(comch_server.num_connected == 2);
	comch_server.next_number = 0;
	comch_server.num_sent = 0;
	comch_ask(COMCH_RECEIVE, 1, 100, 0);
	for (int i = 0; i < 100; i++)
		assert_ok(comch_submit(&comch_server, comch_server.last, 100));
	assert_ok(comch_answer(NULL));
	/* After a while it is disconnected without what waits for it. */
	comch_wait(doca_comch_server_disconnect(comch_server.server, silent) == DOCA_SUCCESS);
	comch_wait(comch_server.num_failed > 0);
	assert_error(comch_server.last_error, DOCA_ERROR_CONNECTION_RESET);
	assert_int_equal(comch_server.num_disconnected, 0);
}

static void invalid_messages_are_refused(void **state)
{
	struct doca_comch_task_send *task;
	char byte = 0;

	start_clients(1);
	assert_error(doca_comch_server_task_send_alloc_init(comch_server.server, comch_server.last,
							    &byte, 0, &task),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_server_task_send_alloc_init(comch_server.server, comch_server.last,
							    &byte, LONGEST + 1, &task),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_comch_server_task_send_alloc_init(comch_server.server, comch_server.last,
							    NULL, 1, &task),
		     DOCA_ERROR_INVALID_VALUE);
	assert_command(COMCH_STOP, 0, 0, 0);
	comch_wait(comch_server.num_disconnected == 1);
	assert_error(doca_comch_server_task_send_alloc_init(comch_server.server, comch_server.last,
							    &byte, 1, &task),
		     DOCA_ERROR_NOT_CONNECTED);
}

static struct doca_comch_task_send *late_task;

static void submit_late_task(struct comch_side *side, struct doca_comch_connection *connection)
{
	(void)side;
	(void)connection;
	assert_ok(doca_task_submit(doca_comch_task_send_as_task(late_task)));
}

static void send_after_the_end_fails_by_callback(void **state)
{
	char byte = 0;

	start_clients(1);
	assert_ok(doca_comch_server_task_send_alloc_init(comch_server.server, comch_server.last,
							 &byte, 1, &late_task));
	comch_server.on_disconnect = submit_late_task;
	assert_command(COMCH_STOP, 0, 0, 0);
	comch_wait(comch_server.num_failed == 1);
	assert_error(comch_server.last_error, DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(comch_state(&comch_server), DOCA_CTX_STATE_RUNNING);
}

static uint64_t counter(enum doca_comch_counter which)
{
	uint64_t value = 0;

	assert_ok(doca_comch_connection_get_counter(comch_server.last, which, &value));
	return value;
}

static void counters_are_those_of_the_last_update(void **state)
{
	start_clients(1);
	assert_command(COMCH_SEND, 0, 10, 100);
	comch_wait(comch_server.num_received == 10);
	assert_ok(comch_send(&comch_server, comch_server.last, 5, 64));
	assert_int_equal(counter(DOCA_COMCH_COUNTER_RECV_MESSAGES), 0);
	assert_ok(doca_comch_connection_update_info(comch_server.last));
	assert_int_equal(counter(DOCA_COMCH_COUNTER_RECV_MESSAGES), 10);
	assert_int_equal(counter(DOCA_COMCH_COUNTER_RECV_BYTES), 1000);
	assert_int_equal(counter(DOCA_COMCH_COUNTER_SENT_MESSAGES), 5);
	assert_int_equal(counter(DOCA_COMCH_COUNTER_SENT_BYTES), 320);
}

/* --- ends ------------------------------------------------------------------------------------- */

static void answer_and_stop(struct comch_side *side, struct doca_comch_connection *connection)
{
	assert_ok(comch_submit(side, connection, 8));
	assert_error(doca_ctx_stop(side->ctx), DOCA_ERROR_IN_PROGRESS);
}

static void message_before_stop_arrives(void **state)
{
	start_clients(1);
	comch_server.on_message = answer_and_stop;
	assert_command(COMCH_SUBMIT, 0, 1, 8);
	comch_wait(comch_state(&comch_server) == DOCA_CTX_STATE_IDLE);
	assert_int_equal(command_value(COMCH_RECEIVE, 0, 1), 0);
	assert_int_equal(command_value(COMCH_AWAIT_END, 0, 0), 0);
	assert_int_equal(comch_server.num_failed, 0);
	assert_int_equal(comch_server.num_sent, 1);
}

/* More than the sockets take: they leave as the client reads, while the server is STOPPING. */
static void messages_that_wait_arrive_before_the_end(void **state)
{
	const uint32_t num = 400;

	start_clients(1);
	for (uint32_t i = 0; i < num; i++)
		assert_ok(comch_submit(&comch_server, comch_server.last, LONGEST));
	assert_error(doca_ctx_stop(comch_server.ctx), DOCA_ERROR_IN_PROGRESS);
	doca_pe_progress(comch_server.pe);
	assert_int_equal(comch_state(&comch_server), DOCA_CTX_STATE_STOPPING);
	assert_int_equal(command_value(COMCH_RECEIVE, 0, num), 0);
	comch_wait(comch_state(&comch_server) == DOCA_CTX_STATE_IDLE);
	assert_command(COMCH_AWAIT_END, 0, 0, 0);
	assert_int_equal(comch_server.num_sent, num);
}

static void server_that_stops_disconnects_its_clients(void **state)
{
	start_clients(COMCH_MAX_CLIENTS);
	assert_error(doca_ctx_stop(comch_server.ctx), DOCA_ERROR_IN_PROGRESS);
	comch_wait(comch_state(&comch_server) == DOCA_CTX_STATE_IDLE);
	for (unsigned int i = 0; i < COMCH_MAX_CLIENTS; i++)
		assert_command(COMCH_AWAIT_END, i, 0, 0);
	assert_int_equal(comch_server.num_disconnected, 0);
	assert_int_equal(command_value(COMCH_CHANGES, 0, 0), 0x1230);
}

static void disconnect_it(struct comch_side *side, struct doca_comch_connection *connection)
{
	assert_ok(comch_submit(side, connection, 16));
	assert_ok(doca_comch_server_disconnect(side->server, connection));
	assert_error(doca_comch_server_disconnect(side->server, connection),
		     DOCA_ERROR_INVALID_VALUE);
}

static void server_refuses_in_the_connect_callback(void **state)
{
	comch_server.on_connect = disconnect_it;
	assert_command(COMCH_START, 0, 0, 0);
	assert_int_equal(command_value(COMCH_RECEIVE, 0, 1), 0);
	assert_command(COMCH_AWAIT_END, 0, 0, 0);
	comch_server.on_connect = NULL;
	assert_command(COMCH_START, 1, 0, 0);
	assert_command(COMCH_STOP, 1, 0, 0);
	comch_wait(comch_server.num_disconnected == 1);
	assert_int_equal(comch_server.num_connected, 2);
}

static void death_of_a_client_is_a_disconnect(void **state)
{
	start_clients(3);
	assert_command(COMCH_SUBMIT, 0, 20, 8);
	assert_true(process_kill(&comch_peer));
	comch_wait(comch_server.num_disconnected == 3);
	/* What it had sent is delivered. */
	assert_int_equal(comch_server.num_received, 20);
	assert_int_equal(comch_state(&comch_server), DOCA_CTX_STATE_RUNNING);
}

/* A write fails before anything was read. */
static void messages_of_a_dead_client_survive_a_failed_send(void **state)
{
	start_clients(1);
	assert_command(COMCH_SUBMIT, 0, 20, 8);
	assert_true(process_kill(&comch_peer));
	comch_server.num_sent = 0;
	assert_ok(comch_submit(&comch_server, comch_server.last, 8));
	comch_wait(comch_server.num_disconnected == 1);
	assert_int_equal(comch_server.num_received, 20);
	assert_int_equal(comch_server.num_failed, 1);
	assert_error(comch_server.last_error, DOCA_ERROR_CONNECTION_RESET);
}

static void death_of_the_server_ends_its_client(void **state)
{
	struct process other;

	assert_true(comch_start_other_server(&other));
	assert_command(COMCH_START, 0, 1, 0);
	assert_true(process_kill(&other));
	assert_command(COMCH_AWAIT_END, 0, 0, 0);
	assert_int_equal(command_value(COMCH_CHANGES, 0, 0), 0x1230);
	/* Another one takes its place. */
	assert_true(comch_start_other_server(&other));
	assert_command(COMCH_START, 0, 1, 0);
	assert_true(process_finish(&other));
	assert_command(COMCH_AWAIT_END, 0, 0, 0);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void wait_asleep(const uint32_t *value, uint32_t wanted)
{
	doca_notification_handle_t handle;
	struct pollfd event = {.events = POLLIN};

	assert_ok(doca_pe_get_notification_handle(comch_server.pe, &handle));
	event.fd = handle;
	while (*value != wanted) {
		assert_ok(doca_pe_request_notification(comch_server.pe));
		assert_int_equal(poll(&event, 1, FIXTURE_TIMEOUT_MS), 1);
		assert_ok(doca_pe_clear_notification(comch_server.pe, handle));
		while (doca_pe_progress(comch_server.pe))
			;
	}
}

static void handle_is_readable_only_if_something_happened(void **state)
{
	doca_notification_handle_t handle;
	struct pollfd event = {.events = POLLIN};

	comch_ask(COMCH_START, 0, 0, 0);
	wait_asleep(&comch_server.num_connected, 1);
	assert_ok(comch_answer(NULL));
	assert_command(COMCH_SUBMIT, 0, 3, 8);
	wait_asleep(&comch_server.num_received, 3);
	assert_ok(comch_submit(&comch_server, comch_server.last, 8));
	wait_asleep(&comch_server.num_sent, 1);
	assert_ok(doca_pe_get_notification_handle(comch_server.pe, &handle));
	event.fd = handle;
	/* The credits of the last message may still be on the way. */
	do {
		assert_ok(doca_pe_clear_notification(comch_server.pe, handle));
		while (doca_pe_progress(comch_server.pe))
			;
		assert_ok(doca_pe_request_notification(comch_server.pe));
	} while (poll(&event, 1, 200) == 1);
	assert_true(process_kill(&comch_peer));
	wait_asleep(&comch_server.num_disconnected, 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		comch_test(server_is_running_when_start_returns),
		comch_test(server_without_clients_stops_at_once),
		comch_test(client_is_starting_until_progress),
		comch_test(client_stops_through_stopping),
		comch_test(client_without_server_becomes_idle),
		comch_test(client_that_waits_for_its_server_sleeps),
		comch_test(client_stops_while_starting),
		comch_test(name_is_in_use_until_its_server_stops),
		comch_test(objects_in_use_are_not_destroyed),
		comch_test(messages_arrive_in_order_in_both_directions),
		comch_test(message_leaves_without_progress_of_its_sender),
		comch_test(messages_wait_for_a_receiver_that_blocks),
		comch_test(client_that_does_not_read_delays_no_other),
		comch_test(invalid_messages_are_refused),
		comch_test(send_after_the_end_fails_by_callback),
		comch_test(counters_are_those_of_the_last_update),
		comch_test(message_before_stop_arrives),
		comch_test(messages_that_wait_arrive_before_the_end),
		comch_test(server_that_stops_disconnects_its_clients),
		comch_test(server_refuses_in_the_connect_callback),
		comch_test(death_of_a_client_is_a_disconnect),
		comch_test(messages_of_a_dead_client_survive_a_failed_send),
		comch_test(death_of_the_server_ends_its_client),
		comch_test(handle_is_readable_only_if_something_happened),
	};
	int other;

	test_parse_options(argc, argv);
	other = comch_serve_other();
	if (other >= 0)
		return other;
	if (test_options.is_peer)
		return comch_serve();
	return cmocka_run_group_tests(tests, comch_open_group, comch_close_group);
}
