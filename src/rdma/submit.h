/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Submission of tasks: each becomes a work request, or waits until the queue of its connection has room. */
#ifndef DPUMAP_RDMA_SUBMIT_H
#define DPUMAP_RDMA_SUBMIT_H

#include "rdma/rdma.h"

/* Operations of the context. */
doca_error_t dpumap_rdma_task_submit(struct doca_task *task, uint32_t flags);
void dpumap_rdma_flush(struct doca_ctx *ctx);

/* Post a task, whatever its kind. On failure it completes with the error. */
void dpumap_rdma_execute(struct doca_rdma *rdma, struct rdma_task *task);
/* Post the tasks that wait for room in queues. To be called after completions. */
void dpumap_rdma_post_waiting(struct doca_rdma *rdma);

#endif
