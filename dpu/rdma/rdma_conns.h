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

struct cm_listener;
struct rdma_conn;
struct rdma_cm_id;
struct doca_pe;

/* All zero: no connection. */
struct rdma_conns {
	struct doca_pe *pe; /* of all of them */
	struct rdma_conn *first;
};

/* The details of a queue pair, for its peer. */
struct rdma_details {
	const void *data;
	size_t len;
};

/*
 * Connects the client that owner identifies to the queue pair that its details describe. access is what the
 * client may do, a mask of enum doca_access_flag. AGAIN: a search for the client's address runs, and
 * rdma_conn_searched() ends it; then comes rdma_conns_finish(). Until that, the owner adds no other one.
 * answer is the details of this end, valid until the connection is dropped. DRIVER for malformed details.
 */
doca_error_t rdma_conns_add(struct rdma_conns *conns, struct doca_dev *dev, uint32_t access,
			    const void *owner, const struct rdma_details *details,
			    struct cm_listener *cm, struct rdma_details *answer,
			    struct dpumap_error *error);
/* Returns the owner; NULL: the connection was dropped. */
const void *rdma_conn_searched(struct rdma_conn *conn, bool is_found);
/* On failure the connection is dropped. */
doca_error_t rdma_conns_finish(struct rdma_conns *conns, const void *owner,
			       struct rdma_details *answer, struct dpumap_error *error);
/*
 * Accepts the request of a client that connects by address. Takes the request over, also on failure:
 * then it is rejected. AGAIN: a search for the client's address runs; after rdma_conn_searched() comes
 * rdma_conn_accept(). The connection's events go to rdma_conn_establish() and rdma_conn_end().
 */
doca_error_t rdma_conns_accept(struct rdma_conns *conns, struct doca_dev *dev, uint32_t access,
			       const void *owner, uint64_t export, struct rdma_cm_id *request,
			       struct cm_listener *cm, struct dpumap_error *error);
/* The request of a connection by address that is not accepted yet, and its export; NULL: none. */
struct rdma_cm_id *rdma_conn_request(const struct rdma_conn *conn, uint64_t *export);
/* On failure the connection is dropped. */
doca_error_t rdma_conn_accept(struct rdma_conn *conn, struct dpumap_error *error);
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
