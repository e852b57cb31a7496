/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two programs send messages to each other over a reliable connection of doca_verbs, and check each byte. The server
 * waits at a port of TCP; a client has -a ADDRESS. Either program may be ibverbs_ping, which uses libibverbs alone.
 * Build: cc -DDOCA_ALLOW_EXPERIMENTAL_API verbs_ping.c ping.c common.c $(pkg-config --cflags --libs dpumap libibverbs)
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_log.h>
#include <doca_verbs.h>
#include <doca_verbs_bridge.h>

#include "common.h"
#include "ping.h"

DOCA_LOG_REGISTER(EXAMPLE::VERBS_PING);

struct ping {
	struct doca_verbs_context *context;
	struct doca_verbs_pd *pd;
	struct doca_dev *dev; /* of the PD, for the map */
	struct doca_verbs_comp_channel *channel;
	struct doca_verbs_cq *cq;
	struct doca_verbs_qp *qp;
	struct doca_verbs_qp_attr *attr; /* to change the QP */
	struct memory memory;		 /* the message that is sent, and the one that arrives */
	uint32_t mkey;			 /* of the memory */
	struct ping_source source;
	struct ping_details self, peer;
	int fd; /* the socket */
	bool is_client;
	unsigned int sent, received; /* completions */
	struct ibv_wc last_receive;
};

/* --- objects ---------------------------------------------------------------------------------- */

static doca_error_t open_context(const char *pci_addr, struct doca_verbs_context **context)
{
	doca_error_t result = DOCA_ERROR_NOT_FOUND;
	struct doca_devinfo **list;
	uint8_t is_it = 0;
	uint32_t n;

	if (doca_devinfo_create_list(&list, &n) != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < n && !is_it; i++)
		if (doca_devinfo_is_equal_pci_addr(list[i], pci_addr, &is_it) == DOCA_SUCCESS &&
		    is_it)
			result = doca_verbs_context_create(
				list[i], DOCA_VERBS_CONTEXT_CREATE_FLAGS_NONE, context);
	(void)doca_devinfo_destroy_list(list);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("No context on a device at %s: %s", pci_addr,
			     doca_error_get_descr(result));
	return result;
}

static doca_error_t create_cq(struct ping *p)
{
	struct doca_verbs_cq_attr *attr;
	doca_error_t result = doca_verbs_cq_attr_create(&attr);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_verbs_cq_attr_set_cq_size(attr, 2);
	DOCA_ERROR_PROPAGATE(result, doca_verbs_cq_attr_set_comp_channel(attr, p->channel));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_cq_create(p->context, attr, &p->cq));
	return keep_first(result, doca_verbs_cq_attr_destroy(attr));
}

/* One send and one receive may be posted at a time. */
static doca_error_t create_qp(struct ping *p)
{
	struct doca_verbs_qp_init_attr *attr;
	doca_error_t result = doca_verbs_qp_init_attr_create(&attr);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_verbs_qp_init_attr_set_pd(attr, p->pd);
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_init_attr_set_send_cq(attr, p->cq));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_init_attr_set_receive_cq(attr, p->cq));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_init_attr_set_sq_wr(attr, 1));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_init_attr_set_rq_wr(attr, 1));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_init_attr_set_send_max_sges(attr, 1));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_init_attr_set_receive_max_sges(attr, 1));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_create(p->context, attr, &p->qp));
	return keep_first(result, doca_verbs_qp_init_attr_destroy(attr));
}

