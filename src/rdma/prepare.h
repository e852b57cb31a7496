/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checking of tasks: which bytes they move, and whether they may. */
#ifndef DPUMAP_RDMA_PREPARE_H
#define DPUMAP_RDMA_PREPARE_H

#include "rdma/rdma.h"

/* Set what is to be posted. On failure the task must not be posted; logged. */
doca_error_t dpumap_rdma_prepare(struct rdma_task *task);

/* How many bufs its local list may have; at most DPUMAP_MAX_LIST_LEN. */
static inline uint32_t dpumap_rdma_max_list(const struct rdma_task *task)
{
	const struct rdma_settings *settings = &dpumap_rdma_of(task->base.ctx)->settings;

	return task->kind == RDMA_RECEIVE ? settings->max_receive_list : settings->max_send_list;
}

/* Whether the local bytes are the data of a source, or else the room of a destination. */
static inline bool dpumap_rdma_sends_data(enum rdma_kind kind)
{
	return kind == RDMA_SEND || kind == RDMA_SEND_IMM || kind == RDMA_WRITE ||
	       kind == RDMA_WRITE_IMM || kind == RDMA_EVENT_SET;
}

/* An operation of the context: the same, and whether the device can reach the local bytes. */
doca_error_t dpumap_rdma_task_check(const struct doca_task *task);

#endif
