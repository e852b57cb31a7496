/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fields of the queue of an RDMA context, which its queue pairs use. */
#ifndef DPUMAP_DEVICE_QUEUE_RDMA_QUEUE_PRIV_H
#define DPUMAP_DEVICE_QUEUE_RDMA_QUEUE_PRIV_H

#include <infiniband/verbs.h>

#include "device/queue/rdma_queue.h"

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

	uint32_t num_sends, sends; /* work requests: limit, and in flight */

	struct rdma_receive *receives;
	uint32_t num_recvs;
	uint32_t free_recv;   /* num_recvs: none */
	uint32_t recv_number; /* of the next receive */
	uint32_t *order;      /* after stop: receives to return, the last posted first */
	uint32_t left;	      /* of them */

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

/* Take over what the device has completed: it forgets the completions of a destroyed queue pair. */
void dpumap_rdma_queue_take(struct dpumap_rdma_queue *queue);
doca_error_t dpumap_rdma_queue_add(struct dpumap_rdma_queue *queue, struct dpumap_rdma_qp *qp);
void dpumap_rdma_queue_remove(struct dpumap_rdma_queue *queue, struct dpumap_rdma_qp *qp);

#endif
