/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma_bare.h"

#include <stdio.h>

#define PORT   1
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define BATCH  32

static bool connect_to_itself(struct ibv_qp *qp)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = PORT, .qp_access_flags = ACCESS};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 12,
		.ah_attr = {.port_num = PORT, .grh.hop_limit = 1},
	};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .timeout = 14,
				  .retry_cnt = 6,
				  .rnr_retry = 7,
				  .max_rd_atomic = 16};
	struct ibv_port_attr port;

	if (ibv_query_port(qp->context, PORT, &port))
		return false;
	rtr.path_mtu = port.active_mtu;
	rtr.ah_attr.dlid = port.lid;
	rtr.ah_attr.is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	return !ibv_query_gid(qp->context, PORT, 0, &rtr.ah_attr.grh.dgid) &&
	       !ibv_modify_qp(qp, &init,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      IBV_QP_ACCESS_FLAGS) &&
	       !ibv_modify_qp(qp, &rtr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER) &&
	       !ibv_modify_qp(qp, &rts,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

bool bare_open(struct bare *bare, struct ibv_pd *pd, enum rdma_op op, uint8_t *memory, size_t half)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = BARE_DEPTH,
			.max_recv_wr = BARE_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = BARE_INLINE},
	};

	*bare = (struct bare){.op = op};
	bare->mr = ibv_reg_mr(pd, memory, 2 * half, ACCESS);
	bare->cq = ibv_create_cq(pd->context, 2 * BARE_DEPTH, NULL, NULL, 0);
	attr.send_cq = attr.recv_cq = bare->cq;
	if (bare->mr && bare->cq)
		bare->qp = ibv_create_qp(pd, &attr);
	if (bare->qp && connect_to_itself(bare->qp))
		return true;
	perror("bench: a queue pair cannot be made with verbs");
	bare_close(bare);
	return false;
}

void bare_prepare(struct bare *bare, uint8_t *memory, size_t half, size_t len, size_t stride)
{
	static const enum ibv_wr_opcode opcodes[OPS] = {
		[OP_WRITE] = IBV_WR_RDMA_WRITE,
		[OP_READ] = IBV_WR_RDMA_READ,
		[OP_SEND] = IBV_WR_SEND,
	};

	for (size_t i = 0; i < BARE_DEPTH && (i + 1) * stride <= half; i++) {
		uint64_t near = (uintptr_t)memory + i * stride, far = near + half;

		bare->sge[i] = (struct ibv_sge){near, (uint32_t)len, bare->mr->lkey};
		bare->recv_sge[i] = (struct ibv_sge){far, (uint32_t)len, bare->mr->lkey};
		bare->send[i] = (struct ibv_send_wr){
			.sg_list = &bare->sge[i],
			.num_sge = 1,
			.opcode = opcodes[bare->op],
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = {.remote_addr = far, .rkey = bare->mr->rkey},
		};
		bare->recv[i] = (struct ibv_recv_wr){.sg_list = &bare->recv_sge[i], .num_sge = 1};
	}
}

void bare_close(struct bare *bare)
{
	if (bare->qp)
		ibv_destroy_qp(bare->qp);
	if (bare->cq)
		ibv_destroy_cq(bare->cq);
	if (bare->mr)
		ibv_dereg_mr(bare->mr);
	*bare = (struct bare){0};
}

void bare_set_inline(struct bare *bare, bool is_inline)
{
	bare->send[0].send_flags = IBV_SEND_SIGNALED | (is_inline ? IBV_SEND_INLINE : 0);
}

bool bare_post(struct bare *bare, size_t first, size_t n)
{
	struct ibv_send_wr *bad;

	for (size_t i = first; i < first + n; i++)
		bare->send[i].next = i + 1 < first + n ? &bare->send[i + 1] : NULL;
	return !ibv_post_send(bare->qp, &bare->send[first], &bad);
}

bool bare_post_receives(struct bare *bare, size_t n)
{
	struct ibv_recv_wr *bad;

	for (size_t i = 0; i < n; i++)
		bare->recv[i].next = i + 1 < n ? &bare->recv[i + 1] : NULL;
	return !ibv_post_recv(bare->qp, bare->recv, &bad);
}

int bare_reap(struct bare *bare, size_t n)
{
	struct ibv_wc wc[BATCH];
	int got = ibv_poll_cq(bare->cq, n < BATCH ? (int)n : BATCH, wc);

	for (int i = 0; i < got; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			return -1;
	return got;
}
