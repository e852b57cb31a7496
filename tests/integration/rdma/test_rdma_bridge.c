/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections of a program that uses librdmacm itself: `there` is such a server, `here` a client that
 * connects by address.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include <dpumap/rdma.h>

#include "side.h"

#define PORT  13579
#define IS_V4 "\0\0\0\0\0\0\0\0\0\0\xff\xff"

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener;
static struct doca_rdma_addr *addr;

static bool find_address(struct sockaddr_in *found)
{
	struct doca_rdma_gid gids[16];

	if (doca_rdma_cap_get_gid(doca_dev_as_devinfo(there.dev), 0, 16, gids) != DOCA_SUCCESS)
		return false;
	for (int i = 0; i < 16; i++) {
		if (memcmp(gids[i].raw, IS_V4, 12) != 0)
			continue;
		*found = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(PORT)};
		memcpy(&found->sin_addr, gids[i].raw + 12, 4);
		return true;
	}
	return false;
}

static bool listen_at(struct sockaddr_in *at)
{
	channel = rdma_create_event_channel();
	return channel && !fcntl(channel->fd, F_SETFL, O_NONBLOCK) &&
	       !rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) &&
	       !rdma_bind_addr(listener, (struct sockaddr *)at) && !rdma_listen(listener, 8);
}

static int bridge_setup(void **state)
{
	char text[INET_ADDRSTRLEN];
	struct sockaddr_in at;

	if (side_setup(state) || side_set_callbacks(&here) != DOCA_SUCCESS ||
	    side_set_callbacks(&there) != DOCA_SUCCESS || side_start(&here) != DOCA_SUCCESS ||
	    side_start(&there) != DOCA_SUCCESS || !find_address(&at) || !listen_at(&at))
		return -1;
	return inet_ntop(AF_INET, &at.sin_addr, text, sizeof(text)) &&
			       doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, text, PORT, &addr) ==
				       DOCA_SUCCESS
		       ? 0
		       : -1;
}

static int bridge_teardown(void **state)
{
	bool good = side_stop(&here) == DOCA_SUCCESS && side_stop(&there) == DOCA_SUCCESS &&
		    doca_rdma_addr_destroy(addr) == DOCA_SUCCESS && !rdma_destroy_id(listener);

	rdma_destroy_event_channel(channel);
	return side_teardown(state) || !good ? -1 : 0;
}
#define bridge_test(function) \
	cmocka_unit_test_setup_teardown(function, bridge_setup, bridge_teardown)

/* The next event of the program's own channel, acknowledged. */
static struct rdma_cm_id *await(enum rdma_cm_event_type type)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	while (rdma_get_cm_event(channel, &event)) {
		assert_true(monotonic_ms() < limit);
		side_progress();
	}
	assert_int_equal(event->event, type);
	id = event->id;
	assert_int_equal(rdma_ack_cm_event(event), 0);
	return id;
}

static struct rdma_cm_id *request(void)
{
	assert_ok(doca_rdma_connect_to_addr(here.rdma, addr, (union doca_data){0}));
	return await(RDMA_CM_EVENT_CONNECT_REQUEST);
}

static struct doca_rdma_connection *connect_once(void)
{
	struct doca_rdma_connection *connection;

	assert_ok(doca_rdma_bridge_prepare_connection(there.rdma, request(), &connection));
	assert_error(doca_rdma_bridge_established(there.rdma, connection), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_rdma_bridge_accept(there.rdma, NULL, 0, connection));
	await(RDMA_CM_EVENT_ESTABLISHED);
	assert_ok(doca_rdma_bridge_established(there.rdma, connection));
	assert_true(side_wait_word(&here, "established:0", 1));
	return connection;
}

/* rule: RE-bridge-0, RT-5b */
static void both_ends_exchange_messages(void **state)
{
	struct doca_rdma_connection *connection = connect_once();

	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 0, 64));
	side_ok(&here, .kind = SIDE_SEND, .connection = here.connections[0],
		.src = side_data(&here, 0, 64));
	assert_true(side_wait(&there, 1));
	assert_ok(there.done[0].status);
	assert_ptr_equal(there.done[0].connection, connection);
	assert_memory_equal(there.bytes, here.bytes, 64);
	side_post(&here, .kind = SIDE_RECEIVE, .dst = side_room(&here, 4096, 64));
	side_ok(&there, .kind = SIDE_SEND, .connection = connection,
		.src = side_data(&there, 1024, 64));
	assert_true(side_wait(&here, 2));
	assert_memory_equal(here.bytes + 4096, there.bytes + 1024, 64);
	assert_string_equal(there.log, "RUNNING");
}

