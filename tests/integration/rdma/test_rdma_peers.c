/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections by address between two cards: the parent connects, and the peer, a process on the second
 * card, listens. The peer dies, is cut off, or answers as nobody should.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "side.h"

#define PORT	  13579
#define MAX_PEERS 8
#define NUM_SENDS 6u

enum answer { ACCEPT, REJECT, ANSWER_NOTHING, DISCONNECT_AT_ONCE };

struct order {
	enum answer answer;
	uint16_t max_connections;
};

struct address {
	char ip[SIDE_TEXT];
	char gid[SIDE_TEXT];
};

static struct doca_dev *dev;
static struct doca_pe *pe;
static struct doca_rdma *rdma;
static struct doca_ctx *ctx;

static doca_error_t open_context(uint16_t max_connections)
{
	doca_error_t result = fixture_open_device(&dev);

	DOCA_ERROR_PROPAGATE(result, doca_pe_create(&pe));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_create(dev, &rdma));
	if (result != DOCA_SUCCESS)
		return result;
	ctx = doca_rdma_as_ctx(rdma);
	result = doca_pe_connect_ctx(pe, ctx);
	DOCA_ERROR_PROPAGATE(result, doca_rdma_set_max_num_connections(rdma, max_connections));
	return result;
}

static doca_error_t close_context(void)
{
	doca_error_t result = doca_ctx_stop(ctx);

	DOCA_ERROR_PROPAGATE(result, doca_rdma_destroy(rdma));
	DOCA_ERROR_PROPAGATE(result, doca_pe_destroy(pe));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(dev));
	return result;
}

/* --- the peer --------------------------------------------------------------------------------- */

static struct order order;

static void answer_request(struct doca_rdma_connection *connection, union doca_data ctx_data)
{
	(void)ctx_data;
	if (order.answer == REJECT)
		doca_rdma_connection_reject(connection);
	else if (order.answer != ANSWER_NOTHING)
		doca_rdma_connection_accept(connection, NULL, 0);
}

static void on_peer_established(struct doca_rdma_connection *connection, union doca_data data,
				union doca_data ctx_data)
{
	(void)data;
	(void)ctx_data;
	if (order.answer == DISCONNECT_AT_ONCE)
		doca_rdma_connection_disconnect(connection);
}

static int serve(void)
{
	struct address address = {0};
	struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};

	if (!process_receive(STDIN_FILENO, &order, sizeof(order)) ||
	    open_context(order.max_connections) != DOCA_SUCCESS ||
	    doca_rdma_set_connection_state_callbacks(rdma, answer_request, on_peer_established,
						     NULL, NULL) != DOCA_SUCCESS ||
	    doca_ctx_start(ctx) != DOCA_SUCCESS ||
	    doca_rdma_start_listen_to_port(rdma, PORT) != DOCA_SUCCESS ||
	    !side_address(dev, DOCA_RDMA_ADDR_TYPE_IPv4, address.ip) ||
	    !side_address(dev, DOCA_RDMA_ADDR_TYPE_GID, address.gid) ||
	    !process_send(STDOUT_FILENO, &address, sizeof(address)))
		return 1;
	while (!poll(&end, 1, 1))
		while (doca_pe_progress(pe))
			;
	return close_context() != DOCA_SUCCESS;
}

/* --- the parent ------------------------------------------------------------------------------- */

static struct process peer;
static struct address of_peer;
static unsigned int num_established, num_failures, num_disconnections;
static struct doca_rdma_connection *last;
static uint64_t last_data;

static void on_established(struct doca_rdma_connection *connection, union doca_data data,
			   union doca_data ctx_data)
{
	(void)ctx_data;
	num_established++;
	last = connection;
	last_data = data.u64;
}

static void on_failure(struct doca_rdma_connection *connection, union doca_data data,
		       union doca_data ctx_data)
{
	(void)ctx_data;
	num_failures++;
	last = connection;
	last_data = data.u64;
}

/* Sends that completed, in this order. */
static struct {
	uint64_t number;
	doca_error_t status;
} sends[NUM_SENDS];
static unsigned int num_sends;

static void on_send(struct doca_rdma_task_send *task, union doca_data data,
		    union doca_data ctx_data)
{
	struct doca_task *base = doca_rdma_task_send_as_task(task);

