/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completions of RDMA contexts, for both ways to read them: by verbs, and in memory. */
#ifndef DPUMAP_DEVICE_QUEUE_RDMA_TAKE_H
#define DPUMAP_DEVICE_QUEUE_RDMA_TAKE_H

#include "device/queue/rdma_qp_priv.h"
#include "device/queue/rdma_queue_priv.h"

/* NULL if there is none. */
static inline struct dpumap_rdma_qp *dpumap_rdma_take_qp(const struct dpumap_rdma_queue *queue,
							 uint32_t qpn)
{
	struct dpumap_rdma_qp *qp = queue->by_number[qpn & queue->number_mask];

	while (qp && qp->qpn != qpn)
		qp = qp->next_of_number;
	return qp;
}

/* Complete work up to that number; false if it is not in flight. */
static inline bool dpumap_rdma_take_send(struct dpumap_rdma_queue *queue, struct dpumap_rdma_qp *qp,
					 uint32_t number, struct dpumap_rdma_done *done)
{
	if (doca_unlikely(number - qp->completed >= qp->posted - qp->completed))
		return false;
	queue->sends -= number + 1 - qp->completed;
	qp->completed = number + 1;
	done->owner = qp->owner;
	done->is_receive = false;
	done->number = number;
	done->before = doca_unlikely(qp->has_flushed) ? DOCA_ERROR_SHUTDOWN : DOCA_SUCCESS;
	done->status = DOCA_SUCCESS;
	return true;
}

/* Complete a receive; false if it is not posted. qp may be NULL. */
static inline bool dpumap_rdma_take_receive(struct dpumap_rdma_queue *queue,
					    const struct dpumap_rdma_qp *qp, uint32_t index,
					    struct dpumap_rdma_done *done)
{
	struct rdma_receive *receive = &queue->receives[index];

	if (doca_unlikely(index >= queue->size_recvs || !receive->posted))
		return false;
	receive->posted = false;
	queue->recvs--;
	done->owner = qp ? qp->owner : NULL;
	done->is_receive = true;
	done->cookie = receive->cookie;
	done->status = DOCA_SUCCESS;
	return true;
}

#endif