/* rule: RT-10b */
static void a_failed_task_does_not_stop_the_context(void **state)
{
	struct doca_rdma_connection *connection = connect_once();

	side_post(&here, .kind = SIDE_RECEIVE, .dst = side_room(&here, 0, 8));
	side_post(&there, .kind = SIDE_SEND, .connection = connection,
		  .src = side_data(&there, 0, 64));
	assert_true(side_wait(&there, 1));
	assert_int_not_equal(there.done[0].status, DOCA_SUCCESS);
	assert_int_equal(side_state(&there), DOCA_CTX_STATE_RUNNING);
	assert_ok(doca_rdma_connection_disconnect(connection));
	assert_true(side_wait_word(&here, "disconnection:0", 1));
	assert_int_equal(side_state(&here), DOCA_CTX_STATE_RUNNING);
}

/* rule: CM-R5b */
static void the_program_learns_of_the_end_by_its_own_event(void **state)
{
	struct doca_rdma_connection *connection = connect_once();

	assert_ok(doca_rdma_connection_disconnect(here.connections[0]));
	await(RDMA_CM_EVENT_DISCONNECTED);
	assert_ok(doca_rdma_connection_disconnect(connection));
	assert_ok(doca_rdma_connection_disconnect(connection));
	assert_true(side_wait_word(&here, "disconnection:0", 1));
	assert_string_equal(there.log, "RUNNING");
}

/* rule: CM-R5a */
static void the_program_ends_the_connection(void **state)
{
	assert_ok(doca_rdma_connection_disconnect(connect_once()));
	assert_true(side_wait_word(&here, "disconnection:0", 1));
}

/* rule: RD-10a */
static void stop_ends_a_connection_in_each_state(void **state)
{
	struct doca_rdma_connection *connection;

	assert_ok(doca_rdma_bridge_prepare_connection(there.rdma, request(), &connection));
	assert_ok(doca_ctx_stop(there.ctx));
	assert_true(side_wait_word(&here, "failure:0", 1));
	assert_ok(doca_ctx_start(there.ctx));
	assert_ok(doca_rdma_bridge_prepare_connection(there.rdma, request(), &connection));
	assert_ok(doca_rdma_bridge_accept(there.rdma, NULL, 0, connection));
	await(RDMA_CM_EVENT_ESTABLISHED);
	assert_ok(doca_ctx_stop(there.ctx));
	assert_true(side_wait_word(&here, "disconnection:1", 1));
	assert_ok(doca_ctx_start(there.ctx));
}

/* rule: RE-bridge-1 */
static void prepare_needs_a_running_context_and_a_place(void **state)
{
	struct doca_rdma_connection *connections[SIDE_CONNECTIONS + 1] = {0};
	struct rdma_cm_id *id = request();
	unsigned int n = 0;
	const void *details;
	size_t len;

	assert_ok(doca_ctx_stop(there.ctx));
	assert_error(doca_rdma_bridge_prepare_connection(there.rdma, id, &connections[0]),
		     DOCA_ERROR_BAD_STATE);
	assert_ok(doca_ctx_start(there.ctx));
	assert_error(doca_rdma_bridge_prepare_connection(there.rdma, NULL, &connections[0]),
		     DOCA_ERROR_INVALID_VALUE);
	while (doca_rdma_export(there.rdma, &details, &len, &connections[n]) == DOCA_SUCCESS)
		assert_true(++n <= SIDE_CONNECTIONS);
	assert_error(doca_rdma_bridge_prepare_connection(there.rdma, id, &connections[n]),
		     DOCA_ERROR_FULL);
	assert_null(connections[n]);
	/* Nothing has taken over the id. */
	assert_ok(doca_rdma_connection_disconnect(connections[0]));
	assert_ok(doca_rdma_bridge_prepare_connection(there.rdma, id, &connections[0]));
	assert_ok(doca_rdma_bridge_accept(there.rdma, NULL, 0, connections[0]));
	await(RDMA_CM_EVENT_ESTABLISHED);
}