	(void)ctx_data;
	assert_true(num_sends < NUM_SENDS);
	sends[num_sends].number = data.u64;
	sends[num_sends++].status = doca_task_get_status(base);
	doca_task_free(base);
}

static void on_disconnection(struct doca_rdma_connection *connection, union doca_data data,
			     union doca_data ctx_data)
{
	(void)ctx_data;
	num_disconnections++;
	last = connection;
	last_data = data.u64;
	assert_ok(doca_rdma_connection_disconnect(connection));
}

static int open_client(void **state)
{
	num_established = num_failures = num_disconnections = num_sends = 0;
	if (fixture_count(state) || open_context(MAX_PEERS) != DOCA_SUCCESS ||
	    doca_rdma_task_send_set_conf(rdma, on_send, on_send, NUM_SENDS) != DOCA_SUCCESS ||
	    doca_rdma_set_connection_state_callbacks(rdma, NULL, on_established, on_failure,
						     on_disconnection) != DOCA_SUCCESS)
		return -1;
	return doca_ctx_start(ctx) == DOCA_SUCCESS ? 0 : -1;
}

static bool is_partitioned;

static bool change_partition(const char *off)
{
	const char *const argv[] = {test_options.emu, "fault", "partition", "--as", "dpu",
				    "--peer",	      "dpu1",  off,	    NULL};

	is_partitioned = !off;
	return process_run(argv) == 0;
}

static void partition(const char *off)
{
	assert_true(change_partition(off));
}

/* A peer that is cut off would not end. */
static int close_client(void **state)
{
	if (is_partitioned && !change_partition("--off"))
		return -1;
	if (peer.pid && !process_finish(&peer))
		return -1;
	return close_context() == DOCA_SUCCESS ? fixture_recount(state) : -1;
}
#define peers_test(function) cmocka_unit_test_setup_teardown(function, open_client, close_client)

static void start_peer(enum answer answer, uint16_t max_connections)
{
	struct order sent = {.answer = answer, .max_connections = max_connections};

	assert_true(process_start_peer(&peer, "dpu1"));
	assert_true(process_send(peer.to, &sent, sizeof(sent)));
	assert_true(process_receive(peer.from, &of_peer, sizeof(of_peer)));
}

/* Connect, and wait until that has succeeded or failed. */
static void connect_to(enum doca_rdma_addr_type type, const char *text, uint64_t data)
{
	unsigned int before = num_established + num_failures;
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	union doca_data user_data = {.u64 = data};
	struct doca_rdma_addr *addr;

	assert_ok(doca_rdma_addr_create(type, text, PORT, &addr));
	assert_ok(doca_rdma_connect_to_addr(rdma, addr, user_data));
	assert_error(doca_rdma_addr_destroy(addr), DOCA_ERROR_BAD_STATE);
	while (num_established + num_failures == before) {
		assert_true(monotonic_ms() < limit);
		doca_pe_progress(pe);
	}
	assert_ok(doca_rdma_addr_destroy(addr));
}

static void await(const unsigned int *count, unsigned int wanted)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (*count < wanted) {
		assert_true(monotonic_ms() < limit);
		doca_pe_progress(pe);
	}
	assert_int_equal(*count, wanted);
}

/* librdmacm keeps a device open after its first use. */
static int use_once(void **state)
{
	doca_error_t result;

	result = open_context(1);
	DOCA_ERROR_PROPAGATE(result, doca_ctx_start(ctx));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_start_listen_to_port(rdma, PORT));
	DOCA_ERROR_PROPAGATE(result, close_context());
	return result == DOCA_SUCCESS ? 0 : -1;
}

/* rule: CM-R1, CM-R2, CM-R4a */
static void each_kind_of_address_reaches_the_peer(void **state)
{
	struct doca_rdma_addr *addr;
	enum doca_rdma_addr_type type;
	const char *text;
	uint16_t port;

	start_peer(ACCEPT, MAX_PEERS);
	connect_to(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, 1);
	await(&num_established, 1);
	assert_int_equal(last_data, 1);
	assert_ok(doca_rdma_connection_get_addr(last, &addr));
	assert_ok(doca_rdma_addr_get_params(addr, &type, &text, &port));
	assert_int_equal(type, DOCA_RDMA_ADDR_TYPE_IPv4);
	assert_string_equal(text, of_peer.ip);
	assert_int_equal(port, PORT);
	assert_error(doca_rdma_addr_destroy(addr), DOCA_ERROR_BAD_STATE);
	connect_to(DOCA_RDMA_ADDR_TYPE_GID, of_peer.gid, 2);
	await(&num_established, 2);
	assert_int_equal(last_data, 2);
	assert_int_equal(num_failures + num_disconnections, 0);
}

