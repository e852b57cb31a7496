/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fields of the queue of an RDMA context, which its queue pairs use. */
#ifndef DPUMAP_DEVICE_QUEUE_RDMA_QUEUE_PRIV_H
#define DPUMAP_DEVICE_QUEUE_RDMA_QUEUE_PRIV_H

#include <infiniband/verbs.h>

#include <infiniband/mlx5dv.h>

#include "device/queue/cq_ring.h"
#include "device/queue/rdma_queue.h"
#include "device/queue/send_queue.h"
#include "device/queue/srq_ring.h"

struct dpumap_rdma_qp;

/* A receive that is posted, or free. */
struct rdma_receive {
	void *cookie;
	uint32_t number;
	uint32_t next; /* while it is free */
	bool posted;
};

struct dpumap_rdma_queue {
	struct dpumap_device *device;
	struct ibv_cq *cq;
	struct ibv_srq *srq; /* NULL if nothing is received */
	uint32_t num_events; /* completion events that were read */
	bool failed;	     /* the completion queue does not work */
	bool stopped;

	/* On mlx5 the queues are read and written in their memory (rdma_map.h), else by verbs. */
	bool is_mapped;
	bool is_fast; /* mapped, and whatever there is to poll is in the ring */
	struct dpumap_cq_ring ring;
	struct dpumap_srq_ring srq_ring;

	uint32_t num_sends, sends; /* work requests: limit, and in flight */

	struct rdma_receive *receives; /* if mapped, one for each place in the ring */
	uint32_t size_recvs;	       /* of that array */
	uint32_t num_recvs, recvs;     /* receives: limit, and posted */
	uint32_t free_recv;	       /* if not mapped; num_recvs: none */
	uint32_t recv_number;	       /* of the next receive */
	uint32_t *order;	       /* after stop: receives to return, the last posted first */
	uint32_t left;		       /* of them */

	struct dpumap_rdma_qp **qps; /* by their index */
	struct dpumap_rdma_qp **by_number;
	uint32_t number_mask;
	uint16_t max_qps;
	uint16_t generation;
	struct dpumap_rdma_qp *dirty; /* with work requests since the last doorbell */
	uint32_t num_lost;	      /* queue pairs whose last work requests will not complete */

	/* Taken from the device while a queue pair was destroyed. */
	struct dpumap_rdma_done *taken;
	uint32_t first_taken, num_taken;
};

/* For a mapped queue; there must be room. Returns the place of the receive. */
static inline uint32_t dpumap_rdma_queue_put_receive(struct dpumap_rdma_queue *queue,
						     const struct dpumap_rdma_piece *pieces,
						     uint32_t num_pieces)
{
	struct dpumap_srq_ring *ring = &queue->srq_ring;
	uint16_t index = ring->head;
	uint8_t *wqe = (uint8_t *)dpumap_srq_ring_wqe(ring, index);
	struct dpumap_wqe_data *seg = (void *)(wqe + sizeof(struct mlx5_wqe_srq_next_seg));

	for (uint32_t i = 0; i < num_pieces; i++, seg++)
		*seg = (struct dpumap_wqe_data){
			.len = htobe32(pieces[i].len),
			.key = htobe32(pieces[i].key),
			.addr = htobe64(pieces[i].addr),
		};
	/* The end of the list. */
	if ((uint8_t *)seg < wqe + ring->stride)
		*seg = (struct dpumap_wqe_data){.key = htobe32(MLX5_INVALID_LKEY)};
	dpumap_srq_ring_post(ring);
	return index;
}

static inline void dpumap_rdma_queue_note_receive(struct dpumap_rdma_queue *queue, uint32_t index,
						  void *cookie)
{
	struct rdma_receive *receive = &queue->receives[index];

	receive->cookie = cookie;
	receive->number = queue->recv_number++;
	receive->posted = true;
	queue->recvs++;
}

/*
 * Take over what the device has completed, before and after a queue pair is destroyed: none of its
 * completions is left when it is removed.
 */
void dpumap_rdma_queue_take(struct dpumap_rdma_queue *queue);
doca_error_t dpumap_rdma_queue_add(struct dpumap_rdma_queue *queue, struct dpumap_rdma_qp *qp);
void dpumap_rdma_queue_remove(struct dpumap_rdma_queue *queue, struct dpumap_rdma_qp *qp);

/* Log and ignore a completion of what is completed. */
void dpumap_rdma_queue_drop(const struct dpumap_rdma_queue *queue);

#endif
