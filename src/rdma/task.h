/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completion of the tasks of doca_rdma. */
#ifndef DPUMAP_RDMA_TASK_H
#define DPUMAP_RDMA_TASK_H

#include "rdma/rdma.h"

/* Operations of the context. */
void dpumap_rdma_task_complete(struct doca_task *task);
void dpumap_rdma_task_release(struct doca_task *task);
void dpumap_rdma_enter_graph(struct doca_ctx *ctx);

#endif
