/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Connections by address. */
#include <string.h>

#include "by_address.h"

/* rule: CM-R1, RT-5b */
static void a_client_connects_and_sends(void **state)
{
	by_address_connect();
	assert_string_equal(there.log, "RUNNING request:0 established:0");
	assert_string_equal(here.log, "RUNNING established:0");
	by_address_exchange(0);
	by_address_exchange(0);
	assert_string_equal(there.log, "RUNNING request:0 established:0");
}

/* Non-zero if a callback ran. */
static void progress(const struct side *side)
{
	size_t before = side->log_len;
	uint8_t result = doca_pe_progress(side->pe);

	assert_int_equal(result != 0, side->log_len > before);
}

/* rule: X-9 */
static void progress_is_non_zero_for_each_callback_of_a_connection(void **state)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	assert_ok(doca_rdma_connect_to_addr(here.rdma, by_address_server,
					    (union doca_data){.u64 = 7}));
	while (!side_count(&here, "established:0") || !side_count(&there, "established:0")) {
		progress(&here);
		progress(&there);
		assert_true(monotonic_ms() < limit);
	}
	assert_ok(doca_rdma_connection_disconnect(here.connections[0]));
	while (!side_count(&here, "disconnection:0") || !side_count(&there, "disconnection:0")) {
		progress(&here);
		progress(&there);
		assert_true(monotonic_ms() < limit);
	}
}

/* rule: RT-10b */
static void a_failed_task_ends_only_its_connection(void **state)
{
	by_address_connect();
	by_address_connect();
	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 0, 8));
	for (unsigned int i = 0; i < 2; i++)
		side_post(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, 64));
	assert_true(side_wait(&there, 1));
	assert_true(side_wait(&here, 2));
	assert_error(there.done[0].status,
		     side_is_software(&there) ? DOCA_ERROR_IO_FAILED : DOCA_ERROR_INVALID_VALUE);
	assert_int_not_equal(here.done[0].status, DOCA_SUCCESS);
	assert_error(here.done[1].status, DOCA_ERROR_SHUTDOWN);
	by_address_exchange(1);
	assert_ok(doca_rdma_connection_disconnect(here.connections[0]));
	assert_true(side_wait_word(&there, "disconnection:0", 1));
	by_address_exchange(1);
	assert_int_equal(side_state(&here), DOCA_CTX_STATE_RUNNING);
	assert_int_equal(side_state(&there), DOCA_CTX_STATE_RUNNING);
}

/* What the program can read of its first connection. */
static void assert_readable(void)
{
	struct doca_rdma_addr *addr;
	enum doca_rdma_addr_type type;
	union doca_data data;
	const char *text;
	uint16_t port;
	uint32_t id;

	assert_ok(doca_rdma_connection_get_id(here.connections[0], &id));
	assert_int_equal(id, 0);
	assert_ok(doca_rdma_connection_get_user_data(here.connections[0], &data));
	assert_int_equal(data.u64, 7);
	assert_ok(doca_rdma_connection_get_addr(here.connections[0], &addr));
	assert_ok(doca_rdma_addr_get_params(addr, &type, &text, &port));
	assert_int_equal(port, BY_ADDRESS_PORT);
}

/* rule: CM-R5d */
static void a_connection_of_a_context_that_is_idle_is_recognized(void **state)
{
	struct doca_rdma_connection *connection;
	const void *details;
	size_t len;

	by_address_connect();
	assert_ok(doca_rdma_export(here.rdma, &details, &len, &connection));
	assert_ok(side_stop(&here));
	assert_error(doca_rdma_connection_disconnect(here.connections[0]), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_connection_disconnect(connection), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_connection_accept(here.connections[0], NULL, 0),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_connection_reject(here.connections[0]), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_connect(here.rdma, details, len, connection), DOCA_ERROR_BAD_STATE);
	assert_readable();
}

static void note_order(struct side *side, const struct side_done *done, struct doca_task *task)
{
	(void)done;
	assert_non_null(strstr(side->log, "established:0"));
	doca_task_free(task);
}

static bool progress_here_until(unsigned int n_done)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (!side_count(&here, "established:0") || here.n_done < n_done) {
		doca_pe_progress(here.pe);
		if (monotonic_ms() > limit)
			return false;
	}
	return true;
}

