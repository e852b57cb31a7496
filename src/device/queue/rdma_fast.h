/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What most RDMA tasks need, inlined into them: for mapped queues (device/queue/rdma_map.h). */
#ifndef DPUMAP_DEVICE_QUEUE_RDMA_FAST_H
#define DPUMAP_DEVICE_QUEUE_RDMA_FAST_H

#include "device/queue/rdma_map.h"
#include "device/queue/rdma_qp_priv.h"
#include "device/queue/rdma_queue_priv.h"
#include "device/queue/rdma_take.h"

#define DPUMAP_QPN_MASK 0xffffffu

/* --- posting ---------------------------------------------------------------------------------- */

static inline bool dpumap_rdma_fast_has_room(const struct dpumap_rdma_qp *qp)
{
	return doca_likely(qp->queue->is_mapped && !qp->failed && dpumap_rdma_qp_has_room(qp));
}

/*
 * As dpumap_rdma_qp_post() with one piece, without an immediate, not an atomic operation; there must be
 * room. Returns what dpumap_rdma_qp_posted() does then.
 */
static inline __attribute__((always_inline)) uint32_t
dpumap_rdma_fast_post(struct dpumap_rdma_qp *qp, enum dpumap_rdma_op op,
		      struct dpumap_rdma_piece piece, uint32_t peer_key, uint64_t peer_addr)
{
	const struct dpumap_rdma_request request = {
		.op = op,
		.pieces = &piece,
		.num_pieces = 1,
		.peer_key = peer_key,
		.peer_addr = peer_addr,
	};

	dpumap_rdma_sq_post(&qp->sq, &request, qp->posted);
	dpumap_rdma_qp_note_posted(qp);
	return qp->posted;
}

static inline bool dpumap_rdma_fast_has_receive(const struct dpumap_rdma_queue *queue)
{
	return doca_likely(queue->is_mapped && queue->recvs != queue->num_recvs);
}

/* As dpumap_rdma_queue_receive() with one piece; there must be room. */
static inline void dpumap_rdma_fast_receive(struct dpumap_rdma_queue *queue,
					    struct dpumap_rdma_piece piece, void *cookie)
{
	dpumap_rdma_queue_note_receive(queue, dpumap_rdma_queue_put_receive(queue, &piece, 1),
				       cookie);
}

/* --- completions ------------------------------------------------------------------------------ */

/* Whether whatever there is to poll is found here. */
static inline bool dpumap_rdma_fast_is_possible(const struct dpumap_rdma_queue *queue)
{
	return doca_likely(queue->is_fast);
}

/* Whether there is nothing to poll. False: perhaps not. */
static inline bool dpumap_rdma_fast_is_empty(const struct dpumap_rdma_queue *queue)
{
	return dpumap_rdma_fast_is_possible(queue) && !dpumap_cq_ring_next(&queue->ring);
}

/* What the device has completed next; NULL if there is nothing. To be taken. */
static inline const struct mlx5_cqe64 *dpumap_rdma_fast_next(const struct dpumap_rdma_queue *queue)
{
	return dpumap_cq_ring_next(&queue->ring);
}

static inline bool dpumap_rdma_fast_is_receive(const struct mlx5_cqe64 *cqe)
{
	uint8_t opcode = cqe->op_own >> 4;

	return opcode != MLX5_CQE_REQ && opcode != MLX5_CQE_REQ_ERR;
}

static inline struct dpumap_rdma_qp *dpumap_rdma_fast_qp(const struct dpumap_rdma_queue *queue,
							 const struct mlx5_cqe64 *cqe)
{
	return dpumap_rdma_take_qp(queue, be32toh(cqe->sop_drop_qpn) & DPUMAP_QPN_MASK);
}

/* This and the following release the CQE. False: it completes nothing. */
static inline bool dpumap_rdma_fast_take_send(struct dpumap_rdma_queue *queue,
					      const struct mlx5_cqe64 *cqe,
					      struct dpumap_rdma_done *done)
{
	struct dpumap_rdma_qp *qp = dpumap_rdma_fast_qp(queue, cqe);
	uint32_t number;
	bool is_taken = doca_likely(qp && dpumap_rdma_sq_find(&qp->sq, cqe, &number) &&
				    dpumap_rdma_take_send(queue, qp, number, done));

	if (doca_unlikely(!is_taken)) {
		dpumap_rdma_queue_drop(queue);
	} else if (doca_unlikely(cqe->op_own >> 4 != MLX5_CQE_REQ)) {
		qp->failed = qp->has_flushed = true;
		done->status = dpumap_rdma_map_failure(queue, cqe, false);
	}
	dpumap_cq_ring_consume(&queue->ring);
	return is_taken;
}

static inline enum dpumap_rdma_received dpumap_rdma_fast_kind_of(uint8_t opcode)
{
	if (opcode == MLX5_CQE_RESP_WR_IMM)
		return DPUMAP_RDMA_RECEIVED_WRITE_IMM;
	return opcode == MLX5_CQE_RESP_SEND_IMM ? DPUMAP_RDMA_RECEIVED_SEND_IMM
						: DPUMAP_RDMA_RECEIVED_SEND;
}

static inline void dpumap_rdma_fast_read_receive(struct dpumap_rdma_queue *queue,
						 struct dpumap_rdma_qp *qp,
						 const struct mlx5_cqe64 *cqe,
						 struct dpumap_rdma_done *done)
{
	uint8_t opcode = cqe->op_own >> 4;

	done->kind = dpumap_rdma_fast_kind_of(opcode);
	done->len = be32toh(cqe->byte_cnt);
	done->imm = cqe->imm_inval_pkey;
	if (doca_likely(opcode != MLX5_CQE_RESP_ERR))
		return;
	if (qp)
		qp->failed = true;
	done->status = dpumap_rdma_map_failure(queue, cqe, true);
}

static inline bool dpumap_rdma_fast_take_receive(struct dpumap_rdma_queue *queue,
						 const struct mlx5_cqe64 *cqe,
						 struct dpumap_rdma_done *done)
{
	struct dpumap_rdma_qp *qp = dpumap_rdma_fast_qp(queue, cqe);
	uint16_t index = be16toh(cqe->wqe_counter);
	bool is_taken = doca_likely(dpumap_rdma_take_receive(queue, qp, index, done));

	if (doca_likely(is_taken)) {
		if (doca_likely(queue->srq))
			dpumap_srq_ring_free(&queue->srq_ring, index);
		dpumap_rdma_fast_read_receive(queue, qp, cqe, done);
	} else {
		dpumap_rdma_queue_drop(queue);
	}
	dpumap_cq_ring_consume(&queue->ring);
	return is_taken;
}

#endif
