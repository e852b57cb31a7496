/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completion queues. */
#ifndef DPUMAP_DEVICE_QUEUE_CQ_H
#define DPUMAP_DEVICE_QUEUE_CQ_H

#include <infiniband/verbs.h>

#include "device/queue/events.h"

struct dpumap_domain;

struct dpumap_cq_attr {
	const struct dpumap_domain *domain;
	uint32_t depth;
	struct dpumap_events *events; /* NULL if the queue is only polled */
	uint32_t vector;
	uint32_t *num_events; /* counts the events that were read */
};

doca_error_t dpumap_cq_create(const struct dpumap_cq_attr *attr, struct ibv_cq **cq);

#endif
