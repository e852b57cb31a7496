/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What verbs_ping does, by libibverbs alone: a peer for it, and a comparison. The server waits at a port of TCP; a
 * client has -a ADDRESS. -d is the name of the device, -o the port.
 * Build: cc ibverbs_ping.c ping.c $(pkg-config --cflags --libs libibverbs)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "ping.h"

struct ping {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t memory[2 * PING_LEN]; /* the message that is sent, and the one that arrives */
	struct ping_source source;
	struct ping_details self, peer;
	int fd; /* the socket */
	bool is_client;
	unsigned int sent, received; /* completions */
	struct ibv_wc last_receive;
};

static bool works(bool good, const char *what)
{
	if (!good)
		fprintf(stderr, "Cannot %s\n", what);
	return good;
}

/* --- objects ---------------------------------------------------------------------------------- */

static struct ibv_context *open_context(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	for (int i = 0; list && list[i] && !context; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	if (!context)
		fprintf(stderr, "Cannot open the device %s\n", name);
	return context;
}

static struct ibv_qp *create_qp(struct ping *p)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = p->cq,
		.recv_cq = p->cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};

	return ibv_create_qp(p->pd, &attr);
}

static bool create_objects(const char *device, struct ping *p)
{
	p->context = open_context(device);
	if (!p->context || !ping_find_source(p->context, &p->source))
		return false;
	p->pd = ibv_alloc_pd(p->context);
	if (p->pd)
		p->mr = ibv_reg_mr(p->pd, p->memory, sizeof(p->memory), IBV_ACCESS_LOCAL_WRITE);
	p->channel = ibv_create_comp_channel(p->context);
	if (p->channel)
		p->cq = ibv_create_cq(p->context, 2, NULL, p->channel, 0);
	if (p->mr && p->cq)
		p->qp = create_qp(p);
	if (!works(p->qp, "create the queue pair"))
		return false;
	p->self = (struct ping_details){p->qp->qp_num, ping_choose_psn(), {0}};
	memcpy(p->self.gid, p->source.gid, PING_GID_LEN);
	return true;
}

static bool destroy_objects(struct ping *p)
{
	bool good = true;

	if (p->qp)
		good &= !ibv_destroy_qp(p->qp);
	if (p->cq)
		good &= !ibv_destroy_cq(p->cq);
	if (p->channel)
		good &= !ibv_destroy_comp_channel(p->channel);
	if (p->mr)
		good &= !ibv_dereg_mr(p->mr);
	if (p->pd)
		good &= !ibv_dealloc_pd(p->pd);
	if (p->context)
		good &= !ibv_close_device(p->context);
	return works(good, "destroy the objects");
}

/* --- states ----------------------------------------------------------------------------------- */

static bool enter_init(struct ping *p)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = PING_HCA_PORT};

	return works(!ibv_modify_qp(p->qp, &attr,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					    IBV_QP_ACCESS_FLAGS),
		     "enter INIT");
}

static bool enter_rtr(struct ping *p)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = p->peer.qpn,
		.rq_psn = p->peer.psn,
		.min_rnr_timer = PING_RNR_TIMER,
		.ah_attr = {.is_global = 1,
			    .port_num = PING_HCA_PORT,
			    .grh = {.sgid_index = p->source.gid_index,
				    .hop_limit = PING_HOP_LIMIT}},
	};

	memcpy(attr.ah_attr.grh.dgid.raw, p->peer.gid, PING_GID_LEN);
	return works(!ibv_modify_qp(p->qp, &attr,
				    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					    IBV_QP_MIN_RNR_TIMER),
		     "enter RTR");
}

static bool enter_rts(struct ping *p)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = p->self.psn,
		.timeout = PING_ACK_TIMEOUT,
		.retry_cnt = PING_RETRIES,
		.rnr_retry = PING_RETRIES,
	};

	return works(!ibv_modify_qp(p->qp, &attr,
				    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
					    IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					    IBV_QP_MAX_QP_RD_ATOMIC),
		     "enter RTS");
}