/* The server looks only when the event and the message have arrived. */
/* rule: CM-R1 */
static void a_message_never_comes_before_its_connection(void **state)
{
	there.hook = note_order;
	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 0, 64));
	assert_ok(doca_rdma_connect_to_addr(here.rdma, by_address_server, (union doca_data){0}));
	assert_true(side_wait_word(&there, "request:0", 1));
	assert_true(progress_here_until(0));
	side_post(&here, .kind = SIDE_SEND, .connection = here.connections[0],
		  .src = side_data(&here, 0, 64));
	assert_true(progress_here_until(1));
	assert_true(side_wait(&there, 1));
	assert_int_equal(side_count(&there, "established:0"), 1);
	by_address_exchange(0);
}

/* rule: CM-R4a */
static void a_gid_is_an_address(void **state)
{
	struct doca_rdma_addr *gid;
	char text[SIDE_TEXT];

	assert_true(side_address(there.dev, DOCA_RDMA_ADDR_TYPE_GID, text));
	assert_ok(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_GID, text, BY_ADDRESS_PORT, &gid));
	assert_ok(doca_rdma_connect_to_addr(here.rdma, gid, (union doca_data){0}));
	assert_true(side_wait_word(&here, "established:0", 1));
	assert_true(side_wait_word(&there, "established:0", 1));
	assert_ok(doca_rdma_addr_destroy(gid));
	by_address_exchange(0);
}

/* rule: CM-R2 */
static void callbacks_get_the_current_user_data(void **state)
{
	union doca_data data = {0};

	by_address_connect();
	assert_int_equal(here.connection_data, 7);
	assert_int_equal(there.connection_data, 100);
	assert_ok(doca_rdma_connection_get_user_data(here.connections[0], &data));
	assert_int_equal(data.u64, 7);
	data.u64 = 8;
	assert_ok(doca_rdma_connection_set_user_data(here.connections[0], data));
	assert_ok(doca_rdma_connection_disconnect(there.connections[0]));
	assert_true(side_wait_word(&here, "disconnection:0", 1));
	assert_int_equal(here.connection_data, 8);
}

static void work_at_once(struct side *side, const char *word)
{
	if (strcmp(word, "established:0") != 0)
		return;
	assert_ok(doca_rdma_connection_set_user_data(side->connections[0],
						     (union doca_data){.u64 = 9}));
	side_post(side, .kind = SIDE_RECEIVE);
	side_post(side, .kind = SIDE_SEND, .src = side_data(side, 0, 64));
}

/* rule: CM-R3 */
static void the_callback_may_submit_tasks(void **state)
{
	union doca_data data = {0};

	here.on_word = work_at_once;
	by_address_connect();
	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 0, 64));
	assert_true(side_wait(&there, 1));
	assert_true(side_wait(&here, 1));
	assert_ok(there.done[0].status);
	assert_ok(here.done[0].status);
	assert_ok(doca_rdma_connection_get_user_data(here.connections[0], &data));
	assert_int_equal(data.u64, 9);
}

static void stop_at_once(struct side *side, const char *word)
{
	doca_error_t result;

	if (strcmp(word, "established:0") != 0)
		return;
	result = doca_ctx_stop(side->ctx);
	assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
}

/* rule: CM-R3 */
static void the_callback_may_stop_the_context(void **state)
{
	here.on_word = stop_at_once;
	assert_ok(doca_rdma_connect_to_addr(here.rdma, by_address_server, (union doca_data){0}));
	assert_true(side_wait_word(&here, "IDLE", 1));
	assert_true(side_wait_word(&there, "disconnection:0", 1));
}

/* rule: CM-R4b, RE-addr-2 */
static void an_address_is_in_use_until_the_connection_is_established(void **state)
{
	assert_ok(doca_rdma_connect_to_addr(here.rdma, by_address_server, (union doca_data){0}));
	assert_error(doca_rdma_addr_destroy(by_address_server), DOCA_ERROR_BAD_STATE);
	assert_true(side_wait_word(&here, "established:0", 1));
	assert_ok(side_stop(&here));
	assert_ok(doca_rdma_addr_destroy(by_address_server));
	by_address_server = NULL;
}

/* rule: CM-R5a, CM-R5b */
static void a_disconnection_is_reported_once(void **state)
{
	by_address_connect();
	assert_ok(doca_rdma_connection_disconnect(here.connections[0]));
	assert_true(side_wait_word(&there, "disconnection:0", 1));
	assert_ok(doca_rdma_connection_disconnect(there.connections[0]));
	assert_ok(doca_rdma_connection_disconnect(here.connections[0]));
	for (unsigned int i = 0; i < 1000; i++)
		side_progress();
	assert_int_equal(side_count(&there, "disconnection:0"), 1);
	assert_true(side_count(&here, "disconnection:0") <= 1);
}

