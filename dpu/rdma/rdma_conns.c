/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/rdma/rdma_conns.h"

#include <stdlib.h>
#include <string.h>

#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <dpumap/rdma.h>

#include "common/memlock.h"
#include "dpu/base/log.h"
#include "dpu/rdma/cm_listener.h"

struct rdma_conn {
	struct rdma_conn *next;
	const void *owner; /* NULL: to be destroyed */
	struct doca_rdma *rdma;
	struct doca_rdma_connection *connection;
	bool is_pending;	     /* not yet connected */
	bool is_found;		     /* the client's address */
	struct rdma_cm_id *search;   /* for it; NULL: none */
	struct rdma_details answer;  /* borrowed from the connection */
	struct rdma_details details; /* of the client */
	/* By address: */
	struct rdma_conns *conns;
	struct rdma_cm_id *request; /* not accepted yet */
	uint64_t export;	    /* its id */
	uint8_t copy[];		    /* of the details */
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

static doca_error_t no_peer(struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_DRIVER,
				"cannot connect to the client's queue pair: the client's "
				"connection details are malformed or from another network, "
				"or the device failed");
}

static doca_error_t join(struct rdma_conn *conn, struct dpumap_error *error)
{
	doca_error_t result = doca_rdma_connect(conn->rdma, conn->details.data, conn->details.len,
						conn->connection);

	conn->is_pending = false;
	if (result == DOCA_ERROR_CONNECTION_ABORTED)
		return no_peer(error);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result,
					 "cannot connect to the client's queue pair");
	return DOCA_SUCCESS;
}

/* AGAIN: a search for the client's address runs. */
static doca_error_t begin(struct rdma_conn *conn, struct cm_listener *cm,
			  struct dpumap_error *error)
{
	struct sockaddr_storage own, peer;
	doca_error_t result = doca_rdma_export(conn->rdma, &conn->answer.data, &conn->answer.len,
					       &conn->connection);

	if (result != DOCA_SUCCESS)
		return dpumap_error_locking(error, result, 0, "cannot create an RDMA connection");
	result = dpumap_rdma_connection_get_ips(conn->connection, conn->details.data,
						conn->details.len, &own, &peer);
	if (result == DOCA_ERROR_NOT_SUPPORTED)
		return join(conn, error);
	if (result != DOCA_SUCCESS)
		return no_peer(error);
	result = cm_listener_search(cm, &own, &peer, conn, &conn->search, error);
	conn->is_pending = result == DOCA_SUCCESS;
	return result == DOCA_SUCCESS ? DOCA_ERROR_AGAIN : result;
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

static doca_error_t new_conn(size_t details_len, struct rdma_conn **conn,
			     struct dpumap_error *error)
{
	*conn = calloc(1, sizeof(**conn) + details_len);
	if (*conn)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for an RDMA connection");
}

/* Keeps a connection that works, and one that cannot be destroyed. */
static doca_error_t keep(struct rdma_conns *conns, struct rdma_conn *conn, const void *owner,
			 doca_error_t result)
{
	if (result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN)
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
			    const void *owner, const struct rdma_details *details,
			    struct cm_listener *cm, struct rdma_details *answer,
			    struct dpumap_error *error)
{
	struct rdma_conn *conn;
	doca_error_t result = new_conn(details->len, &conn, error);

	if (result != DOCA_SUCCESS)
		return result;
	conn->details = (struct rdma_details){conn->copy, details->len};
	memcpy(conn->copy, details->data, details->len);
	result = make(conns, dev, access, &conn->rdma, error);
	if (result == DOCA_SUCCESS)
		result = begin(conn, cm, error);
	*answer = conn->answer;
	return keep(conns, conn, owner, result);
}

static void end_search(struct rdma_conn *conn)
{
	cm_listener_end_search(conn->search);
	conn->search = NULL;
}

const void *rdma_conn_searched(struct rdma_conn *conn, bool is_found)
{
	end_search(conn);
	conn->is_found = is_found;
	return conn->owner;
}

static doca_error_t accept_now(struct rdma_conn *conn, struct dpumap_error *error)
{
	doca_error_t result = doca_rdma_bridge_accept(conn->rdma, NULL, 0, conn->connection);

	conn->is_pending = false;
	conn->request = NULL;
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result,
					 "cannot connect to the client's queue pair");
	return DOCA_SUCCESS;
}

/* AGAIN: a search for the client's address runs. */
static doca_error_t accept_request(struct rdma_conn *conn, struct rdma_cm_id *request,
				   struct cm_listener *cm, struct dpumap_error *error)
{
	doca_error_t result =
		doca_rdma_bridge_prepare_connection(conn->rdma, request, &conn->connection);

	if (result != DOCA_SUCCESS) {
		cm_listener_reject(request);
		return dpumap_error_locking(error, result, 0, "cannot create an RDMA connection");
	}
	cm_listener_follow(request, conn);
	result = cm_listener_search_client(cm, request, conn, &conn->search, error);
	if (result == DOCA_ERROR_NOT_SUPPORTED)
		return accept_now(conn, error);
	if (result != DOCA_SUCCESS)
		return result;
	conn->is_pending = true;
	conn->request = request;
	return DOCA_ERROR_AGAIN;
}

doca_error_t rdma_conns_accept(struct rdma_conns *conns, struct doca_dev *dev, uint32_t access,
			       const void *owner, uint64_t export, struct rdma_cm_id *request,
			       struct cm_listener *cm, struct dpumap_error *error)
{
	struct rdma_conn *conn = NULL;
	doca_error_t result = new_conn(0, &conn, error);

	if (result == DOCA_SUCCESS)
		result = make(conns, dev, access, &conn->rdma, error);
	if (result == DOCA_SUCCESS)
		result = accept_request(conn, request, cm, error);
	else
		cm_listener_reject(request);
	if (!conn)
		return result;
	conn->conns = conns;
	conn->export = export;
	return keep(conns, conn, owner, result);
}

struct rdma_cm_id *rdma_conn_request(const struct rdma_conn *conn, uint64_t *export)
{
	*export = conn->export;
	return conn->request;
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
		if (!conn->owner)
			end_search(conn);
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

static doca_error_t no_answer(struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_NOT_CONNECTED,
				"cannot connect to the client's queue pair: nothing answers at "
				"its IP address");
}

/* Drops a connection that failed. */
static doca_error_t settle(struct rdma_conns *conns, struct rdma_conn *conn, doca_error_t result)
{
	if (result == DOCA_SUCCESS)
		return result;
	conn->owner = NULL;
	sweep(conns);
	return result;
}

doca_error_t rdma_conn_accept(struct rdma_conn *conn, struct dpumap_error *error)
{
	doca_error_t result = conn->is_found ? accept_now(conn, error) : no_answer(error);

	return settle(conn->conns, conn, result);
}

doca_error_t rdma_conns_finish(struct rdma_conns *conns, const void *owner,
			       struct rdma_details *answer, struct dpumap_error *error)
{
	struct rdma_conn *conn = conns->first;
	doca_error_t result;

	while (conn && (conn->owner != owner || !conn->is_pending || conn->request))
		conn = conn->next;
	if (!conn)
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "the connection has ended");
	result = conn->is_found ? join(conn, error) : no_answer(error);
	*answer = conn->answer;
	return settle(conns, conn, result);
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