static doca_error_t create_objects(const char *pci_addr, struct ping *p)
{
	doca_error_t result = open_context(pci_addr, &p->context);

	if (result != DOCA_SUCCESS)
		return result;
	if (!ping_find_source(doca_verbs_bridge_get_ibv_ctx(p->context), &p->source))
		return DOCA_ERROR_NOT_FOUND;
	result = doca_verbs_pd_create(p->context, &p->pd);
	DOCA_ERROR_PROPAGATE(result, doca_verbs_pd_as_doca_dev(p->pd, &p->dev));
	DOCA_ERROR_PROPAGATE(result, create_memory(p->dev, (size_t)2 * PING_LEN,
						   DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &p->memory));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_get_mkey(p->memory.mmap, p->dev, &p->mkey));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_comp_channel_create(p->context, &p->channel));
	DOCA_ERROR_PROPAGATE(result, create_cq(p));
	DOCA_ERROR_PROPAGATE(result, create_qp(p));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_attr_create(&p->attr));
	if (result != DOCA_SUCCESS)
		return result;
	p->self = (struct ping_details){doca_verbs_qp_get_qpn(p->qp), ping_choose_psn(), {0}};
	memcpy(p->self.gid, p->source.gid, PING_GID_LEN);
	return DOCA_SUCCESS;
}

/* Destroy what exists, in the order of the header. */
static doca_error_t destroy_objects(struct ping *p)
{
	doca_error_t result = DOCA_SUCCESS;

	if (p->attr)
		result = keep_first(result, doca_verbs_qp_attr_destroy(p->attr));
	if (p->qp)
		result = keep_first(result, doca_verbs_qp_destroy(p->qp));
	if (p->cq)
		result = keep_first(result, doca_verbs_cq_destroy(p->cq));
	if (p->channel)
		result = keep_first(result, doca_verbs_comp_channel_destroy(p->channel));
	destroy_memory(&p->memory);
	if (p->dev)
		result = keep_first(result, doca_dev_close(p->dev));
	if (p->pd)
		result = keep_first(result, doca_verbs_pd_destroy(p->pd));
	if (p->context)
		result = keep_first(result, doca_verbs_context_destroy(p->context));
	return result;
}

/* --- states ----------------------------------------------------------------------------------- */

#define INIT_MASK                                                                       \
	(DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_WRITE | DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_READ | \
	 DOCA_VERBS_QP_ATTR_PKEY_INDEX | DOCA_VERBS_QP_ATTR_PORT_NUM)
#define RTR_MASK                                                      \
	(DOCA_VERBS_QP_ATTR_RQ_PSN | DOCA_VERBS_QP_ATTR_DEST_QP_NUM | \
	 DOCA_VERBS_QP_ATTR_PATH_MTU | DOCA_VERBS_QP_ATTR_AH_ATTR |   \
	 DOCA_VERBS_QP_ATTR_MIN_RNR_TIMER)
#define RTS_MASK                                                      \
	(DOCA_VERBS_QP_ATTR_SQ_PSN | DOCA_VERBS_QP_ATTR_ACK_TIMEOUT | \
	 DOCA_VERBS_QP_ATTR_RETRY_CNT | DOCA_VERBS_QP_ATTR_RNR_RETRY)

static doca_error_t enter(struct ping *p, enum doca_verbs_qp_state state, int mask)
{
	doca_error_t result = doca_verbs_qp_attr_set_next_state(p->attr, state);

	DOCA_ERROR_PROPAGATE(
		result, doca_verbs_qp_modify(p->qp, p->attr, DOCA_VERBS_QP_ATTR_NEXT_STATE | mask));
	return result;
}

/* The peer only sends, so it may neither write nor read: both are 0. */
static doca_error_t enter_init(struct ping *p)
{
	doca_error_t result = doca_verbs_qp_attr_set_port_num(p->attr, PING_HCA_PORT);

	DOCA_ERROR_PROPAGATE(result, enter(p, DOCA_VERBS_QP_STATE_INIT, INIT_MASK));
	return result;
}

