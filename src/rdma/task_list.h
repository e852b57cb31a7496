/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How tasks move from the list of their connection to the finished ones of the context. */
#ifndef DPUMAP_RDMA_TASK_LIST_H
#define DPUMAP_RDMA_TASK_LIST_H

#include "rdma/rdma.h"

/* NULL for NULL. */
static inline struct rdma_task *rdma_task_of(struct doca_task *task)
{
	return (struct rdma_task *)task;
}

/* The device does not execute it. It keeps the first failure. */
static inline void rdma_task_fail(struct rdma_task *task, doca_error_t result)
{
	if (task->base.status == DOCA_SUCCESS)
		task->base.status = result;
	task->is_posted = true;
}

static inline bool rdma_task_is_finished(const struct doca_rdma_connection *connection,
					 const struct rdma_task *task)
{
	return task->is_posted && (int32_t)(connection->completed - task->end) >= 0;
}

/* Move the tasks that the device has completed, and failed ones, to the finished ones. */
static inline void rdma_connection_finish(struct doca_rdma_connection *connection)
{
	struct doca_task *first = connection->submitted.first, *last = NULL, *task = first;
	struct doca_rdma *rdma = connection->rdma;

	for (; task && rdma_task_is_finished(connection, rdma_task_of(task)); task = task->next) {
		rdma->num_unended--;
		last = task;
	}
	if (doca_unlikely(!last))
		return;
	connection->submitted.first = task;
	last->next = NULL;
	if (rdma->finished.first)
		rdma->finished.last->next = first;
	else
		rdma->finished.first = first;
	rdma->finished.last = last;
}

#endif