/* rule: RE-bridge-2 */
static void accept_needs_a_prepared_connection(void **state)
{
	struct doca_rdma_connection *connection, *exported;
	const void *details;
	size_t len;

	assert_ok(doca_rdma_export(there.rdma, &details, &len, &exported));
	assert_error(doca_rdma_bridge_accept(there.rdma, NULL, 0, exported),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_bridge_established(there.rdma, exported), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_bridge_prepare_connection(there.rdma, request(), &connection));
	assert_error(doca_rdma_bridge_accept(here.rdma, NULL, 0, connection),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_bridge_accept(there.rdma, NULL, 1, connection),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_connection_accept(connection, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_rdma_connect(there.rdma, details, len, connection),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_rdma_bridge_accept(there.rdma, NULL, 0, connection));
	assert_error(doca_rdma_bridge_accept(there.rdma, NULL, 0, connection),
		     DOCA_ERROR_BAD_STATE);
	await(RDMA_CM_EVENT_ESTABLISHED);
}

/* The private data of the next request, in full length; its client's connection fails. */
static void await_data(uint8_t data[static DPUMAP_RDMA_REQUEST_DATA_MAX])
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	while (rdma_get_cm_event(channel, &event)) {
		assert_true(monotonic_ms() < limit);
		side_progress();
	}
	assert_int_equal(event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_int_equal(event->param.conn.private_data_len, DPUMAP_RDMA_REQUEST_DATA_MAX);
	memcpy(data, event->param.conn.private_data, DPUMAP_RDMA_REQUEST_DATA_MAX);
	id = event->id;
	assert_int_equal(rdma_ack_cm_event(event), 0);
	assert_int_equal(rdma_destroy_id(id), 0);
}

/* rule: RE-bridge-0 */
static void request_carries_private_data(void **state)
{
	uint8_t sent[DPUMAP_RDMA_REQUEST_DATA_MAX + 1], got[DPUMAP_RDMA_REQUEST_DATA_MAX];
	static const uint8_t zeros[DPUMAP_RDMA_REQUEST_DATA_MAX];
	const union doca_data none = {0};

	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (uint8_t)(i + 1);
	assert_ok(dpumap_rdma_connect_to_addr(here.rdma, addr, sent, sizeof(got), none));
	await_data(got);
	assert_memory_equal(got, sent, sizeof(got));
	assert_true(side_wait_word(&here, "failure:0", 1));
	assert_ok(dpumap_rdma_connect_to_addr(here.rdma, addr, sent, 8, none));
	await_data(got);
	assert_memory_equal(got, sent, 8);
	assert_memory_equal(got + 8, zeros, sizeof(got) - 8);
	assert_ok(dpumap_rdma_connect_to_addr(here.rdma, addr, NULL, 0, none));
	await_data(got);
	assert_memory_equal(got, zeros, sizeof(got));
}

/* rule: RE-connect-to */
static void request_with_wrong_arguments_is_refused(void **state)
{
	static const uint8_t data[DPUMAP_RDMA_REQUEST_DATA_MAX + 1];
	const union doca_data none = {0};

	assert_error(dpumap_rdma_connect_to_addr(here.rdma, addr, data, sizeof(data), none),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_rdma_connect_to_addr(here.rdma, addr, NULL, 1, none),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_rdma_connect_to_addr(NULL, addr, data, 1, none),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_rdma_connect_to_addr(here.rdma, NULL, data, 1, none),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_ctx_stop(here.ctx));
	assert_error(dpumap_rdma_connect_to_addr(here.rdma, addr, data, 1, none),
		     DOCA_ERROR_BAD_STATE);
	assert_ok(doca_ctx_start(here.ctx));
}

/* rule: RE-bridge-1 */
static void an_id_of_another_device_is_refused(void **state)
{
	struct doca_rdma_connection *connection = NULL;
	struct rdma_cm_id *id;

	if (here.dev == there.dev)
		test_lacks("a second device");
	id = request();
	assert_error(doca_rdma_bridge_prepare_connection(here.rdma, id, &connection),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_null(connection);
	assert_int_equal(rdma_destroy_id(id), 0);
	assert_true(side_wait_word(&here, "failure:0", 1));
}

/* --- peers that answer wrongly ---------------------------------------------------------------- */

/* As large as the manager permits, with a queue pair that does not exist. */
static struct rdma_conn_param wrong_param(uint8_t data_len)
{
	static uint8_t garbage[UINT8_MAX];

	memset(garbage, 0xa5, sizeof(garbage));
	return (struct rdma_conn_param){
		.private_data = garbage,
		.private_data_len = data_len,
		.responder_resources = UINT8_MAX,
		.initiator_depth = UINT8_MAX,
		.qp_num = 0xfffff0,
	};
}

/* The context goes on: the same with an honest peer. */
static void expect_good_connection(unsigned int number)
{
	struct doca_rdma_connection *connection;
	unsigned int n = here.n_done;

	assert_ok(doca_rdma_bridge_prepare_connection(there.rdma, request(), &connection));
	assert_ok(doca_rdma_bridge_accept(there.rdma, NULL, 0, connection));
	await(RDMA_CM_EVENT_ESTABLISHED);
	assert_ok(doca_rdma_bridge_established(there.rdma, connection));
	while (here.n_connections <= number)
		side_progress();
	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, 0, 64));
	side_ok(&here, .kind = SIDE_SEND, .connection = here.connections[number],
		.src = side_data(&here, 0, 64));
	assert_int_equal(here.n_done, n + 1);
}

