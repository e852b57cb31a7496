/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The send queue of a queue pair of an RDMA context, in the memory that an mlx5 device reads. */
#ifndef DPUMAP_DEVICE_QUEUE_RDMA_SQ_H
#define DPUMAP_DEVICE_QUEUE_RDMA_SQ_H

#include <infiniband/mlx5dv.h>

#include "device/queue/rdma_qp.h"
#include "device/queue/send_ring.h"

/* The work request that starts in a block of the ring. */
struct dpumap_rdma_slot {
	uint32_t number;
	uint16_t block; /* number of the block, modulo 2^16 */
};

struct dpumap_rdma_sq {
	struct dpumap_send_ring ring;
	struct dpumap_rdma_slot *slots;
};

/*
 * Take over posting to a new queue pair, for `depth` work requests of up to `max_pieces` pieces. Logged.
 * dpumap_rdma_sq_unmap() frees what it has, also after a failure.
 */
doca_error_t dpumap_rdma_sq_map(struct dpumap_rdma_sq *sq, struct ibv_qp *qp, const char *device,
				uint32_t depth, uint32_t max_pieces);
void dpumap_rdma_sq_unmap(struct dpumap_rdma_sq *sq);

/* Each kind of segment is as long as the others. Returns the following one, which is in the same block. */
static inline void *dpumap_rdma_sq_put_peer(struct mlx5_wqe_raddr_seg *seg,
					    const struct dpumap_rdma_request *request)
{
	seg->raddr = htobe64(request->peer_addr);
	seg->rkey = htobe32(request->peer_key);
	seg->reserved = 0;
	return seg + 1;
}

static inline void *dpumap_rdma_sq_put_operands(struct mlx5_wqe_atomic_seg *seg,
						const struct dpumap_rdma_request *request)
{
	bool is_swap = request->op == DPUMAP_RDMA_CMP_SWP;

	seg->swap_add = htobe64(is_swap ? request->swap : request->operand);
	seg->compare = is_swap ? htobe64(request->operand) : 0;
	return seg + 1;
}

/* Returns their bytes. */
static inline uint32_t dpumap_rdma_sq_put_pieces(const struct dpumap_rdma_sq *sq,
						 struct dpumap_wqe_data *seg,
						 const struct dpumap_rdma_request *request)
{
	const struct dpumap_rdma_piece *piece = request->pieces;
	uint32_t len = 0;

	for (uint32_t left = request->num_pieces; left; left--, piece++) {
		seg->len = htobe32(piece->len);
		seg->key = htobe32(piece->key);
		seg->addr = htobe64(piece->addr);
		len += piece->len;
		if (doca_unlikely((uint8_t *)++seg == sq->ring.end))
			seg = (void *)sq->ring.start;
	}
	return len;
}

/* There must be room. */
static inline void dpumap_rdma_sq_post(struct dpumap_rdma_sq *sq,
				       const struct dpumap_rdma_request *request, uint32_t number)
{
	static const uint8_t opcodes[] = {
		[DPUMAP_RDMA_SEND] = MLX5_OPCODE_SEND,
		[DPUMAP_RDMA_SEND_IMM] = MLX5_OPCODE_SEND_IMM,
		[DPUMAP_RDMA_WRITE] = MLX5_OPCODE_RDMA_WRITE,
		[DPUMAP_RDMA_WRITE_IMM] = MLX5_OPCODE_RDMA_WRITE_IMM,
		[DPUMAP_RDMA_READ] = MLX5_OPCODE_RDMA_READ,
		[DPUMAP_RDMA_CMP_SWP] = MLX5_OPCODE_ATOMIC_CS,
		[DPUMAP_RDMA_FETCH_ADD] = MLX5_OPCODE_ATOMIC_FA,
	};
	struct dpumap_send_ring *ring = &sq->ring;
	struct dpumap_wqe_ctrl *ctrl = dpumap_send_ring_next(ring);
	uint16_t at = (uint16_t)ring->at;
	uint32_t segments = 1 + request->num_pieces;
	void *seg = ctrl + 1;
	uint32_t len;

	if (request->op >= DPUMAP_RDMA_WRITE) {
		seg = dpumap_rdma_sq_put_peer(seg, request);
		segments++;
	}
	if (doca_unlikely(request->op >= DPUMAP_RDMA_CMP_SWP)) {
		seg = dpumap_rdma_sq_put_operands(seg, request);
		segments++;
	}
	len = dpumap_rdma_sq_put_pieces(sq, seg, request);
	ctrl->opcode = htobe32(opcodes[request->op] | (uint32_t)at << 8);
	ctrl->qpn_ds = htobe32(ring->qpn | segments);
	ctrl->flags = dpumap_send_ring_flags(ring, len);
	ctrl->imm = request->imm;
	sq->slots[at & ring->mask] = (struct dpumap_rdma_slot){.number = number, .block = at};
	dpumap_send_ring_post(ring, ctrl, dpumap_wqe_blocks(segments));
}

/*
 * The number of the work request that a CQE names; false if none was posted there. Also after the queue
 * pair was destroyed, which frees the memory of the queue.
 */
static inline bool dpumap_rdma_sq_find(const struct dpumap_rdma_sq *sq,
				       const struct mlx5_cqe64 *cqe, uint32_t *number)
{
	uint16_t block = be16toh(cqe->wqe_counter);
	const struct dpumap_rdma_slot *slot = &sq->slots[block & sq->ring.mask];

	*number = slot->number;
	return slot->block == block;
}

#endif
