/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Connections by address: `there` is the server, `here` the client. */
#include <string.h>

#include "side.h"

#define PORT	  13579
#define NO_SERVER 13580

/* What the server does with a request. */
static enum { ACCEPT, REJECT, WAIT } on_request;
static struct doca_rdma_addr *addr;

static void serve(struct side *side, const char *word)
{
	unsigned int i;

	if (sscanf(word, "request:%u", &i) != 1)
		return;
	if (on_request == REJECT)
		assert_ok(doca_rdma_connection_reject(side->connections[i]));
	if (on_request != ACCEPT)
		return;
	assert_ok(doca_rdma_connection_set_user_data(side->connections[i],
						     (union doca_data){.u64 = 100 + i}));
	assert_ok(doca_rdma_connection_accept(side->connections[i], NULL, 0));
}

static int address_setup(void **state)
{
	char text[SIDE_TEXT];

	on_request = ACCEPT;
	addr = NULL;
	if (side_setup(state) || side_set_callbacks(&here) != DOCA_SUCCESS ||
	    side_set_callbacks(&there) != DOCA_SUCCESS)
		return -1;
	there.on_word = serve;
	if (!side_address(there.dev, DOCA_RDMA_ADDR_TYPE_IPv4, text))
		return -1;
	return doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, text, PORT, &addr) == DOCA_SUCCESS
		       ? 0
		       : -1;
}

static int listening_setup(void **state)
{
	if (address_setup(state) || side_start(&here) != DOCA_SUCCESS ||
	    side_start(&there) != DOCA_SUCCESS)
		return -1;
	return doca_rdma_start_listen_to_port(there.rdma, PORT) == DOCA_SUCCESS ? 0 : -1;
}

static int address_teardown(void **state)
{
	here.on_word = there.on_word = NULL;
	if (here.ctx)
		side_stop(&here);
	if (addr && doca_rdma_addr_destroy(addr) != DOCA_SUCCESS)
		return -1;
	return side_teardown(state);
}
#define address_test(function) \
	cmocka_unit_test_setup_teardown(function, address_setup, address_teardown)
#define listening_test(function) \
	cmocka_unit_test_setup_teardown(function, listening_setup, address_teardown)

/* One more connection; its user data is 7. */
static void connect_once(void)
{
	unsigned int n = here.n_connections;
	char word[32];

	assert_ok(doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){.u64 = 7}));
	snprintf(word, sizeof(word), "established:%u", n);
	assert_true(side_wait_word(&here, word, 1));
	assert_true(side_wait_word(&there, word, 1));
}

static void exchange(unsigned int i)
{
	unsigned int n = there.n_done + 1;

	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 4096, 64));
	fixture_fill(here.bytes, 64, i);
	side_ok(&here, .kind = SIDE_SEND, .connection = here.connections[i],
		.src = side_data(&here, 0, 64));
	assert_true(side_wait(&there, n));
	assert_ok(there.done[n - 1].status);
	assert_ptr_equal(there.done[n - 1].connection, there.connections[i]);
	assert_memory_equal(there.bytes + 4096, here.bytes, 64);
}

/* rule: CM-R1, RT-5b */
static void a_client_connects_and_sends(void **state)
{
	connect_once();
	assert_string_equal(there.log, "RUNNING request:0 established:0");
	assert_string_equal(here.log, "RUNNING established:0");
	exchange(0);
	exchange(0);
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
	uint64_t limit = now_ms() + FIXTURE_TIMEOUT_MS;

	assert_ok(doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){.u64 = 7}));
	while (!side_count(&here, "established:0") || !side_count(&there, "established:0")) {
		progress(&here);
		progress(&there);
		assert_true(now_ms() < limit);
	}
	assert_ok(doca_rdma_connection_disconnect(here.connections[0]));
	while (!side_count(&here, "disconnection:0") || !side_count(&there, "disconnection:0")) {
		progress(&here);
		progress(&there);
		assert_true(now_ms() < limit);
	}
}

