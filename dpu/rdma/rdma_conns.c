/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/rdma/rdma_conns.h"

#include <stdlib.h>

#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "common/memlock.h"
#include "dpu/base/log.h"
#include "dpu/rdma/cm_listener.h"

struct rdma_conn {
	struct rdma_conn *next;
	const void *owner; /* NULL: to be destroyed */
	struct doca_rdma *rdma;
	/* By address: */
	struct rdma_conns *conns;
	struct doca_rdma_connection *connection;
	uint64_t export; /* its id */
};

static doca_error_t set_up(const struct rdma_conns *conns, struct doca_rdma *rdma, uint32_t access)
{
	struct doca_ctx *ctx = doca_rdma_as_ctx(rdma);
	doca_error_t result = doca_pe_connect_ctx(conns->pe, ctx);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_set_permissions(rdma, access);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_ERROR_NOT_CONNECTED : result;
}

static doca_error_t join(struct doca_rdma *rdma, const void *details, size_t len,
			 const void **answer, size_t *answer_len, struct dpumap_error *error)
{
	struct doca_rdma_connection *connection;
	doca_error_t result;

	result = doca_rdma_export(rdma, answer, answer_len, &connection);
	if (result != DOCA_SUCCESS)
		return dpumap_error_locking(error, result, 0, "cannot create an RDMA connection");
	result = doca_rdma_connect(rdma, details, len, connection);
	if (result == DOCA_ERROR_CONNECTION_ABORTED)
		return dpumap_error_set(error, DOCA_ERROR_DRIVER,
					"cannot connect to the client's queue pair: the client's "
					"connection details are malformed or from another network, "
					"or the device failed");
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result,
					 "cannot connect to the client's queue pair");
	return DOCA_SUCCESS;
}

static bool end(struct doca_rdma *rdma)
{
	doca_error_t result = doca_ctx_stop(doca_rdma_as_ctx(rdma));

	if (result == DOCA_SUCCESS)
		result = doca_rdma_destroy(rdma);
	if (result != DOCA_SUCCESS)
		log_from(DPUMAP_LINE_ERROR, "RDMA connections",
			 "cannot destroy an RDMA connection: %s", doca_error_get_descr(result));
	return result == DOCA_SUCCESS;
}

static doca_error_t make(struct rdma_conns *conns, struct doca_dev *dev, uint32_t access,
			 struct doca_rdma **rdma, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!conns->pe)
		result = doca_pe_create(&conns->pe);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_create(dev, rdma);
	if (result != DOCA_SUCCESS)
		return dpumap_error_locking(error, result, 0, "cannot create an RDMA connection");
	result = set_up(conns, *rdma, access);
	if (result != DOCA_SUCCESS)
		return dpumap_error_locking(error, result, 0, "cannot start an RDMA connection");
	return DOCA_SUCCESS;
}

static doca_error_t new_conn(struct rdma_conn **conn, struct dpumap_error *error)
{
	*conn = calloc(1, sizeof(**conn));
	if (*conn)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for an RDMA connection");
}

/* Keeps a connection that works, and one that cannot be destroyed. */
static doca_error_t keep(struct rdma_conns *conns, struct rdma_conn *conn, const void *owner,
			 doca_error_t result)
{
	if (result == DOCA_SUCCESS)
		conn->owner = owner;
	else if (!conn->rdma || end(conn->rdma)) {
		free(conn);
		return result;
	}
	conn->next = conns->first;
	conns->first = conn;
	return result;
}

doca_error_t rdma_conns_add(struct rdma_conns *conns, struct doca_dev *dev, uint32_t access,
			    const void *owner, const void *details, size_t len, const void **answer,
			    size_t *answer_len, struct dpumap_error *error)
{
	struct rdma_conn *conn;
	doca_error_t result = new_conn(&conn, error);

	if (result != DOCA_SUCCESS)
		return result;
	result = make(conns, dev, access, &conn->rdma, error);
	if (result == DOCA_SUCCESS)
		result = join(conn->rdma, details, len, answer, answer_len, error);
	return keep(conns, conn, owner, result);
}

static doca_error_t accept_request(struct rdma_conn *conn, struct rdma_cm_id *request,
				   struct dpumap_error *error)
{
	doca_error_t result =
		doca_rdma_bridge_prepare_connection(conn->rdma, request, &conn->connection);

	if (result != DOCA_SUCCESS) {
		cm_listener_reject(request);
		return dpumap_error_locking(error, result, 0, "cannot create an RDMA connection");
	}
	cm_listener_follow(request, conn);
	result = doca_rdma_bridge_accept(conn->rdma, NULL, 0, conn->connection);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result,
					 "cannot connect to the client's queue pair");
	return DOCA_SUCCESS;
}

doca_error_t rdma_conns_accept(struct rdma_conns *conns, struct doca_dev *dev, uint32_t access,
			       const void *owner, uint64_t export, struct rdma_cm_id *request,
			       struct dpumap_error *error)
{
	struct rdma_conn *conn = NULL;
	doca_error_t result = new_conn(&conn, error);

	if (result == DOCA_SUCCESS)
		result = make(conns, dev, access, &conn->rdma, error);
	if (result == DOCA_SUCCESS)
		result = accept_request(conn, request, error);
	else
		cm_listener_reject(request);
	if (!conn)
		return result;
	conn->conns = conns;
	conn->export = export;
	return keep(conns, conn, owner, result);
}

void rdma_conn_establish(struct rdma_conn *conn)
{
	doca_error_t result = doca_rdma_bridge_established(conn->rdma, conn->connection);

	if (result != DOCA_SUCCESS)
		log_from(DPUMAP_LINE_ERROR, "RDMA connections",
			 "cannot establish an RDMA connection: %s", doca_error_get_descr(result));
}

/* Destroys the connections without owner; false when one cannot be destroyed. */
static bool sweep(struct rdma_conns *conns)
{
	struct rdma_conn **at = &conns->first, *conn;
	bool all_gone = true;

	while ((conn = *at)) {
		if (conn->owner || !end(conn->rdma)) {
			all_gone = all_gone && conn->owner;
			at = &conn->next;
			continue;
		}
		*at = conn->next;
		free(conn);
	}
	return all_gone;
}

const void *rdma_conn_end(struct rdma_conn *conn, uint64_t *export)
{
	const void *owner = conn->owner;

	*export = conn->export;
	conn->owner = NULL;
	sweep(conn->conns);
	return owner;
}

void rdma_conns_drop(struct rdma_conns *conns, const void *owner)
{
	for (struct rdma_conn *conn = conns->first; conn; conn = conn->next)
		if (conn->owner == owner)
			conn->owner = NULL;
	sweep(conns);
}

bool rdma_conns_drop_all(struct rdma_conns *conns)
{
	for (struct rdma_conn *conn = conns->first; conn; conn = conn->next)
		conn->owner = NULL;
	if (!sweep(conns))
		return false;
	if (conns->pe)
		doca_pe_destroy(conns->pe);
	conns->pe = NULL;
	return true;
}