/* rule: CM-R5b, CM-R7 */
static void a_rejecting_peer_is_a_failure(void **state)
{
	start_peer(REJECT, 1);
	for (unsigned int i = 1; i <= 3; i++) {
		connect_to(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, i);
		await(&num_failures, i);
		assert_int_equal(last_data, i);
		assert_ok(doca_rdma_connection_disconnect(last));
	}
	assert_int_equal(num_established, 0);
}

/* rule: CM-R8 */
static void a_peer_without_room_is_a_failure(void **state)
{
	start_peer(ACCEPT, 1);
	connect_to(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, 1);
	await(&num_established, 1);
	connect_to(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, 2);
	await(&num_failures, 1);
	assert_int_equal(last_data, 2);
	assert_int_equal(num_disconnections, 0);
}

/* rule: CM-R7 */
static void a_peer_that_does_not_exist_is_a_failure(void **state)
{
	start_peer(ACCEPT, 1);
	assert_true(process_finish(&peer));
	connect_to(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, 1);
	await(&num_failures, 1);
	/* No machine has this address in the peer's network. */
	snprintf(strrchr(of_peer.ip, '.'), sizeof(".99"), ".99");
	connect_to(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, 2);
	await(&num_failures, 2);
	assert_int_equal(last_data, 2);
}

/* rule: CM-R5a, CM-R5b */
static void a_killed_peer_disconnects(void **state)
{
	start_peer(ACCEPT, MAX_PEERS);
	for (unsigned int i = 1; i <= 3; i++) {
		connect_to(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, i);
		await(&num_established, i);
	}
	assert_true(process_kill(&peer));
	await(&num_disconnections, 3);
	assert_int_equal(num_failures, 0);
	/* The places are free again. */
	start_peer(ACCEPT, MAX_PEERS);
	for (unsigned int i = 1; i <= MAX_PEERS; i++) {
		connect_to(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, i);
		await(&num_established, 3 + i);
	}
}

/* rule: CM-R7 */
static void a_peer_killed_before_it_answers_is_a_failure(void **state)
{
	struct doca_rdma_addr *addr;
	union doca_data none = {0};

	start_peer(ANSWER_NOTHING, 1);
	assert_ok(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, PORT, &addr));
	assert_ok(doca_rdma_connect_to_addr(rdma, addr, none));
	for (int i = 0; i < 100; i++) {
		doca_pe_progress(pe);
		usleep(1000);
	}
	assert_int_equal(num_established + num_failures, 0);
	assert_true(process_kill(&peer));
	await(&num_failures, 1);
	assert_ok(doca_rdma_addr_destroy(addr));
}

/* rule: CM-R5a, CM-R5b */
static void a_peer_that_disconnects_at_once_ends_each_connection_once(void **state)
{
	start_peer(DISCONNECT_AT_ONCE, MAX_PEERS);
	for (unsigned int i = 1; i <= 2 * MAX_PEERS; i++) {
		connect_to(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, i);
		await(&num_disconnections, i);
		assert_int_equal(last_data, i);
	}
	assert_int_equal(num_established, 2 * MAX_PEERS);
	assert_int_equal(num_failures, 0);
}

/* rule: RD-10a */
static void stop_while_connecting_leaves_nothing(void **state)
{
	struct doca_rdma_addr *addr;
	union doca_data none = {0};

	start_peer(ANSWER_NOTHING, MAX_PEERS);
	assert_ok(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, PORT, &addr));
	for (int steps = 0; steps < 4; steps++) {
		assert_ok(doca_rdma_connect_to_addr(rdma, addr, none));
		for (int i = 0; i < 20 * steps; i++) {
			doca_pe_progress(pe);
			usleep(1000);
		}
		assert_ok(doca_ctx_stop(ctx));
		assert_ok(doca_ctx_start(ctx));
	}
	assert_ok(doca_rdma_addr_destroy(addr));
	assert_int_equal(num_established + num_failures + num_disconnections, 0);
}