/* rule: RT-10b */
static void a_failed_task_ends_only_its_connection(void **state)
{
	connect_once();
	connect_once();
	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 0, 8));
	for (unsigned int i = 0; i < 2; i++)
		side_post(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, 64));
	assert_true(side_wait(&there, 1));
	assert_true(side_wait(&here, 2));
	assert_error(there.done[0].status,
		     side_is_software(&there) ? DOCA_ERROR_IO_FAILED : DOCA_ERROR_INVALID_VALUE);
	assert_int_not_equal(here.done[0].status, DOCA_SUCCESS);
	assert_error(here.done[1].status, DOCA_ERROR_SHUTDOWN);
	exchange(1);
	assert_ok(doca_rdma_connection_disconnect(here.connections[0]));
	assert_true(side_wait_word(&there, "disconnection:0", 1));
	exchange(1);
	assert_int_equal(side_state(&here), DOCA_CTX_STATE_RUNNING);
	assert_int_equal(side_state(&there), DOCA_CTX_STATE_RUNNING);
}

static void note_order(struct side *side, const struct side_done *done, struct doca_task *task)
{
	(void)done;
	assert_non_null(strstr(side->log, "established:0"));
	doca_task_free(task);
}

static bool progress_here_until(unsigned int n_done)
{
	uint64_t limit = now_ms() + FIXTURE_TIMEOUT_MS;

	while (!side_count(&here, "established:0") || here.n_done < n_done) {
		doca_pe_progress(here.pe);
		if (now_ms() > limit)
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
	assert_ok(doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){0}));
	assert_true(side_wait_word(&there, "request:0", 1));
	assert_true(progress_here_until(0));
	side_post(&here, .kind = SIDE_SEND, .connection = here.connections[0],
		  .src = side_data(&here, 0, 64));
	assert_true(progress_here_until(1));
	assert_true(side_wait(&there, 1));
	assert_int_equal(side_count(&there, "established:0"), 1);
	exchange(0);
}

/* rule: CM-R4a */
static void a_gid_is_an_address(void **state)
{
	struct doca_rdma_addr *gid;
	char text[SIDE_TEXT];

	assert_true(side_address(there.dev, DOCA_RDMA_ADDR_TYPE_GID, text));
	assert_ok(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_GID, text, PORT, &gid));
	assert_ok(doca_rdma_connect_to_addr(here.rdma, gid, (union doca_data){0}));
	assert_true(side_wait_word(&here, "established:0", 1));
	assert_true(side_wait_word(&there, "established:0", 1));
	assert_ok(doca_rdma_addr_destroy(gid));
	exchange(0);
}

/* rule: CM-R2 */
static void callbacks_get_the_current_user_data(void **state)
{
	union doca_data data = {0};

	connect_once();
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
	connect_once();
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
	assert_ok(doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){0}));
	assert_true(side_wait_word(&here, "IDLE", 1));
	assert_true(side_wait_word(&there, "disconnection:0", 1));
}

/* rule: CM-R4b, RE-addr-2 */
static void an_address_is_in_use_until_the_connection_is_established(void **state)
{
	assert_ok(doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){0}));
	assert_error(doca_rdma_addr_destroy(addr), DOCA_ERROR_BAD_STATE);
	assert_true(side_wait_word(&here, "established:0", 1));
	assert_ok(side_stop(&here));
	assert_ok(doca_rdma_addr_destroy(addr));
	addr = NULL;
}

/* rule: CM-R5a, CM-R5b */
static void a_disconnection_is_reported_once(void **state)
{
	connect_once();
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
		serve(side, word);
}

/* rule: CM-R5b, CM-R5c */
static void a_disconnection_may_be_answered_in_its_callback(void **state)
{
	there.on_word = disconnect_back;
	connect_once();
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
	doca_error_t result;

	(void)done;
	doca_task_free(task);
	side->hook = NULL;
	assert_ok(doca_rdma_connection_disconnect(side->connections[0]));
	result = doca_ctx_stop(side->ctx);
	assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
}

static void disconnect_while_stopping(struct side *side, const char *word)
{
	if (!strcmp(word, "STOPPING"))
		doca_rdma_connection_disconnect(side->connections[0]);
}

/* rule: CM-R6 */
static void a_completion_callback_may_disconnect_and_stop(void **state)
{
	connect_once();
	here.on_word = disconnect_while_stopping;
	here.hook = disconnect_and_stop;
	side_post(&there, .kind = SIDE_RECEIVE);
	side_post(&here, .kind = SIDE_SEND);
	assert_true(side_wait_word(&here, "IDLE", 1));
	assert_true(side_wait_word(&there, "disconnection:0", 1));
}

