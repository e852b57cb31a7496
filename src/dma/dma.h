/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_dma: dma.c has the object and its settings, task.c executes its tasks. copy_queue.c is
 * dpumap_dma, a queue of copies without a progress engine.
 *
 * Submitted tasks are in a list. Work requests are posted in the order of the list, and the device
 * completes them in that order. So a task is finished when as many work requests are completed as
 * had been posted by its last. A task that cannot be posted keeps its place in the list, with its
 * status set. Work requests for which the queue has no room are posted later.
 *
 * On a device with a DMA engine, work requests are written straight to the send queue
 * (device/queue/send_queue.h).
 */
#ifndef DPUMAP_DMA_DMA_H
#define DPUMAP_DMA_DMA_H

#include <doca_dma.h>

#include "core/buf/list.h"
#include "core/pe/task_pool.h"
#include "device/queue/queue.h"
#include "device/queue/send_queue.h"

struct doca_dma_task_memcpy {
	struct doca_task base;
	const struct doca_buf *src;
	struct doca_buf *dst;
	size_t len;
	size_t unposted;		     /* bytes of len */
	uint32_t end;			     /* number of work requests posted up to its last */
	struct dpumap_buf_position from, to; /* of the bytes to post next */
};

struct doca_dma {
	struct doca_ctx ctx;
	doca_dma_task_memcpy_completion_cb_t success_cb, error_cb;
	doca_dma_task_memcpy_completion_cb_t user_success_cb; /* success_cb, or called by it */
	struct task_pool pool;
	uint8_t ordered;

	struct dpumap_queue *queue; /* this and the following while the context is not IDLE */
	struct dpumap_sq *sq;	    /* NULL without a DMA engine */
	struct dpumap_events *events;
	uint64_t max_len;
	uint64_t fast_max_len; /* limit of the fast path through submit; 0 while it is closed */
	uint32_t posted;       /* work requests, if sq is NULL */
	uint32_t completed;
	bool failed; /* a work request failed */
	struct task_list submitted;
	struct doca_dma_task_memcpy *waiting; /* the first that is not posted in full */
};

/* Tasks of doca_dma. */

/* Operations of the context. */
doca_error_t dpumap_dma_task_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_dma_task_check(const struct doca_task *task);
bool dpumap_dma_task_progress(struct doca_ctx *ctx);
void dpumap_dma_task_complete(struct doca_task *task);
void dpumap_dma_enter_graph(struct doca_ctx *ctx);
void dpumap_dma_flush(struct doca_ctx *ctx);
bool dpumap_dma_is_ready(struct doca_ctx *ctx);

#endif