static void disconnect_back(struct side *side, const char *word)
{
	if (!strcmp(word, "disconnection:0"))
		assert_ok(doca_rdma_connection_disconnect(side->connections[0]));
	else
		by_address_serve(side, word);
}

/* rule: CM-R5b, CM-R5c */
static void a_disconnection_may_be_answered_in_its_callback(void **state)
{
	there.on_word = disconnect_back;
	by_address_connect();
	assert_ok(doca_rdma_connection_disconnect(here.connections[0]));
	assert_true(side_wait_word(&there, "disconnection:0", 1));
	assert_ok(side_stop(&here));
	assert_ok(side_stop(&there));
	assert_true(side_count(&here, "disconnection:0") <= 1);
	assert_int_equal(side_count(&there, "disconnection:0"), 1);
}

static void disconnect_and_stop(struct side *side, const struct side_done *done,
				struct doca_task *task)
{
	(void)done;
	doca_task_free(task);
	side->hook = NULL;
	assert_ok(doca_rdma_connection_disconnect(side->connections[0]));
	assert_error(doca_ctx_stop(side->ctx), DOCA_ERROR_IN_PROGRESS);
}

static void disconnect_while_stopping(struct side *side, const char *word)
{
	if (!strcmp(word, "STOPPING"))
		doca_rdma_connection_disconnect(side->connections[0]);
}

/* rule: CM-R6 */
static void a_completion_callback_may_disconnect_and_stop(void **state)
{
	by_address_connect();
	here.on_word = disconnect_while_stopping;
	here.hook = disconnect_and_stop;
	side_post(&there, .kind = SIDE_RECEIVE);
	side_post(&here, .kind = SIDE_SEND);
	assert_true(side_wait_word(&here, "IDLE", 1));
	assert_true(side_wait_word(&there, "disconnection:0", 1));
}

enum end_step { DISCONNECT, DISCONNECT_AGAIN, STOP, FREE, NUM_END_STEPS };

static struct {
	enum end_step order[NUM_END_STEPS];
	bool in_callback;
	struct doca_task *task; /* NULL once it is freed */
} ending;

static void take_end_step(enum end_step step)
{
	bool is_idle = side_state(&here) == DOCA_CTX_STATE_IDLE;

	switch (step) {
	case STOP:
		assert_error(doca_ctx_stop(here.ctx), ending.in_callback || ending.task
							      ? DOCA_ERROR_IN_PROGRESS
							      : DOCA_SUCCESS);
		break;
	case FREE:
		doca_task_free(ending.task);
		ending.task = NULL;
		break;
	default:
		assert_error(doca_rdma_connection_disconnect(here.connections[0]),
			     is_idle ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS);
	}
}

static void take_end_steps(void)
{
	for (unsigned int i = 0; i < NUM_END_STEPS; i++)
		take_end_step(ending.order[i]);
}

static void end_in_callback(struct side *side, const struct side_done *done, struct doca_task *task)
{
	(void)done;
	ending.task = task;
	if (!ending.in_callback)
		return;
	take_end_steps();
	assert_int_equal(side_state(side), DOCA_CTX_STATE_STOPPING);
}

static void end_in_this_order(bool in_callback)
{
	ending.in_callback = in_callback;
	side_forget(&here);
	side_forget(&there);
	if (side_state(&here) == DOCA_CTX_STATE_IDLE)
		assert_ok(side_start(&here));
	by_address_connect();
	side_post(&there, .kind = SIDE_RECEIVE);
	side_post(&here, .kind = SIDE_SEND);
	assert_true(side_wait(&here, 1));
	if (!in_callback)
		take_end_steps();
	assert_true(side_wait_word(&here, "IDLE", 1));
	assert_true(side_wait_word(&there, "disconnection:0", 1));
	assert_in_range(side_count(&here, "disconnection:0"), 0, 1);
	assert_int_equal(side_count(&here, "IDLE"), 1);
}

static void for_each_order(unsigned int n, bool in_callback)
{
	enum end_step first = ending.order[n];

	if (n == NUM_END_STEPS - 1) {
		end_in_this_order(in_callback);
		return;
	}
	for (unsigned int i = n; i < NUM_END_STEPS; i++) {
		ending.order[n] = ending.order[i];
		ending.order[i] = first;
		for_each_order(n + 1, in_callback);
		ending.order[i] = ending.order[n];
		ending.order[n] = first;
	}
}

/* rule: CM-R5d, CM-R6, RD-10b, RD-10c */
static void disconnect_stop_and_free_may_come_in_any_order(void **state)
{
	here.hook = end_in_callback;
	for (unsigned int i = 0; i < NUM_END_STEPS; i++)
		ending.order[i] = (enum end_step)i;
	for_each_order(0, true);
	for_each_order(0, false);
}

