/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fields of the queue pair of a connection of an RDMA context. */
#ifndef DPUMAP_DEVICE_QUEUE_RDMA_QP_PRIV_H
#define DPUMAP_DEVICE_QUEUE_RDMA_QP_PRIV_H

#include <infiniband/verbs.h>

#include "device/queue/rdma_qp.h"
#include "device/queue/rdma_queue_priv.h"
#include "device/queue/rdma_sq.h"

struct dpumap_rdma_qp {
	struct dpumap_rdma_queue *queue;
	struct ibv_qp *qp;
	struct dpumap_rdma_sq sq; /* if the queue is mapped */
	void *owner;
	uint32_t qpn;
	uint64_t id; /* of its work requests, with their numbers */
	uint32_t depth;
	uint32_t posted;    /* number of the next work request */
	uint32_t completed; /* work requests */
	bool is_dirty;	    /* posted to since the last doorbell: in the queue's list */
	bool failed;	    /* only flushes */
	bool has_flushed;   /* a work request failed: those after it do too */
	bool lost;	    /* the work requests from number `lost_from` will not complete */
	uint32_t lost_from;
	uint16_t index;
	struct dpumap_rdma_qp *next_dirty;
	struct dpumap_rdma_qp *next_of_number; /* in the queue's table */

	struct dpumap_rc_end end;
	struct ibv_port_attr port;
	unsigned int access; /* enum ibv_access_flags */
	uint8_t log_mtu, sl, rnr_retry;
};

static inline bool dpumap_rdma_qp_has_room(const struct dpumap_rdma_qp *qp)
{
	return qp->posted - qp->completed < qp->depth && qp->queue->sends < qp->queue->num_sends;
}

static inline void dpumap_rdma_qp_note_posted(struct dpumap_rdma_qp *qp)
{
	struct dpumap_rdma_queue *queue = qp->queue;

	if (!qp->is_dirty) {
		qp->is_dirty = true;
		qp->next_dirty = queue->dirty;
		queue->dirty = qp;
	}
	qp->posted++;
	queue->sends++;
}

/* Ring the doorbell. */
void dpumap_rdma_qp_flush(struct dpumap_rdma_qp *qp);

#endif
