/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The completion queue and the shared receive queue of an RDMA context, in the memory that an mlx5 device
 * reads and writes: without locks, for one thread.
 */
#ifndef DPUMAP_DEVICE_QUEUE_RDMA_MAP_H
#define DPUMAP_DEVICE_QUEUE_RDMA_MAP_H

#include <infiniband/mlx5dv.h>

#include "device/queue/rdma_queue.h"

/* Take over the queues, which were created. Logged. */
doca_error_t dpumap_rdma_map(struct dpumap_rdma_queue *queue);
/* As dpumap_rdma_queue_poll(). Returns how many. */
uint32_t dpumap_rdma_map_poll(struct dpumap_rdma_queue *queue, struct dpumap_rdma_done *done,
			      uint32_t max);
/* The status of what an error CQE completes. Logged. */
doca_error_t dpumap_rdma_map_failure(const struct dpumap_rdma_queue *queue,
				     const struct mlx5_cqe64 *cqe, bool is_receive);

#endif