/* rule: CM-R7 */
static void a_peer_that_does_not_listen_is_a_failure(void **state)
{
	struct doca_rdma_addr *wrong;
	enum doca_rdma_addr_type type;
	const char *text;
	doca_error_t result;
	uint16_t port;

	assert_ok(doca_rdma_addr_get_params(addr, &type, &text, &port));
	assert_ok(doca_rdma_addr_create(type, text, NO_SERVER, &wrong));
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

	assert_ok(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "203.0.113.77", PORT, &wrong));
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
	assert_ok(doca_rdma_start_listen_to_port(there.rdma, PORT));
	connect_once();
	connect_once();
	assert_ok(doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){0}));
	assert_true(side_wait_word(&here, "failure:2", 1));
	assert_int_equal(side_count(&there, "request:2"), 0);
	exchange(0);
	exchange(1);
}

/* rule: RE-reject, RE-accept */
static void the_client_of_a_rejected_request_fails(void **state)
{
	on_request = REJECT;
	assert_ok(doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){0}));
	assert_true(side_wait_word(&here, "failure:0", 1));
	assert_int_equal(side_count(&there, "established:0"), 0);
}

/* rule: RE-accept */
static void a_request_can_be_accepted_later(void **state)
{
	on_request = WAIT;
	assert_ok(doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){0}));
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
	exchange(0);
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

		connect_once();
		assert_ok(doca_rdma_connection_get_addr(there.connections[i], &of));
		assert_ok(doca_rdma_addr_get_params(of, &type, &text, &port));
		assert_int_equal(port, PORT);
		assert_error(doca_rdma_addr_destroy(of), DOCA_ERROR_BAD_STATE);
		assert_ok(doca_rdma_connection_get_id(there.connections[i], &ids[i]));
		for (unsigned int j = 0; j < i; j++)
			assert_int_not_equal(ids[i], ids[j]);
	}
}

/* rule: RE-listen-1, RE-connect-to */
static void listening_and_connecting_need_a_running_context(void **state)
{
	assert_error(doca_rdma_start_listen_to_port(here.rdma, PORT), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_stop_listen_to_port(here.rdma, PORT), DOCA_ERROR_BAD_STATE);
	assert_error(doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){0}),
		     DOCA_ERROR_BAD_STATE);
	assert_ok(doca_rdma_addr_destroy(addr));
	addr = NULL;
}

/* rule: RE-listen-2, X-1 */
static void a_port_has_one_listener(void **state)
{
	assert_error(doca_rdma_start_listen_to_port(there.rdma, PORT),
		     DOCA_ERROR_CONNECTION_ABORTED);
	assert_error(doca_rdma_start_listen_to_port(NULL, PORT), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_start_listen_to_port(there.rdma, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_start_listen_to_port(there.rdma, NO_SERVER));
	connect_once();
}

/* rule: RE-listen-3 */
static void connections_stay_when_listening_stops(void **state)
{
	connect_once();
	assert_ok(doca_rdma_stop_listen_to_port(there.rdma, PORT));
	assert_error(doca_rdma_stop_listen_to_port(there.rdma, PORT), DOCA_ERROR_INVALID_VALUE);
	exchange(0);
	assert_ok(doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){0}));
	assert_true(side_wait_word(&here, "failure:1", 1));
	assert_ok(doca_rdma_start_listen_to_port(there.rdma, PORT));
	assert_ok(doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){0}));
	assert_true(side_wait_word(&here, "established:2", 1));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		listening_test(a_client_connects_and_sends),
		listening_test(progress_is_non_zero_for_each_callback_of_a_connection),
		listening_test(a_failed_task_ends_only_its_connection),
		listening_test(a_message_never_comes_before_its_connection),
		listening_test(a_gid_is_an_address),
		listening_test(callbacks_get_the_current_user_data),
		listening_test(the_callback_may_submit_tasks),
		listening_test(the_callback_may_stop_the_context),
		listening_test(an_address_is_in_use_until_the_connection_is_established),
		listening_test(a_disconnection_is_reported_once),
		listening_test(a_disconnection_may_be_answered_in_its_callback),
		listening_test(a_completion_callback_may_disconnect_and_stop),
		listening_test(a_peer_that_does_not_listen_is_a_failure),
		listening_test(an_address_that_does_not_exist_is_a_failure),
		listening_test(clients_beyond_the_maximum_are_rejected),
		listening_test(the_client_of_a_rejected_request_fails),
		listening_test(a_request_can_be_accepted_later),
		listening_test(connections_have_numbers_and_the_port_of_the_listener),
		address_test(listening_and_connecting_need_a_running_context),
		listening_test(a_port_has_one_listener),
		listening_test(connections_stay_when_listening_stops),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, side_use_manager, NULL);
}
