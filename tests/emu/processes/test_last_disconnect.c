/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program of librdmacm that disconnects as soon as it has sent or received. On a card both the last message and its
 * acknowledgement are there before the connection manager's datagram, so each peer sees them before the event.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "children.h"
#include "fixture.h"

#define LEN	   64u
#define MESSAGES   1000 /* an engine hands over one at a time */
#define SEED	   9u
#define STOPPED_MS 100
#define PORT	   "7471"

enum part { SERVER_RECEIVES, SERVER_DISCONNECTS, CLIENT_DISCONNECTS, CLIENT_CLOSES, CLIENT_SENDS };

static uint8_t bytes[LEN];
static struct ibv_mr *mr;

/* --- the two peers; exit codes tell where it went wrong --------------------------------------- */

static bool find_address(char text[INET_ADDRSTRLEN])
{
	struct ibv_context *context = fixture_open_context();
	struct ibv_gid_entry gids[8];
	ssize_t i = context ? ibv_query_gid_table(context, gids, 8, 0) : 0;
	bool found = false;

	while (!found && i-- > 0)
		found = IN6_IS_ADDR_V4MAPPED((struct in6_addr *)gids[i].gid.raw) &&
			inet_ntop(AF_INET, gids[i].gid.raw + 12, text, INET_ADDRSTRLEN);
	return context && !ibv_close_device(context) && found;
}

static struct rdma_cm_id *create_end(char *address, int flags)
{
	struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP}, *info;
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = MESSAGES,
			.max_recv_wr = MESSAGES,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.sq_sig_all = 1,
	};
	struct rdma_cm_id *id = NULL;

	if (rdma_getaddrinfo(address, PORT, &hints, &info))
		return NULL;
	if (rdma_create_ep(&id, info, NULL, &attr))
		id = NULL;
	rdma_freeaddrinfo(info);
	return id;
}

static bool receive_each(struct rdma_cm_id *id)
{
	mr = rdma_reg_msgs(id, bytes, LEN);
	for (int i = 0; mr && i < MESSAGES; i++)
		if (rdma_post_recv(id, NULL, bytes, LEN, mr))
			return false;
	return mr;
}

static struct rdma_cm_id *accept_one(int socket)
{
	char address[INET_ADDRSTRLEN] = "";
	struct rdma_cm_id *listener, *id;

	if (!find_address(address))
		return NULL;
	listener = create_end(address, RAI_PASSIVE);
	if (!listener || rdma_listen(listener, 1) ||
	    !child_tell(socket, address, sizeof(address)) || rdma_get_request(listener, &id))
		return NULL;
	return receive_each(id) && !rdma_accept(id, NULL) ? id : NULL;
}

static struct rdma_cm_id *connect_one(int socket)
{
	char address[INET_ADDRSTRLEN];
	struct rdma_cm_id *id;

	if (!child_hear(socket, address, sizeof(address)))
		return NULL;
	id = create_end(address, RAI_NUMERICHOST);
	mr = id ? rdma_reg_msgs(id, bytes, LEN) : NULL;
	return mr && !rdma_connect(id, NULL) ? id : NULL;
}

static bool ring(struct rdma_cm_id *id)
{
	fixture_fill(bytes, LEN, SEED);
	return !rdma_post_send(id, NULL, bytes, LEN, mr, 0);
}

/* After the event only one look at the queue: nothing may follow it. */
static int expect_before_the_end(struct rdma_cm_id *id, struct ibv_cq *cq, int n)
{
	struct rdma_cm_event *event;
	struct ibv_wc wc[MESSAGES];
	bool is_end;

	do {
		if (rdma_get_cm_event(id->channel, &event))
			return 20;
		is_end = event->event == RDMA_CM_EVENT_DISCONNECTED;
		rdma_ack_cm_event(event);
	} while (!is_end);
	if (ibv_poll_cq(cq, n, wc) != n)
		return 21;
	return wc[n - 1].status == IBV_WC_SUCCESS ? 0 : 22;
}

static int receive_before_the_end(int socket, struct rdma_cm_id *id)
{
	uint8_t wanted[LEN];
	int code;

	if (!child_signal(socket))
		return 11;
	code = expect_before_the_end(id, id->recv_cq, MESSAGES);
	fixture_fill(wanted, LEN, SEED);
	return code || memcmp(bytes, wanted, LEN) == 0 ? code : 12;
}

static int receive_and_disconnect(int socket, struct rdma_cm_id *id)
{
	struct ibv_wc wc;

	if (!child_signal(socket))
		return 18;
	while (ibv_poll_cq(id->recv_cq, 1, &wc) == 0)
		;
	return wc.status != IBV_WC_SUCCESS || rdma_disconnect(id) || !child_signal(socket) ? 13 : 0;
}

