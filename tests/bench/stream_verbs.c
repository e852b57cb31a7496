/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The minimum that a program needs to stream messages with verbs. Work requests are prepared once.
 * Either each send has a completion, or only the last one that a call posts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "stream.h"

#define PORT  1
#define BATCH 32

struct address {
	uint32_t qpn;
	uint16_t lid;
	uint8_t gid[16];
};

struct verbs {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_port_attr port;
	uint8_t gid_index;
	struct ibv_sge sge[STREAM_MAX_SLOTS];
	struct ibv_send_wr send[STREAM_MAX_SLOTS];
	struct ibv_recv_wr recv[STREAM_MAX_SLOTS];
	uint32_t posted, done;
	bool is_sparse; /* in completions */
};

static bool open_first(struct verbs *v)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list)
		return false;
	if (list[0])
		v->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	return v->context;
}

static bool find_address(struct verbs *v, struct address *ours)
{
	struct ibv_gid_entry gid;

	if (ibv_query_port(v->context, PORT, &v->port))
		return false;
	ours->qpn = v->qp->qp_num;
	ours->lid = v->port.lid;
	for (uint32_t i = 0; i < (uint32_t)v->port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(v->context, PORT, i, &gid, 0))
			continue;
		memcpy(ours->gid, gid.gid.raw, sizeof(ours->gid));
		v->gid_index = (uint8_t)i;
		return true;
	}
	return false;
}

static bool connect_to(const struct verbs *v, const struct address *theirs)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = PORT};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = v->port.active_mtu,
		.dest_qp_num = theirs->qpn,
		.min_rnr_timer = 12,
		.ah_attr = {.port_num = PORT, .dlid = theirs->lid},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 6, .rnr_retry = 7};

	rtr.ah_attr.is_global = v->port.link_layer == IBV_LINK_LAYER_ETHERNET;
	rtr.ah_attr.grh.sgid_index = v->gid_index;
	rtr.ah_attr.grh.hop_limit = 64;
	memcpy(rtr.ah_attr.grh.dgid.raw, theirs->gid, sizeof(theirs->gid));
	return !ibv_modify_qp(v->qp, &init,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      IBV_QP_ACCESS_FLAGS) &&
	       !ibv_modify_qp(v->qp, &rtr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER) &&
	       !ibv_modify_qp(v->qp, &rts,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void prepare(struct verbs *v, const struct stream *stream)
{
	for (size_t i = 0; i < stream->slots; i++) {
		v->sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)stream->memory + i * stream->stride,
			.length = (uint32_t)stream->len,
			.lkey = v->mr->lkey,
		};
		v->send[i].sg_list = v->recv[i].sg_list = &v->sge[i];
		v->send[i].num_sge = v->recv[i].num_sge = 1;
		v->send[i].opcode = IBV_WR_SEND;
		v->send[i].send_flags = v->is_sparse ? 0 : IBV_SEND_SIGNALED;
		v->send[i].next = &v->send[(i + 1) % stream->slots];
		v->recv[i].next = &v->recv[(i + 1) % stream->slots];
	}
}

static bool create_objects(struct verbs *v, const struct stream *stream)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = STREAM_MAX_SLOTS,
			.max_recv_wr = STREAM_MAX_SLOTS,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	v->pd = ibv_alloc_pd(v->context);
	if (!v->pd)
		return false;
	v->mr = ibv_reg_mr(v->pd, stream->memory, STREAM_MEMORY, IBV_ACCESS_LOCAL_WRITE);
	v->cq = ibv_create_cq(v->context, 2 * STREAM_MAX_SLOTS, NULL, NULL, 0);
	if (!v->mr || !v->cq)
		return false;
	attr.send_cq = attr.recv_cq = v->cq;
	v->qp = ibv_create_qp(v->pd, &attr);
	return v->qp;
}

static bool open_either(struct stream *stream, bool is_sparse)
{
	struct verbs *v = calloc(1, sizeof(*v));
	struct address ours = {0}, theirs;

	stream->own = v;
	if (v)
		v->is_sparse = is_sparse;
	if (v && open_first(v) && create_objects(v, stream) && find_address(v, &ours) &&
	    duo_swap(stream->duo, &ours, &theirs, sizeof(ours)) && connect_to(v, &theirs) &&
	    duo_meet(stream->duo)) {
		prepare(v, stream);
		return true;
	}
	perror("bench: a connection cannot be made with verbs");
	return false;
}

static bool open_verbs(struct stream *stream)
{
	return open_either(stream, false);
}

static bool open_sparse(struct stream *stream)
{
	return open_either(stream, true);
}

static void close_verbs(struct stream *stream)
{
	struct verbs *v = stream->own;

	if (!v)
		return;
	if (v->qp)
		ibv_destroy_qp(v->qp);
	if (v->cq)
		ibv_destroy_cq(v->cq);
	if (v->mr)
		ibv_dereg_mr(v->mr);
	if (v->pd)
		ibv_dealloc_pd(v->pd);
	if (v->context)
		ibv_close_device(v->context);
	free(v);
}

static bool post_sends(struct verbs *v, const struct stream *stream, size_t n)
{
	struct ibv_send_wr *first = &v->send[v->posted % stream->slots], *bad;
	struct ibv_send_wr *last = &v->send[(v->posted + n - 1) % stream->slots];
	struct ibv_send_wr *next = last->next;
	int err;

	v->posted += (uint32_t)n;
	last->wr_id = v->posted;
	last->next = NULL;
	if (v->is_sparse)
		last->send_flags = IBV_SEND_SIGNALED;
	err = ibv_post_send(v->qp, first, &bad);
	last->next = next;
	if (v->is_sparse)
		last->send_flags = 0;
	return !err;
}

static bool post_receives(struct verbs *v, const struct stream *stream, size_t n)
{
	struct ibv_recv_wr *first = &v->recv[v->posted % stream->slots], *bad;
	struct ibv_recv_wr *last = &v->recv[(v->posted + n - 1) % stream->slots];
	struct ibv_recv_wr *next = last->next;
	int err;

	v->posted += (uint32_t)n;
	last->next = NULL;
	err = ibv_post_recv(v->qp, first, &bad);
	last->next = next;
	return !err;
}

static bool post(struct stream *stream, size_t n)
{
	struct verbs *v = stream->own;

	return stream->is_sender ? post_sends(v, stream, n) : post_receives(v, stream, n);
}

static int reap(struct stream *stream, size_t max)
{
	struct verbs *v = stream->own;
	struct ibv_wc wc[BATCH];
	int got = ibv_poll_cq(v->cq, max < BATCH ? (int)max : BATCH, wc), done;

	for (int i = 0; i < got; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			return -1;
	if (got <= 0 || !stream->is_sender || !v->is_sparse)
		return got;
	done = (int)((uint32_t)wc[got - 1].wr_id - v->done);
	v->done = (uint32_t)wc[got - 1].wr_id;
	return done;
}

const struct stream_kind stream_verbs = {"verbs", open_verbs, close_verbs, post, reap};
const struct stream_kind stream_sparse = {"sparse verbs", open_sparse, close_verbs, post, reap};