static doca_error_t set_address(const struct ping *p, struct doca_verbs_ah_attr *ah)
{
	enum doca_verbs_addr_type type =
		p->source.is_ipv4 ? DOCA_VERBS_ADDR_TYPE_IPv4 : DOCA_VERBS_ADDR_TYPE_IPv6;
	struct doca_verbs_gid gid;
	doca_error_t result = doca_verbs_ah_attr_set_addr_type(ah, type);

	memcpy(gid.raw, p->peer.gid, sizeof(gid.raw));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_ah_attr_set_gid(ah, gid));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_ah_attr_set_sgid_index(ah, p->source.gid_index));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_ah_attr_set_hop_limit(ah, PING_HOP_LIMIT));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_attr_set_ah_attr(p->attr, ah));
	return result;
}

static doca_error_t set_connection(struct ping *p)
{
	struct doca_verbs_qp_attr *attr = p->attr;
	doca_error_t result = doca_verbs_qp_attr_set_path_mtu(attr, DOCA_MTU_SIZE_1K_BYTES);

	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_attr_set_dest_qp_num(attr, p->peer.qpn));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_attr_set_rq_psn(attr, p->peer.psn));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_attr_set_sq_psn(attr, p->self.psn));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_attr_set_min_rnr_timer(attr, PING_RNR_TIMER));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_attr_set_ack_timeout(attr, PING_ACK_TIMEOUT));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_attr_set_retry_cnt(attr, PING_RETRIES));
	DOCA_ERROR_PROPAGATE(result, doca_verbs_qp_attr_set_rnr_retry(attr, PING_RETRIES));
	return result;
}

/* One set of attributes serves for both transitions: each reads the members of its mask. */
static doca_error_t enter_rts(struct ping *p)
{
	struct doca_verbs_ah_attr *ah;
	doca_error_t result = doca_verbs_ah_attr_create(p->context, &ah);

	if (result != DOCA_SUCCESS)
		return result;
	result = set_address(p, ah);
	DOCA_ERROR_PROPAGATE(result, set_connection(p));
	DOCA_ERROR_PROPAGATE(result, enter(p, DOCA_VERBS_QP_STATE_RTR, RTR_MASK));
	DOCA_ERROR_PROPAGATE(result, enter(p, DOCA_VERBS_QP_STATE_RTS, RTS_MASK));
	return keep_first(result, doca_verbs_ah_attr_destroy(ah));
}

/* --- work requests ---------------------------------------------------------------------------- */

static struct ibv_sge piece(const struct ping *p, const char *at)
{
	return (struct ibv_sge){(uintptr_t)at, PING_LEN, p->mkey};
}

static doca_error_t posted(int err, const char *what)
{
	if (err)
		DOCA_LOG_ERR("Cannot post a %s: %s", what, strerror(err));
	return err ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}

static doca_error_t post_receive(struct ping *p)
{
	struct ibv_sge sge = piece(p, p->memory.bytes + PING_LEN);
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	return posted(doca_verbs_bridge_post_recv(p->qp, &wr, &bad), "receive");
}

static doca_error_t post_message(struct ping *p, unsigned int round)
{
	struct ibv_sge sge = piece(p, p->memory.bytes);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	ping_fill((uint8_t *)p->memory.bytes, round, p->is_client);
	return posted(doca_verbs_bridge_post_send(p->qp, &wr, &bad), "message");
}

static doca_error_t poll_all(struct ping *p)
{
	struct ibv_wc wc;
	int num;

	while ((num = doca_verbs_bridge_poll_cq(p->cq, 1, &wc)) == 1) {
		if (!ping_is_good(&wc))
			return DOCA_ERROR_IO_FAILED;
		if (wc.opcode == IBV_WC_RECV) {
			p->last_receive = wc;
			p->received++;
		} else {
			p->sent++;
		}
	}
	return num ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}

static doca_error_t take_event(struct ping *p)
{
	struct doca_verbs_cq *cq;
	void *cq_context;
	doca_error_t result;

	if (!ping_wait(doca_verbs_comp_channel_get_handle(p->channel), p->fd))
		return DOCA_ERROR_IO_FAILED;
	result = doca_verbs_get_cq_event(p->channel, &cq, &cq_context);
	if (result == DOCA_SUCCESS)
		doca_verbs_ack_cq_events(cq, 1);
	return result;
}