/* rule: RE-wrong-1 */
static void tasks_to_a_server_with_a_wrong_queue_pair_fail(void **state)
{
	struct rdma_conn_param param = wrong_param(196);
	struct rdma_cm_id *id = request();

	assert_int_equal(rdma_accept(id, &param), 0);
	await(RDMA_CM_EVENT_ESTABLISHED);
	assert_true(side_wait_word(&here, "established:0", 1));
	assert_error(side_do(&here, &(struct side_work){.kind = SIDE_SEND,
							.src = side_data(&here, 0, 64)}),
		     DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(side_state(&here), DOCA_CTX_STATE_RUNNING);
	assert_ok(doca_rdma_connection_disconnect(here.connections[0]));
	await(RDMA_CM_EVENT_DISCONNECTED);
	assert_int_equal(rdma_destroy_id(id), 0);
	expect_good_connection(1);
}

/* rule: RE-wrong-1, CM-R7 */
static void a_rejection_may_have_any_private_data(void **state)
{
	struct rdma_conn_param param = wrong_param(148);
	struct rdma_cm_id *id = request();

	assert_int_equal(rdma_reject(id, param.private_data, param.private_data_len), 0);
	assert_int_equal(rdma_destroy_id(id), 0);
	assert_true(side_wait_word(&here, "failure:0", 1));
	expect_good_connection(1);
}

static void accept_request(struct side *side, const char *word)
{
	if (!strcmp(word, "request:0"))
		assert_ok(doca_rdma_connection_accept(side->connections[0], NULL, 0));
}

/* A program connects to `here`. */
static struct rdma_cm_id *connect_to_here(struct rdma_conn_param *param)
{
	struct sockaddr_in at;
	struct rdma_cm_id *id;

	assert_true(find_address(&at));
	if (here.dev != there.dev)
		skip();
	at.sin_port = htons(PORT + 1);
	here.on_word = accept_request;
	assert_ok(doca_rdma_start_listen_to_port(here.rdma, PORT + 1));
	assert_int_equal(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_resolve_addr(id, NULL, (struct sockaddr *)&at, 2000), 0);
	await(RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_int_equal(rdma_resolve_route(id, 2000), 0);
	await(RDMA_CM_EVENT_ROUTE_RESOLVED);
	assert_int_equal(rdma_connect(id, param), 0);
	await(RDMA_CM_EVENT_CONNECT_RESPONSE);
	return id;
}

/* rule: RE-wrong-1 */
static void tasks_to_a_client_with_a_wrong_queue_pair_fail(void **state)
{
	struct rdma_conn_param param = wrong_param(56);
	struct rdma_cm_id *id = connect_to_here(&param);

	assert_int_equal(rdma_establish(id), 0);
	assert_true(side_wait_word(&here, "established:0", 1));
	assert_error(side_do(&here, &(struct side_work){.kind = SIDE_SEND,
							.src = side_data(&here, 0, 64)}),
		     DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(rdma_destroy_id(id), 0);
	assert_true(side_wait_word(&here, "disconnection:0", 1));
	expect_good_connection(1);
}

/* rule: RE-wrong-1, CM-R7 */
static void a_client_that_vanishes_after_the_response_is_a_failure(void **state)
{
	struct rdma_conn_param param = wrong_param(56);

	assert_int_equal(rdma_destroy_id(connect_to_here(&param)), 0);
	assert_true(side_wait_word(&here, "failure:0", 1));
	expect_good_connection(1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		bridge_test(both_ends_exchange_messages),
		bridge_test(a_failed_task_does_not_stop_the_context),
		bridge_test(the_program_learns_of_the_end_by_its_own_event),
		bridge_test(the_program_ends_the_connection),
		bridge_test(stop_ends_a_connection_in_each_state),
		bridge_test(prepare_needs_a_running_context_and_a_place),
		bridge_test(accept_needs_a_prepared_connection),
		bridge_test(request_carries_private_data),
		bridge_test(request_with_wrong_arguments_is_refused),
		bridge_test(an_id_of_another_device_is_refused),
		bridge_test(tasks_to_a_server_with_a_wrong_queue_pair_fail),
		bridge_test(a_rejection_may_have_any_private_data),
		bridge_test(tasks_to_a_client_with_a_wrong_queue_pair_fail),
		bridge_test(a_client_that_vanishes_after_the_response_is_a_failure),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, side_use_manager, NULL);
}
