/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The verbs objects of a queue. */
#ifndef DPUMAP_DEVICE_QUEUE_QUEUE_PRIV_H
#define DPUMAP_DEVICE_QUEUE_QUEUE_PRIV_H

#include <infiniband/verbs.h>

#include "device/queue/queue.h"

struct ibv_qp *dpumap_queue_qp(const struct dpumap_queue *queue);
/* *num_events counts the queue's completion events that were read. */
struct ibv_cq *dpumap_queue_cq(const struct dpumap_queue *queue, const uint32_t **num_events);
const struct dpumap_device *dpumap_queue_device(const struct dpumap_queue *queue);
uint32_t dpumap_queue_depth(const struct dpumap_queue *queue);

#endif