static bool ring_each(int socket, struct rdma_cm_id *id)
{
	if (!child_signal(socket) || !child_await(socket))
		return false;
	for (int i = 0; i < MESSAGES; i++)
		if (!ring(id))
			return false;
	return true;
}

static int send_and_disconnect(int socket, struct rdma_cm_id *id)
{
	return !ring_each(socket, id) || rdma_disconnect(id) ? 14 : 0;
}

/* The end of its event channel ends the connection, and not the queue pair. */
static int send_and_close(int socket, struct rdma_cm_id *id)
{
	return !ring_each(socket, id) || close(id->channel->fd) ? 19 : 0;
}

static int send_and_wait(int socket, struct rdma_cm_id *id)
{
	if (!child_signal(socket) || !child_await(socket) || !ring(id) || !child_signal(socket))
		return 15;
	return expect_before_the_end(id, id->send_cq, 1);
}

static int serve(int socket)
{
	static int (*const parts[])(int socket, struct rdma_cm_id *id) = {
		[SERVER_RECEIVES] = receive_before_the_end,
		[SERVER_DISCONNECTS] = receive_and_disconnect,
		[CLIENT_DISCONNECTS] = send_and_disconnect,
		[CLIENT_CLOSES] = send_and_close,
		[CLIENT_SENDS] = send_and_wait,
	};
	struct rdma_cm_id *id;
	int part, code;

	if (!child_hear(socket, &part, sizeof(part)))
		return 9;
	id = part < CLIENT_DISCONNECTS ? accept_one(socket) : connect_one(socket);
	/* From here on no call waits for an event. */
	if (id && rdma_migrate_id(id, rdma_create_event_channel()))
		return 17;
	code = id ? parts[part](socket, id) : 10;
	return child_await(socket) ? code : 16;
}

/* --- the tests -------------------------------------------------------------------------------- */

static void start_both(struct child *server, enum part of_server, struct child *client,
		       enum part of_client)
{
	char address[INET_ADDRSTRLEN];

	child_start(server, "dpu", of_server);
	child_start(client, test_options.peer_as, of_client);
	assert_true(child_hear(server->socket, address, sizeof(address)));
	assert_true(child_tell(client->socket, address, sizeof(address)));
}

static void finish_both(struct child *server, struct child *client)
{
	assert_true(child_signal(server->socket) && child_signal(client->socket));
	child_finish(server);
	child_finish(client);
}

/* The receiver's engine gets no processor until after the command. */
static void receive_before_the_event(enum part of_client)
{
	const struct timespec pause = {.tv_nsec = STOPPED_MS * 1000000};
	struct child server, client;

	start_both(&server, SERVER_RECEIVES, &client, of_client);
	assert_true(child_await(server.socket) && child_await(client.socket));
	child_stop(&server);
	assert_true(child_signal(client.socket)); /* go */
	nanosleep(&pause, NULL);
	child_continue(&server);
	finish_both(&server, &client);
}

static void messages_before_a_disconnect_arrive_before_the_event(void **state)
{
	receive_before_the_event(CLIENT_DISCONNECTS);
}

static void messages_before_the_end_of_an_event_channel_arrive_before_the_event(void **state)
{
	receive_before_the_event(CLIENT_CLOSES);
}

/*
 * The sender's engine waits for its answer while it gets no processor, and its program takes the event. It gets one
 * again later, as the program may wait for it.
 */
static void a_send_completes_before_the_event_of_its_receivers_disconnect(void **state)
{
	const struct timespec pause = {.tv_nsec = STOPPED_MS * 1000000};
	struct child server, client;
	bool stopped;
	pid_t engine;

	start_both(&server, SERVER_DISCONNECTS, &client, CLIENT_SENDS);
	assert_true(child_await(server.socket) && child_await(client.socket));
	child_stop(&server);
	assert_true(child_signal(client.socket) && child_await(client.socket)); /* it has rung */
	nanosleep(&pause, NULL);
	engine = child_engine(&client);
	stopped = engine && child_stop_thread(engine);
	child_continue(&server);
	assert_true(child_await(server.socket)); /* it has disconnected */
	nanosleep(&pause, NULL);
	if (stopped)
		assert_true(child_continue_thread(engine));
	finish_both(&server, &client);
	if (!stopped)
		test_lacks("ptrace() of a thread");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(messages_before_a_disconnect_arrive_before_the_event),
		counted_test(messages_before_the_end_of_an_event_channel_arrive_before_the_event),
		counted_test(a_send_completes_before_the_event_of_its_receivers_disconnect),
	};
	int socket = process_inherited(CHILD_ENV);

	test_parse_options(argc, argv);
	if (socket >= 0)
		return serve(socket);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