/* An idle connection does not notice; a disconnection does not wait for the peer. */
/* rule: RD-10a, CM-R5b */
static void a_peer_that_is_cut_off_can_be_disconnected(void **state)
{
	start_peer(ACCEPT, 1);
	connect_to(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, 1);
	await(&num_established, 1);
	partition(NULL);
	assert_ok(doca_rdma_connection_disconnect(last));
	assert_ok(doca_ctx_stop(ctx));
	partition("--off");
	assert_ok(doca_ctx_start(ctx));
}

/* The peer posts no receive, so empty messages stay in flight. */
static void submit_sends(void)
{
	for (unsigned int i = 0; i < NUM_SENDS; i++) {
		struct doca_rdma_task_send *task;

		assert_ok(doca_rdma_task_send_allocate_init(rdma, last, NULL,
							    (union doca_data){.u64 = i}, &task));
		assert_ok(doca_task_submit(doca_rdma_task_send_as_task(task)));
	}
}

static void await_sends(void)
{
	await(&num_sends, NUM_SENDS);
	for (unsigned int i = 0; i < NUM_SENDS; i++) {
		assert_int_equal(sends[i].number, i);
		assert_int_not_equal(sends[i].status, DOCA_SUCCESS);
	}
	num_sends = 0;
}

static void assert_peer_was_unreachable(void)
{
	enum doca_ctx_states state;

	assert_error(sends[0].status, DOCA_ERROR_CONNECTION_ABORTED);
	for (unsigned int i = 1; i < NUM_SENDS; i++)
		assert_error(sends[i].status, DOCA_ERROR_SHUTDOWN);
	assert_ok(doca_ctx_get_state(ctx, &state));
	assert_int_equal(state, DOCA_CTX_STATE_RUNNING);
}

/* rule: RT-10, RT-10b */
static void tasks_to_a_peer_that_is_cut_off_fail_in_order(void **state)
{
	/* rdma_rxe of Linux 6.1 does not look for the route of a connected queue pair again. */
	here.dev = dev;
	if (side_is_software(&here))
		test_lacks("a device whose connections end with their route");
	start_peer(ACCEPT, MAX_PEERS);
	for (unsigned int i = 1; i <= 2; i++) {
		connect_to(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, i);
		await(&num_established, i);
		partition(NULL);
		submit_sends();
		await_sends();
		assert_peer_was_unreachable();
		assert_ok(doca_rdma_connection_disconnect(last));
		partition("--off");
	}
	assert_int_equal(num_failures, 0);
}

/* rule: RT-10, CM-R5a */
static void tasks_to_a_killed_peer_end_in_order(void **state)
{
	start_peer(ACCEPT, MAX_PEERS);
	connect_to(DOCA_RDMA_ADDR_TYPE_IPv4, of_peer.ip, 1);
	await(&num_established, 1);
	submit_sends();
	for (unsigned int i = 0; i < 100; i++)
		doca_pe_progress(pe);
	assert_int_equal(num_sends, 0);
	assert_true(process_kill(&peer));
	await(&num_disconnections, 1);
	await_sends();
	assert_int_equal(num_failures, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		peers_test(each_kind_of_address_reaches_the_peer),
		peers_test(a_rejecting_peer_is_a_failure),
		peers_test(a_peer_without_room_is_a_failure),
		peers_test(a_peer_that_does_not_exist_is_a_failure),
		peers_test(a_killed_peer_disconnects),
		peers_test(a_peer_killed_before_it_answers_is_a_failure),
		peers_test(a_peer_that_disconnects_at_once_ends_each_connection_once),
		peers_test(stop_while_connecting_leaves_nothing),
		peers_test(a_peer_that_is_cut_off_can_be_disconnected),
		peers_test(tasks_to_a_peer_that_is_cut_off_fail_in_order),
		peers_test(tasks_to_a_killed_peer_end_in_order),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return serve();
	return cmocka_run_group_tests(tests, use_once, NULL);
}