/* --- work requests ---------------------------------------------------------------------------- */

static struct ibv_sge piece(const struct ping *p, const uint8_t *at)
{
	return (struct ibv_sge){(uintptr_t)at, PING_LEN, p->mr->lkey};
}

static bool post_receive(struct ping *p)
{
	struct ibv_sge sge = piece(p, p->memory + PING_LEN);
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	return works(!ibv_post_recv(p->qp, &wr, &bad), "post a receive");
}

static bool post_message(struct ping *p, unsigned int round)
{
	struct ibv_sge sge = piece(p, p->memory);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	ping_fill(p->memory, round, p->is_client);
	return works(!ibv_post_send(p->qp, &wr, &bad), "post a send");
}

static bool poll_all(struct ping *p)
{
	struct ibv_wc wc;
	int num;

	while ((num = ibv_poll_cq(p->cq, 1, &wc)) == 1) {
		if (!ping_is_good(&wc))
			return false;
		if (wc.opcode == IBV_WC_RECV) {
			p->last_receive = wc;
			p->received++;
		} else {
			p->sent++;
		}
	}
	return works(!num, "poll");
}

static bool take_event(struct ping *p)
{
	struct ibv_cq *cq;
	void *cq_context;

	if (!ping_wait(p->channel->fd, p->fd) ||
	    !works(!ibv_get_cq_event(p->channel, &cq, &cq_context), "take an event"))
		return false;
	ibv_ack_cq_events(cq, 1);
	return true;
}

/* Sleep until so many sends and receives have completed. */
static bool await(struct ping *p, unsigned int sent, unsigned int received)
{
	if (!poll_all(p))
		return false;
	while (p->sent < sent || p->received < received) {
		/* There may be no event for a completion that arrived before the request. */
		if (!works(!ibv_req_notify_cq(p->cq, 0), "request an event") || !poll_all(p))
			return false;
		if (p->sent >= sent && p->received >= received)
			break;
		if (!take_event(p) || !poll_all(p))
			return false;
	}
	return true;
}

/* The next receive is posted before this program answers, so no message finds the queue empty. */
static bool exchange(struct ping *p, unsigned int round)
{
	if (p->is_client && !post_message(p, round))
		return false;
	return await(p, round + p->is_client, round + 1) &&
	       ping_check(p->memory + PING_LEN, &p->last_receive, round, !p->is_client) &&
	       post_receive(p) && (p->is_client || post_message(p, round));
}

/* --- the program ------------------------------------------------------------------------------ */

/* The client begins. The server answers when it can receive. */
static bool connect_qps(struct ping *p)
{
	return (!p->is_client || ping_send_details(p->fd, &p->self)) &&
	       ping_receive_details(p->fd, &p->peer) && enter_rtr(p) && enter_rts(p) &&
	       (p->is_client || ping_send_details(p->fd, &p->self));
}

static bool play(const char *address, const char *port, struct ping *p)
{
	bool good;

	p->fd = ping_open(address, port);
	if (p->fd < 0)
		return false;
	good = connect_qps(p);
	for (unsigned int i = 0; i < PING_ROUNDS && good; i++)
		good = exchange(p, i);
	good = good && await(p, PING_ROUNDS, PING_ROUNDS) && ping_finish(p->fd);
	close(p->fd);
	return good;
}

int main(int argc, char **argv)
{
	const char *device = "mlx5_0", *address = "", *port = PING_PORT;
	static struct ping p;
	int option;
	bool good;

	while ((option = getopt(argc, argv, "d:a:o:")) != -1) {
		if (option == 'd')
			device = optarg;
		else if (option == 'a')
			address = optarg;
		else if (option == 'o')
			port = optarg;
		else
			return EXIT_FAILURE;
	}
	p.is_client = *address != '\0';
	good = create_objects(device, &p) && enter_init(&p) && post_receive(&p) &&
	       play(address, port, &p);
	good = destroy_objects(&p) && good;
	if (good)
		printf("%u rounds of %u bytes\n", PING_ROUNDS, PING_LEN);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
