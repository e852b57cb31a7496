/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Execution of the tasks of doca_rdma. */
#ifndef DPUMAP_RDMA_POST_H
#define DPUMAP_RDMA_POST_H

#include "rdma/rdma.h"

/* Create the queue of a context that starts; destroy it when no task is allocated any more. */
doca_error_t dpumap_rdma_open_queue(struct doca_rdma *rdma);
/* Of the queue: how many work requests, and pieces in each, one connection has at a time. */
uint32_t dpumap_rdma_queue_depth(const struct doca_rdma *rdma);

/*
 * Destroy the queue pair of a connection; without effect if it has none. Its unfinished tasks end with
 * DOCA_ERROR_SHUTDOWN, in order, after those that the device has completed; their callbacks run in
 * progress. On failure call again.
 */
doca_error_t dpumap_rdma_end_connection(struct doca_rdma_connection *connection);

/*
 * From now on progress lets tasks finish: those of connections have some seconds, receives are flushed
 * after them. To be called by begin_stop() of the context.
 */
void dpumap_rdma_wind_down(struct doca_rdma *rdma);
/*
 * End the device's access to memory at once, and all queue pairs. Then destroy the queue. On failure
 * call again.
 */
doca_error_t dpumap_rdma_close_queue(struct doca_rdma *rdma);

/* Operations of the context. */
doca_error_t dpumap_rdma_task_submit(struct doca_task *task, uint32_t flags);
struct doca_task *dpumap_rdma_task_poll(struct doca_ctx *ctx);
/* As dpumap_ctx_progress(), if the context is_usual. */
bool dpumap_rdma_task_progress(struct doca_ctx *ctx);
void dpumap_rdma_flush(struct doca_ctx *ctx);
doca_error_t dpumap_rdma_arm(struct doca_ctx *ctx);
bool dpumap_rdma_is_ready(struct doca_ctx *ctx);

#endif