/* Sleep until so many sends and receives have completed. */
static doca_error_t await(struct ping *p, unsigned int sent, unsigned int received)
{
	doca_error_t result = poll_all(p);

	while (result == DOCA_SUCCESS && (p->sent < sent || p->received < received)) {
		/* There may be no event for a completion that arrived before the request. */
		result = doca_verbs_req_notify_cq(p->cq, 0);
		DOCA_ERROR_PROPAGATE(result, poll_all(p));
		if (p->sent >= sent && p->received >= received)
			break;
		DOCA_ERROR_PROPAGATE(result, take_event(p));
		DOCA_ERROR_PROPAGATE(result, poll_all(p));
	}
	return result;
}

/* The next receive is posted before this program answers, so no message finds the queue empty. */
static doca_error_t exchange(struct ping *p, unsigned int round)
{
	doca_error_t result = DOCA_SUCCESS;

	if (p->is_client)
		result = post_message(p, round);
	DOCA_ERROR_PROPAGATE(result, await(p, round + p->is_client, round + 1));
	if (result == DOCA_SUCCESS && !ping_check((uint8_t *)p->memory.bytes + PING_LEN,
						  &p->last_receive, round, !p->is_client))
		result = DOCA_ERROR_UNEXPECTED;
	DOCA_ERROR_PROPAGATE(result, post_receive(p));
	if (!p->is_client)
		DOCA_ERROR_PROPAGATE(result, post_message(p, round));
	return result;
}

/* --- the program ------------------------------------------------------------------------------ */

/* The client begins. The server answers when it can receive. */
static doca_error_t connect_qps(struct ping *p)
{
	doca_error_t result;

	if (p->is_client && !ping_send_details(p->fd, &p->self))
		return DOCA_ERROR_IO_FAILED;
	if (!ping_receive_details(p->fd, &p->peer))
		return DOCA_ERROR_IO_FAILED;
	result = enter_rts(p);
	if (result == DOCA_SUCCESS && !p->is_client && !ping_send_details(p->fd, &p->self))
		result = DOCA_ERROR_IO_FAILED;
	return result;
}

static doca_error_t play(const struct config *config, struct ping *p)
{
	doca_error_t result;

	p->fd = ping_open(config->address, config->port);
	if (p->fd < 0)
		return DOCA_ERROR_IO_FAILED;
	result = connect_qps(p);
	for (unsigned int i = 0; i < PING_ROUNDS && result == DOCA_SUCCESS; i++)
		result = exchange(p, i);
	DOCA_ERROR_PROPAGATE(result, await(p, PING_ROUNDS, PING_ROUNDS));
	if (result == DOCA_SUCCESS && !ping_finish(p->fd))
		result = DOCA_ERROR_IO_FAILED;
	close(p->fd);
	return result;
}

int main(int argc, char **argv)
{
	struct config config = {.port = PING_PORT};
	struct ping p = {0};
	doca_error_t result = start_logs();

	DOCA_ERROR_PROPAGATE(result, parse_arguments(argc, argv, "pao", &config));
	p.is_client = config.address[0] != '\0';
	DOCA_ERROR_PROPAGATE(result, create_objects(config.pci_addr, &p));
	DOCA_ERROR_PROPAGATE(result, enter_init(&p));
	DOCA_ERROR_PROPAGATE(result, post_receive(&p));
	DOCA_ERROR_PROPAGATE(result, play(&config, &p));
	result = keep_first(result, destroy_objects(&p));
	if (result == DOCA_SUCCESS)
		DOCA_LOG_INFO("%u rounds of %u bytes", PING_ROUNDS, PING_LEN);
	else
		DOCA_LOG_ERR("Ends with %s", doca_error_get_name(result));
	return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
