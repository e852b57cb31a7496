/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tasks of doca_dma. */
#ifndef DPUMAP_DMA_TASK_H
#define DPUMAP_DMA_TASK_H

#include "dma/dma.h"

/* Operations of the context. */
doca_error_t dpumap_dma_task_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_dma_task_check(const struct doca_task *task);
bool dpumap_dma_task_progress(struct doca_ctx *ctx);
void dpumap_dma_task_complete(struct doca_task *task);
void dpumap_dma_enter_graph(struct doca_ctx *ctx);
void dpumap_dma_flush(struct doca_ctx *ctx);
bool dpumap_dma_is_ready(struct doca_ctx *ctx);

#endif
