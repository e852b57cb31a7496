/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The end of connections and of contexts, whose unfinished tasks are flushed. */
#ifndef DPUMAP_RDMA_STOP_H
#define DPUMAP_RDMA_STOP_H

#include "rdma/rdma.h"

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
void dpumap_rdma_begin_stop(struct doca_rdma *rdma);
/* Flush the receives if tasks of connections have finished, or their seconds are over. */
void dpumap_rdma_continue_stop(struct doca_rdma *rdma);
/* The last task of a connection has finished, and only receives are left. */
bool dpumap_rdma_is_to_end(const struct doca_rdma *rdma);

/*
 * End the device's access to memory at once, and all queue pairs. Then destroy the queue. On failure
 * call again.
 */
doca_error_t dpumap_rdma_close_queue(struct doca_rdma *rdma);

#endif
