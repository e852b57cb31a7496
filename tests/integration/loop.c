/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "loop.h"

#include <sched.h>
#include <string.h>

#include "rig.h"

#define PORT 1

static bool to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = LOOP_ALL,
	};

	return !ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static bool to_rtr(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.port_num = PORT, .is_global = 1},
	};
	struct ibv_gid_entry gid;

	if (ibv_query_gid_ex(qp->context, PORT, 0, &gid, 0))
		return false;
	attr.ah_attr.grh.dgid = gid.gid;
	return !ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER);
}

static bool to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	return !ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

bool loop_revive(struct loop *loop)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	return !ibv_modify_qp(loop->qp, &attr, IBV_QP_STATE) && to_init(loop->qp) &&
	       to_rtr(loop->qp) && to_rts(loop->qp);
}

bool loop_open(struct loop *loop, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	memset(loop, 0, sizeof(*loop));
	loop->channel = ibv_create_comp_channel(pd->context);
	if (!loop->channel)
		return false;
	loop->cq = ibv_create_cq(pd->context, 64, NULL, loop->channel, 0);
	loop->mr = ibv_reg_mr(pd, loop->bytes, sizeof(loop->bytes), LOOP_ALL);
	if (!loop->cq || !loop->mr)
		return false;
	attr.send_cq = loop->cq;
	attr.recv_cq = loop->cq;
	loop->qp = ibv_create_qp(pd, &attr);
	return loop->qp && to_init(loop->qp) && to_rtr(loop->qp) && to_rts(loop->qp);
}

bool loop_close(struct loop *loop)
{
	bool ok = true;

	if (loop->qp)
		ok &= !ibv_destroy_qp(loop->qp);
	if (loop->mr)
		ok &= !ibv_dereg_mr(loop->mr);
	if (loop->cq)
		ok &= !ibv_destroy_cq(loop->cq);
	if (loop->channel)
		ok &= !ibv_destroy_comp_channel(loop->channel);
	return ok;
}

bool loop_post(struct loop *loop, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return !ibv_post_send(loop->qp, wr, &bad);
}

bool loop_receive(struct loop *loop, size_t len)
{
	struct ibv_sge sge = {(uintptr_t)loop->bytes, (uint32_t)len, loop->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	return !ibv_post_recv(loop->qp, &wr, &bad);
}

int loop_wait(struct loop *loop, unsigned int patience_ms)
{
	uint64_t deadline = rig_now_ms() + patience_ms;
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(loop->cq, 1, &wc);
		if (n)
			return n < 0 ? -1 : (int)wc.status;
		sched_yield();
	} while (rig_now_ms() < deadline);
	return -1;
}

static int copy(struct loop *loop, enum ibv_wr_opcode opcode, struct ibv_sge *sge, uint32_t rkey,
		uint64_t remote)
{
	struct ibv_send_wr wr = {
		.sg_list = sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = remote, .rkey = rkey},
	};

	return loop_post(loop, &wr) ? loop_wait(loop, RIG_PATIENCE_MS) : -1;
}

int loop_read(struct loop *loop, uint32_t key, uint64_t addr, size_t len)
{
	struct ibv_sge sge = {(uintptr_t)loop->bytes, (uint32_t)len, loop->mr->lkey};

	return copy(loop, IBV_WR_RDMA_READ, &sge, key, addr);
}

int loop_write(struct loop *loop, uint32_t key, uint64_t addr, size_t len)
{
	struct ibv_sge sge = {(uintptr_t)loop->bytes, (uint32_t)len, loop->mr->lkey};

	return copy(loop, IBV_WR_RDMA_WRITE, &sge, key, addr);
}

int loop_gather(struct loop *loop, uint32_t key, uint64_t addr, size_t len)
{
	struct ibv_sge sge = {addr, (uint32_t)len, key};

	return copy(loop, IBV_WR_RDMA_WRITE, &sge, loop->mr->rkey, (uintptr_t)loop->bytes);
}
