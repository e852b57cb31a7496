/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The queue that all connections of a context share. */
#ifndef DPUMAP_RDMA_QUEUE_H
#define DPUMAP_RDMA_QUEUE_H

#include "rdma/rdma.h"

/* Create the queue of a context that starts. dpumap_rdma_close_queue() destroys it. */
doca_error_t dpumap_rdma_open_queue(struct doca_rdma *rdma);
/* How many work requests, and pieces in each, one connection has in the queue at a time. */
uint32_t dpumap_rdma_queue_depth(const struct doca_rdma *rdma);

#endif
