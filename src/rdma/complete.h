/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completion of tasks: what the device has completed becomes finished tasks, whose callbacks progress runs. */
#ifndef DPUMAP_RDMA_COMPLETE_H
#define DPUMAP_RDMA_COMPLETE_H

#include "rdma/rdma.h"

/* Operations of the context. */
struct doca_task *dpumap_rdma_task_poll(struct doca_ctx *ctx);
/* As dpumap_ctx_progress(), if the context is_usual. */
bool dpumap_rdma_task_progress(struct doca_ctx *ctx);
doca_error_t dpumap_rdma_arm(struct doca_ctx *ctx);
bool dpumap_rdma_is_ready(struct doca_ctx *ctx);

/* Take all completions that the device has written. Callbacks run in progress. */
void dpumap_rdma_take_completions(struct doca_rdma *rdma);

#endif
