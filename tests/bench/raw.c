/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "raw.h"

#include <stdio.h>

#define PORT 1

static bool open_first(struct raw *raw)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list)
		return false;
	raw->context = list[0] ? mlx5dv_open_device(list[0], &attr) : NULL;
	ibv_free_device_list(list);
	return raw->context != NULL;
}

static bool make_domain(struct raw *raw, bool single_thread)
{
	struct ibv_td_init_attr td = {0};
	struct ibv_parent_domain_init_attr attr = {0};

	raw->pd = ibv_alloc_pd(raw->context);
	if (!raw->pd || !single_thread)
		return raw->pd != NULL;
	raw->td = ibv_alloc_td(raw->context, &td);
	if (!raw->td)
		return false;
	attr.pd = raw->pd;
	attr.td = raw->td;
	raw->parent = ibv_alloc_parent_domain(raw->context, &attr);
	return raw->parent != NULL;
}

static bool make_cq(struct raw *raw, uint32_t depth)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = depth,
		.channel = raw->channel,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
		.parent_domain = raw->parent,
	};
	struct ibv_cq_ex *cq;

	if (!raw->td) {
		raw->cq = ibv_create_cq(raw->context, (int)depth, NULL, raw->channel, 0);
		return raw->cq != NULL;
	}
	cq = ibv_create_cq_ex(raw->context, &attr);
	if (cq)
		raw->cq = ibv_cq_ex_to_cq(cq);
	return cq != NULL;
}

static bool make_qp(struct raw *raw, uint32_t depth)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = raw->cq,
		.recv_cq = raw->cq,
		.cap = {.max_send_wr = depth, .max_send_sge = 1},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = raw->parent ? raw->parent : raw->pd,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
	};
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
		.send_ops_flags = MLX5DV_QP_EX_WITH_MEMCPY,
	};

	raw->qp = mlx5dv_create_qp(raw->context, &attr, &dv);
	if (!raw->qp)
		return false;
	raw->qpx = ibv_qp_to_qp_ex(raw->qp);
	raw->mqpx = mlx5dv_qp_ex_from_ibv_qp_ex(raw->qpx);
	return true;
}

static bool find_self(const struct raw *raw, struct ibv_ah_attr *ah, enum ibv_mtu *mtu)
{
	struct ibv_port_attr port;

	if (ibv_query_port(raw->context, PORT, &port))
		return false;
	*mtu = port.active_mtu;
	ah->port_num = PORT;
	ah->dlid = port.lid;
	ah->is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	ah->grh.hop_limit = 1;
	return !ah->is_global || !ibv_query_gid(raw->context, PORT, 0, &ah->grh.dgid);
}

static bool connect_to_itself(const struct raw *raw)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR, .dest_qp_num = raw->qp->qp_num};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7};

	rtr.max_dest_rd_atomic = rts.max_rd_atomic = 1;
	rtr.min_rnr_timer = 12;
	return find_self(raw, &rtr.ah_attr, &rtr.path_mtu) &&
	       !ibv_modify_qp(raw->qp, &init,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      IBV_QP_ACCESS_FLAGS) &&
	       !ibv_modify_qp(raw->qp, &rtr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER) &&
	       !ibv_modify_qp(raw->qp, &rts,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static const char *set_up(struct raw *raw, uint32_t depth, bool single_thread, void *memory,
			  size_t len)
{
	if (!open_first(raw))
		return "an mlx5 device cannot be opened";
	if (!make_domain(raw, single_thread))
		return "a protection domain cannot be allocated";
	raw->mr = ibv_reg_mr(raw->pd, memory, len, IBV_ACCESS_LOCAL_WRITE);
	if (!raw->mr)
		return "the memory cannot be registered";
	raw->channel = ibv_create_comp_channel(raw->context);
	if (!raw->channel || !make_cq(raw, depth))
		return "a completion queue cannot be created";
	if (!make_qp(raw, depth))
		return "a queue pair for copies cannot be created";
	return connect_to_itself(raw) ? NULL : "the queue pair cannot be connected to itself";
}

bool raw_open(struct raw *raw, uint32_t depth, bool single_thread, void *memory, size_t len)
{
	const char *missing;

	*raw = (struct raw){0};
	missing = set_up(raw, depth, single_thread, memory, len);
	if (!missing)
		return true;
	fprintf(stderr, "bench: raw verbs: %s\n", missing);
	raw_close(raw);
	return false;
}

void raw_close(struct raw *raw)
{
	if (raw->qp)
		ibv_destroy_qp(raw->qp);
	if (raw->cq)
		ibv_destroy_cq(raw->cq);
	if (raw->channel)
		ibv_destroy_comp_channel(raw->channel);
	if (raw->mr)
		ibv_dereg_mr(raw->mr);
	if (raw->parent)
		ibv_dealloc_pd(raw->parent);
	if (raw->td)
		ibv_dealloc_td(raw->td);
	if (raw->pd)
		ibv_dealloc_pd(raw->pd);
	if (raw->context)
		ibv_close_device(raw->context);
	*raw = (struct raw){0};
}

bool raw_post(const struct raw *raw, const struct raw_copy *copies, size_t n)
{
	uint32_t key = raw->mr->lkey;

	ibv_wr_start(raw->qpx);
	for (size_t i = 0; i < n; i++) {
		raw->qpx->wr_id = i;
		raw->qpx->wr_flags = IBV_SEND_SIGNALED;
		mlx5dv_wr_memcpy(raw->mqpx, key, copies[i].dst, key, copies[i].src, copies[i].len);
	}
	return !ibv_wr_complete(raw->qpx);
}

int raw_reap(const struct raw *raw, int n)
{
	struct ibv_wc wc[RAW_MAX_BATCH];
	int got = ibv_poll_cq(raw->cq, n < RAW_MAX_BATCH ? n : RAW_MAX_BATCH, wc);

	for (int i = 0; i < got; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			return -1;
	return got;
}
