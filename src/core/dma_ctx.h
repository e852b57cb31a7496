/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_dma: dma_ctx.c is the object and its settings, dma_task.c executes its tasks.
 *
 * Submitted tasks wait in a list. The device completes work requests in the order in which they
 * were posted, and they are posted in the order of the list: how many were posted by the end of a
 * task and how many are completed tells whether it ended. A task that cannot be posted keeps its
 * place in the list, its status set. What the queue has no room for is posted when there is some
 * again.
 *
 * On a device with a DMA engine work requests go by the ring of the queue.
 */
#ifndef DPUMAP_CORE_DMA_CTX_H
#define DPUMAP_CORE_DMA_CTX_H

#include <doca_dma.h>

#include "core/buf_walk.h"
#include "core/ctx.h"
#include "device/queue.h"
#include "device/ring.h"

struct doca_dma_task_memcpy {
	struct doca_task base;
	struct doca_dma_task_memcpy *next; /* in the list of tasks submitted, or free */
	const struct doca_buf *src;
	struct doca_buf *dst;
	size_t len;
	size_t unposted;		  /* bytes of len */
	uint32_t end;			  /* work requests posted by then */
	struct dpumap_buf_place from, to; /* of what is to be posted */
};

struct doca_dma {
	struct doca_ctx ctx;
	doca_dma_task_memcpy_completion_cb_t success_cb, error_cb;
	uint32_t num_tasks; /* 0: not configured */
	uint8_t ordered;

	struct dpumap_queue *queue; /* this and the following while the context is not IDLE */
	struct dpumap_ring *ring;   /* NULL without a DMA engine */
	struct dpumap_events *events;
	uint64_t max_len;
	uint64_t max_short; /* the same for the short way through submit; 0 when that is closed */
	uint32_t posted;    /* work requests, without a ring */
	uint32_t completed;
	bool failed; /* one of them did */
	struct doca_dma_task_memcpy *tasks, *free;
	struct doca_dma_task_memcpy *first, *last; /* submitted */
	struct doca_dma_task_memcpy *waiting;	   /* the first that is not posted in full */
};

extern const struct ctx_ops dpumap_dma_ops;

/* What the operations of dma_task.c are. */
doca_error_t dpumap_dma_task_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_dma_task_check(const struct doca_task *task);
bool dpumap_dma_task_progress(struct doca_ctx *ctx);
void dpumap_dma_task_complete(struct doca_task *task);
void dpumap_dma_flush(struct doca_ctx *ctx);
bool dpumap_dma_is_ready(struct doca_ctx *ctx);

#endif