/* rule: CM-R7 */
static void a_peer_that_does_not_listen_is_a_failure(void **state)
{
	struct doca_rdma_addr *wrong;
	enum doca_rdma_addr_type type;
	const char *text;
	doca_error_t result;
	uint16_t port;

	assert_ok(doca_rdma_addr_get_params(by_address_server, &type, &text, &port));
	assert_ok(doca_rdma_addr_create(type, text, BY_ADDRESS_NO_SERVER, &wrong));
	result = doca_rdma_connect_to_addr(here.rdma, wrong, (union doca_data){.u64 = 5});
	if (result == DOCA_SUCCESS) {
		assert_true(side_wait_word(&here, "failure:0", 1));
		assert_int_equal(here.connection_data, 5);
	} else {
		assert_error(result, DOCA_ERROR_CONNECTION_ABORTED);
	}
	assert_ok(doca_rdma_addr_destroy(wrong));
}

/* rule: CM-R4b, CM-R7 */
static void an_address_that_does_not_exist_is_a_failure(void **state)
{
	struct doca_rdma_addr *wrong;
	doca_error_t result;

	assert_ok(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "203.0.113.77", BY_ADDRESS_PORT,
					&wrong));
	result = doca_rdma_connect_to_addr(here.rdma, wrong, (union doca_data){0});
	if (result == DOCA_SUCCESS)
		assert_true(side_wait_word(&here, "failure:0", 1));
	else
		assert_error(result, DOCA_ERROR_CONNECTION_ABORTED);
	assert_ok(doca_rdma_addr_destroy(wrong));
}

/* rule: CM-R8, RE-reject */
static void clients_beyond_the_maximum_are_rejected(void **state)
{
	assert_ok(side_stop(&there));
	assert_ok(doca_rdma_set_max_num_connections(there.rdma, 2));
	assert_ok(side_start(&there));
	assert_ok(doca_rdma_start_listen_to_port(there.rdma, BY_ADDRESS_PORT));
	by_address_connect();
	by_address_connect();
	assert_ok(doca_rdma_connect_to_addr(here.rdma, by_address_server, (union doca_data){0}));
	assert_true(side_wait_word(&here, "failure:2", 1));
	assert_int_equal(side_count(&there, "request:2"), 0);
	by_address_exchange(0);
	by_address_exchange(1);
}

/* rule: RE-reject, RE-accept */
static void the_client_of_a_rejected_request_fails(void **state)
{
	by_address_answer = BY_ADDRESS_REJECT;
	assert_ok(doca_rdma_connect_to_addr(here.rdma, by_address_server, (union doca_data){0}));
	assert_true(side_wait_word(&here, "failure:0", 1));
	assert_int_equal(side_count(&there, "established:0"), 0);
}

