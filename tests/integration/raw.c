/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program that has got hold of a key and no alias: plain verbs, a QP connected to itself.
 */
#include <sched.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>

#include "side.h"

struct raw {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t buffer[64];
};

static bool create(struct raw *raw)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_send_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	raw->pd = ibv_alloc_pd(raw->context);
	raw->cq = ibv_create_cq(raw->context, 1, NULL, NULL, 0);
	if (!raw->pd || !raw->cq)
		return false;
	attr.send_cq = raw->cq;
	attr.recv_cq = raw->cq;
	raw->qp = ibv_create_qp(raw->pd, &attr);
	raw->mr = ibv_reg_mr(raw->pd, raw->buffer, sizeof(raw->buffer),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				     IBV_ACCESS_REMOTE_WRITE);
	return raw->qp && raw->mr;
}

static bool find_path(const struct raw *raw, struct ibv_ah_attr *ah, enum ibv_mtu *mtu)
{
	struct ibv_port_attr port;
	struct ibv_gid_entry gid;

	if (ibv_query_port(raw->context, 1, &port))
		return false;
	*mtu = port.active_mtu;
	ah->port_num = 1;
	ah->dlid = port.lid;
	if (port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return true;
	for (uint32_t i = 0; i < (uint32_t)port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(raw->context, 1, i, &gid, 0))
			continue;
		ah->is_global = 1;
		ah->grh.dgid = gid.gid;
		ah->grh.sgid_index = (uint8_t)i;
		return true;
	}
	return false;
}

static bool connect_to_itself(const struct raw *raw)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};

	if (ibv_modify_qp(raw->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return false;
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.dest_qp_num = raw->qp->qp_num;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	if (!find_path(raw, &attr.ah_attr, &attr.path_mtu))
		return false;
	if (ibv_modify_qp(raw->qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		return false;
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	return !ibv_modify_qp(raw->qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static bool post(const struct raw *raw, uint32_t key, uint64_t addr, enum raw_use use)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)raw->buffer,
		.length = sizeof(raw->buffer),
		.lkey = raw->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = use == RAW_REMOTE_READ ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = addr, .rkey = key},
	};
	struct ibv_send_wr *bad;

	if (use == RAW_LOCAL) {
		wr.wr.rdma.remote_addr = sge.addr;
		wr.wr.rdma.rkey = raw->mr->rkey;
		sge.addr = addr;
		sge.lkey = key;
	}
	return !ibv_post_send(raw->qp, &wr, &bad);
}

static int wait_status(const struct raw *raw)
{
	time_t deadline = time(NULL) + 30;
	struct ibv_wc wc;

	do {
		int n = ibv_poll_cq(raw->cq, 1, &wc);

		if (n < 0)
			return -1;
		if (n)
			return (int)wc.status;
		sched_yield();
	} while (time(NULL) < deadline);
	return -1;
}

static void destroy(struct raw *raw)
{
	if (raw->mr)
		ibv_dereg_mr(raw->mr);
	if (raw->qp)
		ibv_destroy_qp(raw->qp);
	if (raw->cq)
		ibv_destroy_cq(raw->cq);
	if (raw->pd)
		ibv_dealloc_pd(raw->pd);
	ibv_close_device(raw->context);
}

int raw_access(uint32_t key, uint64_t addr, enum raw_use use)
{
	struct raw raw = {.context = rig_open_context()};
	int status = -1;

	if (!raw.context)
		return -1;
	if (create(&raw) && connect_to_itself(&raw) && post(&raw, key, addr, use))
		status = wait_status(&raw);
	destroy(&raw);
	return status;
}
