/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections of doca_rdma. One that has not ended takes one of the places of the context. The object
 * of one that ended stays for calls that come late: until the context starts again, or many others ended.
 */
#ifndef DPUMAP_RDMA_CONNECTION_H
#define DPUMAP_RDMA_CONNECTION_H

#include "rdma/rdma.h"

doca_error_t dpumap_rdma_check_running(const struct doca_rdma *rdma, const char *function);

/* Create a connection without a queue pair. DOCA_ERROR_FULL: all places are taken. */
doca_error_t dpumap_rdma_connection_create(struct doca_rdma *rdma, enum rdma_connection_state state,
					   struct doca_rdma_connection **connection);
/* Create the queue pair of a connection. */
doca_error_t dpumap_rdma_connection_open(struct doca_rdma_connection *connection);
/* From any state to RDMA_ENDED; tasks in flight are flushed. */
void dpumap_rdma_connection_end(struct doca_rdma_connection *connection);
/* Release the address that the program passed; the program may destroy it again. */
void dpumap_rdma_connection_release_addr(struct doca_rdma_connection *connection);
/* End and free the connection that was created last, which the program never saw. */
void dpumap_rdma_connection_discard(struct doca_rdma_connection *connection);

/* End all connections of a context. On failure call again. */
doca_error_t dpumap_rdma_connections_end(struct doca_rdma *rdma);
/* Free the objects of all connections, those of the last run. */
void dpumap_rdma_connections_free(struct doca_rdma *rdma);

#endif
