/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * usage: wire_peer serve|connect tcp|udp ADDRESS PORT [SOURCE]
 *
 * One end of connections by librdmacm. `serve` prints "listening"; it accepts requests with the private data "hello"
 * and rejects all others, until one has the private data "end". `connect` makes a request with the private data of
 * each line of its standard input. Both print a line for each event; queue pairs go to RTS, and nothing is sent.
 */
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#define TIMEOUT_MS 5000
#define BACKLOG	   8

static struct rdma_event_channel *channel;
static enum rdma_port_space space;

static void check(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static struct addrinfo *look_up(const char *address, const char *port)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				       .ai_socktype = SOCK_STREAM};
	struct addrinfo *found;

	check(!getaddrinfo(address, port, &hints, &found), address);
	return found;
}

static bool is_ud(void)
{
	return space == RDMA_PS_UDP;
}

static void create_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = is_ud() ? IBV_QPT_UD : IBV_QPT_RC,
	};

	check(!rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
}

static struct rdma_conn_param parameters(const struct rdma_cm_id *id, const char *text)
{
	return (struct rdma_conn_param){
		.private_data = text,
		.private_data_len = (uint8_t)(strlen(text) + 1),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = id->qp ? id->qp->qp_num : 0,
	};
}

/* The private data of an event, which may be none. */
static const char *text_of(const struct rdma_cm_event *e)
{
	const char *text = is_ud() ? e->param.ud.private_data : e->param.conn.private_data;
	uint8_t len = is_ud() ? e->param.ud.private_data_len : e->param.conn.private_data_len;

	return text && len && memchr(text, 0, len) ? text : "";
}

static void print_event(const struct rdma_cm_event *e)
{
	printf("%s %d \"%s\"\n", rdma_event_str(e->event) + strlen("RDMA_CM_EVENT_"), e->status,
	       text_of(e));
	fflush(stdout);
}

/* --- the server ------------------------------------------------------------------------------- */

static void answer(struct rdma_cm_id *id, const char *text)
{
	struct rdma_conn_param p;

	if (strcmp(text, "hello") != 0) {
		check(!rdma_reject(id, "sorry", sizeof("sorry")), "rdma_reject");
		rdma_destroy_id(id);
		return;
	}
	create_qp(id);
	p = parameters(id, "welcome");
	check(!rdma_accept(id, &p), "rdma_accept");
}

static void destroy(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

static bool serve_event(void)
{
	struct rdma_cm_event *e;
	struct rdma_cm_id *ended = NULL;
	bool last = false;

	check(!rdma_get_cm_event(channel, &e), "rdma_get_cm_event");
	print_event(e);
	if (e->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		last = !strcmp(text_of(e), "end");
		answer(e->id, text_of(e));
	} else if (e->event == RDMA_CM_EVENT_DISCONNECTED) {
		rdma_disconnect(e->id);
		ended = e->id;
	}
	rdma_ack_cm_event(e);
	if (ended)
		destroy(ended);
	return !last;
}

static void serve(const struct addrinfo *at)
{
	struct rdma_cm_id *id;

	check(!rdma_create_id(channel, &id, NULL, space), "rdma_create_id");
	check(!rdma_bind_addr(id, at->ai_addr), "rdma_bind_addr");
	check(!rdma_listen(id, BACKLOG), "rdma_listen");
	puts("listening");
	fflush(stdout);
	while (serve_event())
		;
	rdma_destroy_id(id);
}

/* --- the client ------------------------------------------------------------------------------- */

static enum rdma_cm_event_type next_event(void)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *e;

	check(!rdma_get_cm_event(channel, &e), "rdma_get_cm_event");
	if (e->event != RDMA_CM_EVENT_ADDR_RESOLVED && e->event != RDMA_CM_EVENT_ROUTE_RESOLVED)
		print_event(e);
	type = e->event;
	rdma_ack_cm_event(e);
	return type;
}

static bool resolve(struct rdma_cm_id *id, const struct addrinfo *to, const struct addrinfo *from)
{
	check(!rdma_resolve_addr(id, from ? from->ai_addr : NULL, to->ai_addr, TIMEOUT_MS),
	      "rdma_resolve_addr");
	if (next_event() != RDMA_CM_EVENT_ADDR_RESOLVED)
		return false;
	check(!rdma_resolve_route(id, TIMEOUT_MS), "rdma_resolve_route");
	return next_event() == RDMA_CM_EVENT_ROUTE_RESOLVED;
}

static void request(const struct addrinfo *to, const struct addrinfo *from, const char *text)
{
	struct rdma_conn_param p;
	struct rdma_cm_id *id;

	check(!rdma_create_id(channel, &id, NULL, space), "rdma_create_id");
	if (!resolve(id, to, from)) {
		rdma_destroy_id(id);
		return;
	}
	create_qp(id);
	p = parameters(id, text);
	check(!rdma_connect(id, &p), "rdma_connect");
	if (next_event() == RDMA_CM_EVENT_ESTABLISHED && !is_ud()) {
		check(!rdma_disconnect(id), "rdma_disconnect");
		next_event();
	}
	destroy(id);
}

int main(int argc, char **argv)
{
	struct addrinfo *at, *from;
	char line[64];

	if (argc < 5)
		return 2;
	space = !strcmp(argv[2], "udp") ? RDMA_PS_UDP : RDMA_PS_TCP;
	at = look_up(argv[3], argv[4]);
	from = argc > 5 ? look_up(argv[5], "0") : NULL;
	channel = rdma_create_event_channel();
	check(channel, "rdma_create_event_channel");
	if (!strcmp(argv[1], "serve"))
		serve(at);
	while (!strcmp(argv[1], "connect") && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		request(at, from, line);
	}
	rdma_destroy_event_channel(channel);
	freeaddrinfo(at);
	if (from)
		freeaddrinfo(from);
	return 0;
}