/* rule: RE-accept */
static void a_request_can_be_accepted_later(void **state)
{
	by_address_answer = BY_ADDRESS_WAIT;
	assert_ok(doca_rdma_connect_to_addr(here.rdma, by_address_server, (union doca_data){0}));
	assert_true(side_wait_word(&there, "request:0", 1));
	for (unsigned int i = 0; i < 1000; i++)
		side_progress();
	assert_error(doca_rdma_connection_accept(there.connections[0], NULL, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_connection_accept(there.connections[0], NULL, 0));
	assert_true(side_wait_word(&here, "established:0", 1));
	assert_true(side_wait_word(&there, "established:0", 1));
	assert_error(doca_rdma_connection_accept(there.connections[0], NULL, 0),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_connection_reject(here.connections[0]), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_connection_accept(NULL, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	by_address_exchange(0);
}

/* rule: CM-R9 */
static void connections_have_numbers_and_the_port_of_the_listener(void **state)
{
	uint32_t ids[3] = {0};

	for (unsigned int i = 0; i < 3; i++) {
		struct doca_rdma_addr *of;
		enum doca_rdma_addr_type type;
		const char *text;
		uint16_t port;

		by_address_connect();
		assert_ok(doca_rdma_connection_get_addr(there.connections[i], &of));
		assert_ok(doca_rdma_addr_get_params(of, &type, &text, &port));
		assert_int_equal(port, BY_ADDRESS_PORT);
		assert_error(doca_rdma_addr_destroy(of), DOCA_ERROR_BAD_STATE);
		assert_ok(doca_rdma_connection_get_id(there.connections[i], &ids[i]));
		for (unsigned int j = 0; j < i; j++)
			assert_int_not_equal(ids[i], ids[j]);
	}
}

/* rule: RE-listen-1, RE-connect-to */
static void listening_and_connecting_need_a_running_context(void **state)
{
	assert_error(doca_rdma_start_listen_to_port(here.rdma, BY_ADDRESS_PORT),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_stop_listen_to_port(here.rdma, BY_ADDRESS_PORT),
		     DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_connect_to_addr(here.rdma, by_address_server, (union doca_data){0}),
		     DOCA_ERROR_BAD_STATE);
	assert_ok(doca_rdma_addr_destroy(by_address_server));
	by_address_server = NULL;
}

/* rule: RE-listen-2, X-1, RE-set-8 */
static void a_port_has_one_listener(void **state)
{
	assert_error(doca_rdma_start_listen_to_port(there.rdma, BY_ADDRESS_PORT),
		     DOCA_ERROR_CONNECTION_ABORTED);
	assert_error(doca_rdma_start_listen_to_port(NULL, BY_ADDRESS_PORT),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_start_listen_to_port(there.rdma, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_start_listen_to_port(there.rdma, BY_ADDRESS_NO_SERVER));
	by_address_connect();
}

static void listen_in_vain(void *rdma)
{
	assert_error(doca_rdma_start_listen_to_port(rdma, BY_ADDRESS_PORT),
		     DOCA_ERROR_CONNECTION_ABORTED);
}

/* A second context on the device of the server. */
/* rule: RE-listen-2 */
static void a_port_of_another_context_is_refused_and_costs_no_memory(void **state)
{
	struct doca_rdma *other;
	struct doca_pe *pe;

	assert_ok(doca_pe_create(&pe));
	assert_ok(doca_rdma_create(there.dev, &other));
	assert_ok(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(other)));
	assert_ok(doca_ctx_start(doca_rdma_as_ctx(other)));
	fixture_assert_no_growth(listen_in_vain, other);
	assert_ok(doca_ctx_stop(doca_rdma_as_ctx(other)));
	assert_ok(doca_rdma_destroy(other));
	assert_ok(doca_pe_destroy(pe));
	by_address_connect();
}

/* rule: RE-listen-3 */
static void connections_stay_when_listening_stops(void **state)
{
	by_address_connect();
	assert_ok(doca_rdma_stop_listen_to_port(there.rdma, BY_ADDRESS_PORT));
	assert_error(doca_rdma_stop_listen_to_port(there.rdma, BY_ADDRESS_PORT),
		     DOCA_ERROR_INVALID_VALUE);
	by_address_exchange(0);
	assert_ok(doca_rdma_connect_to_addr(here.rdma, by_address_server, (union doca_data){0}));
	assert_true(side_wait_word(&here, "failure:1", 1));
	assert_ok(doca_rdma_start_listen_to_port(there.rdma, BY_ADDRESS_PORT));
	assert_ok(doca_rdma_connect_to_addr(here.rdma, by_address_server, (union doca_data){0}));
	assert_true(side_wait_word(&here, "established:2", 1));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		by_address_test(a_client_connects_and_sends),
		by_address_test(progress_is_non_zero_for_each_callback_of_a_connection),
		by_address_test(a_failed_task_ends_only_its_connection),
		by_address_test(a_connection_of_a_context_that_is_idle_is_recognized),
		by_address_test(a_message_never_comes_before_its_connection),
		by_address_test(a_gid_is_an_address),
		by_address_test(callbacks_get_the_current_user_data),
		by_address_test(the_callback_may_submit_tasks),
		by_address_test(the_callback_may_stop_the_context),
		by_address_test(an_address_is_in_use_until_the_connection_is_established),
		by_address_test(a_disconnection_is_reported_once),
		by_address_test(a_disconnection_may_be_answered_in_its_callback),
		by_address_test(a_completion_callback_may_disconnect_and_stop),
		by_address_test(disconnect_stop_and_free_may_come_in_any_order),
		by_address_test(a_peer_that_does_not_listen_is_a_failure),
		by_address_test(an_address_that_does_not_exist_is_a_failure),
		by_address_test(clients_beyond_the_maximum_are_rejected),
		by_address_test(the_client_of_a_rejected_request_fails),
		by_address_test(a_request_can_be_accepted_later),
		by_address_test(connections_have_numbers_and_the_port_of_the_listener),
		by_address_idle_test(listening_and_connecting_need_a_running_context),
		by_address_test(a_port_has_one_listener),
		by_address_test(a_port_of_another_context_is_refused_and_costs_no_memory),
		by_address_test(connections_stay_when_listening_stops),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, side_use_manager, NULL);
}
