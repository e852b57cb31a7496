/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * cm_client ADDRESS PORT HEX [response]: requests an RDMA connection with this private data, prints
 * "established" or "rejected", waits until an established connection ends, and prints "disconnected".
 * With "response" it never completes the connection: it prints "response" and waits.
 *
 * cm_client ADDRESS PORT HEX many NUMBER: requests so many connections, prints "requested", waits until all are
 * rejected, and prints "rejected".
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#define PATIENCE_MS 30000
#define DATA_MAX    56

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Waits for the next event. */
static enum rdma_cm_event_type next(void)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	type = event->event;
	rdma_ack_cm_event(event);
	return type;
}

static void expect(enum rdma_cm_event_type wanted)
{
	enum rdma_cm_event_type type = next();

	if (type == wanted)
		return;
	printf("%s\n", type == RDMA_CM_EVENT_REJECTED ? "rejected" : rdma_event_str(type));
	exit(1);
}

static void say(const char *word)
{
	printf("%s\n", word);
	fflush(stdout);
}

static void resolve(const char *ip, int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	if (!channel || inet_pton(AF_INET, ip, &to.sin_addr) != 1 ||
	    rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, PATIENCE_MS))
		die("rdma_resolve_addr");
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, PATIENCE_MS))
		die("rdma_resolve_route");
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* The queue pair is this program's, so that it decides when the connection is complete. */
static struct ibv_qp *make_qp(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {.send_cq = cq,
					.recv_cq = cq,
					.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 1, .max_send_sge = 1}};

	return pd && cq ? ibv_create_qp(pd, &init) : NULL;
}

static void move(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask;

	if (rdma_init_qp_attr(id, &attr, &mask) || ibv_modify_qp(qp, &attr, mask))
		die("ibv_modify_qp");
}

static uint8_t parse(const char *hex, uint8_t data[static DATA_MAX])
{
	uint8_t len = 0;
	unsigned int byte;

	while (len < DATA_MAX && sscanf(hex + 2 * len, "%2x", &byte) == 1)
		data[len++] = (uint8_t)byte;
	return len;
}

static struct ibv_qp *request(const char *hex)
{
	uint8_t data[DATA_MAX];
	struct ibv_qp *qp = make_qp();
	struct rdma_conn_param param = {.private_data = data,
					.private_data_len = parse(hex, data),
					.responder_resources = 1,
					.initiator_depth = 1,
					.retry_count = 7};

	if (!qp)
		die("ibv_create_qp");
	param.qp_num = qp->qp_num;
	if (rdma_connect(id, &param))
		die("rdma_connect");
	expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
	return qp;
}

static void hold(void)
{
	expect(RDMA_CM_EVENT_DISCONNECTED);
	say("disconnected");
}

/* Without queue pairs, because none is needed before the response; two requests with one number are refused. */
static int request_many(const char *ip, int port, const char *hex, int number)
{
	uint8_t data[DATA_MAX];
	struct rdma_conn_param param = {.private_data = data, .private_data_len = parse(hex, data)};

	channel = rdma_create_event_channel();
	for (int i = 0; channel && i < number; i++) {
		resolve(ip, port);
		param.qp_num = 0x1000 + (uint32_t)i;
		if (rdma_connect(id, &param))
			die("rdma_connect");
	}
	say("requested");
	for (int i = 0; i < number; i++)
		expect(RDMA_CM_EVENT_REJECTED);
	say("rejected");
	return 0;
}

int main(int argc, char **argv)
{
	struct ibv_qp *qp;

	if (argc < 4)
		return 2;
	if (argc == 6)
		return request_many(argv[1], atoi(argv[2]), argv[3], atoi(argv[5]));
	channel = rdma_create_event_channel();
	resolve(argv[1], atoi(argv[2]));
	qp = request(argv[3]);
	if (argc > 4) {
		say("response");
		hold();
		return 0;
	}
	move(qp, IBV_QPS_INIT);
	move(qp, IBV_QPS_RTR);
	move(qp, IBV_QPS_RTS);
	if (rdma_establish(id))
		die("rdma_establish");
	say("established");
	hold();
	return 0;
}
