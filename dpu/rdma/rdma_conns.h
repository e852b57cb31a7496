/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The RDMA connections of clients to one export: the queue pairs on the DPU. Through them, clients
 * reach what is registered with the same device, which is the export and nothing else.
 */
#ifndef DPUMAPD_RDMA_CONNS_H
#define DPUMAPD_RDMA_CONNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_dev.h>

#include "local/error.h"

struct rdma_conn;
struct rdma_cm_id;
struct doca_pe;

/* All zero: no connection. */
struct rdma_conns {
	struct doca_pe *pe; /* of all of them */
	struct rdma_conn *first;
};

/*
 * Connects the client that owner identifies to the queue pair that its details describe. answer is
 * the details of this end, valid until the connection is dropped. access is what the client may do,
 * a mask of enum doca_access_flag. INVALID_VALUE for malformed details.
 */
doca_error_t rdma_conns_add(struct rdma_conns *conns, struct doca_dev *dev, uint32_t access,
			    const void *owner, const void *details, size_t len, const void **answer,
			    size_t *answer_len, struct dpumap_error *error);
/*
 * Accepts the request of a client that connects by address. Takes the request over, also on failure:
 * then it is rejected. The connection's events go to rdma_conn_establish() and rdma_conn_end().
 */
doca_error_t rdma_conns_accept(struct rdma_conns *conns, struct doca_dev *dev, uint32_t access,
			       const void *owner, uint64_t export, struct rdma_cm_id *request,
			       struct dpumap_error *error);
void rdma_conn_establish(struct rdma_conn *conn);
/* Drops the connection, which the client ended. Returns its owner. */
const void *rdma_conn_end(struct rdma_conn *conn, uint64_t *export);
/*
 * Drops the owner's connections. One that cannot be destroyed now permits nothing any more and is
 * destroyed by a later call.
 */
void rdma_conns_drop(struct rdma_conns *conns, const void *owner);
/* False when a connection remains: the device must not be closed. */
bool rdma_conns_drop_all(struct rdma_conns *conns);

#endif
