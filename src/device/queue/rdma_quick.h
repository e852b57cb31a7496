/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What most RDMA tasks need, inlined into them: for mapped queues (device/queue/rdma_map.h). */
#ifndef DPUMAP_DEVICE_QUEUE_RDMA_QUICK_H
#define DPUMAP_DEVICE_QUEUE_RDMA_QUICK_H

#include "device/queue/rdma_qp_priv.h"
#include "device/queue/rdma_queue_priv.h"

/* Whether dpumap_rdma_queue_poll() would return nothing. False: perhaps not. */
static inline bool dpumap_rdma_quick_is_empty(const struct dpumap_rdma_queue *queue)
{
	return doca_likely(queue->is_usual) && !dpumap_cq_ring_next(&queue->ring);
}

/*
 * As dpumap_rdma_qp_post() with one piece, without an immediate, not an atomic operation. False if that
 * cannot be done here.
 */
static inline __attribute__((always_inline)) bool
dpumap_rdma_quick_post(struct dpumap_rdma_qp *qp, enum dpumap_rdma_op op,
		       struct dpumap_rdma_piece piece, uint32_t peer_key, uint64_t peer_addr)
{
	const struct dpumap_rdma_request request = {
		.op = op,
		.pieces = &piece,
		.num_pieces = 1,
		.peer_key = peer_key,
		.peer_addr = peer_addr,
	};

	if (doca_unlikely(!qp->queue->is_mapped || qp->failed || !dpumap_rdma_qp_has_room(qp)))
		return false;
	dpumap_rdma_sq_post(&qp->sq, &request, qp->posted);
	dpumap_rdma_qp_note_posted(qp);
	return true;
}

/* As dpumap_rdma_qp_posted(). */
static inline uint32_t dpumap_rdma_quick_posted(const struct dpumap_rdma_qp *qp)
{
	return qp->posted;
}

/* As dpumap_rdma_queue_receive() with one piece. False if that cannot be done here. */
static inline bool dpumap_rdma_quick_receive(struct dpumap_rdma_queue *queue,
					     struct dpumap_rdma_piece piece, void *cookie)
{
	if (doca_unlikely(!queue->is_mapped || queue->recvs == queue->num_recvs))
		return false;
	dpumap_rdma_queue_note_receive(queue, dpumap_rdma_queue_put_receive(queue, &piece, 1),
				       cookie);
	return true;
}

#endif
