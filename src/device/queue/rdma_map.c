/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/rdma_map.h"

#include <errno.h>
#include <string.h>

#include "device/device_priv.h"
#include "device/queue/rdma_take.h"
#include "log/log.h"

#define QPN_MASK 0xffffffu

doca_error_t dpumap_rdma_map(struct dpumap_rdma_queue *queue)
{
	struct mlx5dv_srq srq = {0};
	struct mlx5dv_cq cq = {0};
	struct mlx5dv_obj objects = {
		.srq = {.in = queue->srq, .out = &srq},
		.cq = {.in = queue->cq, .out = &cq},
	};
	int err = mlx5dv_init_obj(&objects,
				  queue->srq ? MLX5DV_OBJ_SRQ | MLX5DV_OBJ_CQ : MLX5DV_OBJ_CQ);

	if (!err && queue->srq && !dpumap_srq_ring_map(&queue->srq_ring, &srq, queue->num_recvs))
		err = EPROTO;
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: cannot map the queues of an RDMA context "
				   "(mlx5dv_init_obj): %s",
				   dpumap_hca_name(queue->device->hca), strerror(err));
	dpumap_cq_ring_map(&queue->ring, &cq, &queue->num_events);
	queue->size_recvs = queue->srq_ring.size;
	queue->is_mapped = true;
	return DOCA_SUCCESS;
}

/* -- completions -- */

static const struct dpumap_cqe_meaning refused = {
	MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR,
	{DOCA_ERROR_INVALID_VALUE, "the peer refuses it"},
};
static const struct dpumap_cqe_meaning too_long = {
	MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR,
	{DOCA_ERROR_INVALID_VALUE, "the message is longer than the receive"},
};

__attribute__((cold, noinline)) static doca_error_t
failure(const struct dpumap_rdma_queue *queue, const struct mlx5_cqe64 *cqe, bool is_receive)
{
	return dpumap_cqe_fail(dpumap_hca_name(queue->device->hca),
			       is_receive ? "a receive" : "a work request", cqe,
			       is_receive ? &too_long : &refused);
}

static inline bool take_send(struct dpumap_rdma_queue *queue, const struct mlx5_cqe64 *cqe,
			     struct dpumap_rdma_done *done)
{
	struct dpumap_rdma_qp *qp =
		dpumap_rdma_take_qp(queue, be32toh(cqe->sop_drop_qpn) & QPN_MASK);
	uint32_t number;

	if (doca_unlikely(!qp || !dpumap_rdma_sq_find(&qp->sq, cqe, &number)))
		return dpumap_rdma_queue_drop(queue);
	if (doca_unlikely(!dpumap_rdma_take_send(queue, qp, number, done)))
		return false;
	if (doca_unlikely(cqe->op_own >> 4 != MLX5_CQE_REQ)) {
		qp->failed = qp->has_flushed = true;
		done->status = failure(queue, cqe, false);
	}
	return true;
}

static enum dpumap_rdma_received kind_of(uint8_t opcode)
{
	if (opcode == MLX5_CQE_RESP_WR_IMM)
		return DPUMAP_RDMA_RECEIVED_WRITE_IMM;
	return opcode == MLX5_CQE_RESP_SEND_IMM ? DPUMAP_RDMA_RECEIVED_SEND_IMM
						: DPUMAP_RDMA_RECEIVED_SEND;
}

static inline bool take_receive(struct dpumap_rdma_queue *queue, const struct mlx5_cqe64 *cqe,
				struct dpumap_rdma_done *done)
{
	uint32_t qpn = be32toh(cqe->sop_drop_qpn) & QPN_MASK;
	uint16_t index = be16toh(cqe->wqe_counter);
	uint8_t opcode = cqe->op_own >> 4;
	struct dpumap_rdma_qp *qp = dpumap_rdma_take_qp(queue, qpn);

	if (doca_unlikely(!dpumap_rdma_take_receive(queue, qp, index, done)))
		return false;
	if (doca_likely(queue->srq))
		dpumap_srq_ring_free(&queue->srq_ring, index);
	if (doca_unlikely(opcode == MLX5_CQE_RESP_ERR)) {
		if (qp)
			qp->failed = true;
		done->status = failure(queue, cqe, true);
		return true;
	}
	done->kind = kind_of(opcode);
	done->len = be32toh(cqe->byte_cnt);
	done->imm = cqe->imm_inval_pkey;
	return true;
}

static inline bool take(struct dpumap_rdma_queue *queue, const struct mlx5_cqe64 *cqe,
			struct dpumap_rdma_done *done)
{
	uint8_t opcode = cqe->op_own >> 4;

	return opcode == MLX5_CQE_REQ || opcode == MLX5_CQE_REQ_ERR
		       ? take_send(queue, cqe, done)
		       : take_receive(queue, cqe, done);
}

uint32_t dpumap_rdma_map_poll(struct dpumap_rdma_queue *queue, struct dpumap_rdma_done *done,
			      uint32_t max)
{
	const struct mlx5_cqe64 *cqe;
	uint32_t n = 0;

	while (n < max && (cqe = dpumap_cq_ring_next(&queue->ring))) {
		n += take(queue, cqe, &done[n]);
		dpumap_cq_ring_consume(&queue->ring);
	}
	return n;
}
