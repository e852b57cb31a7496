/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Execution of the tasks of doca_rdma. */
#ifndef DPUMAP_RDMA_POST_H
#define DPUMAP_RDMA_POST_H

#include "rdma/rdma.h"

/* Operations of the context. */
doca_error_t dpumap_rdma_task_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_rdma_task_check(const struct doca_task *task);
struct doca_task *dpumap_rdma_task_poll(struct doca_ctx *ctx);
void dpumap_rdma_flush(struct doca_ctx *ctx);
bool dpumap_rdma_is_ready(struct doca_ctx *ctx);

#endif
