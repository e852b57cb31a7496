/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections by address, by the connection manager of the system (device/cm/cm.h). A context has a
 * manager from its first listener or connection by address on.
 */
#ifndef DPUMAP_RDMA_MANAGER_H
#define DPUMAP_RDMA_MANAGER_H

#include "rdma/rdma.h"

/* Create the manager unless the context has one. */
doca_error_t dpumap_rdma_manager_open(struct doca_rdma *rdma);
/* Destroy the listeners and the manager; its connections have ended. */
void dpumap_rdma_manager_close(struct doca_rdma *rdma);

/*
 * Whether to poll the events of the manager, which takes a system call: a poll is due when the clock has
 * moved, and overdue after many calls.
 */
bool dpumap_rdma_manager_is_due(struct doca_rdma *rdma);
bool dpumap_rdma_manager_is_overdue(struct doca_rdma *rdma);
/* Handle one event; true if a callback ran, which may have destroyed the context. */
bool dpumap_rdma_manager_progress(struct doca_rdma *rdma);

/* Connections of the bridge and of requests. */
doca_error_t dpumap_rdma_manager_accept(struct doca_rdma_connection *connection, const void *data,
					uint8_t len);

/*
 * Report to the program that a connection is established. Without effect if that has been reported, if the
 * program handles the events of the connection, or for NULL.
 */
void dpumap_rdma_manager_established(struct doca_rdma_connection *connection);

#endif
