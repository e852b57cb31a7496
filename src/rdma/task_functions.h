/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The callbacks of programs for tasks of doca_rdma. */
#ifndef DPUMAP_RDMA_TASK_FUNCTIONS_H
#define DPUMAP_RDMA_TASK_FUNCTIONS_H

#include "rdma/rdma.h"

/* Call what dpumap_rdma_configure() was given, as the type that it has. */
void dpumap_rdma_call(struct rdma_task *task, rdma_callback *callback);

#endif
