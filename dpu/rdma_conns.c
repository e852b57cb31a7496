/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma_conns.h"

#include <stdlib.h>

#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "common/memlock.h"
#include "log.h"

struct rdma_conn {
	struct rdma_conn *next;
	const void *owner; /* NULL: to be destroyed */
	struct doca_rdma *rdma;
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
			 const void **answer, size_t *answer_len, struct dpumap_fault *fault)
{
	struct doca_rdma_connection *connection;
	doca_error_t result;

	result = doca_rdma_export(rdma, answer, answer_len, &connection);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_locking(fault, result, 0, "cannot create an RDMA connection");
	result = doca_rdma_connect(rdma, details, len, connection);
	if (result == DOCA_ERROR_CONNECTION_ABORTED)
		return dpumap_fault_set(fault, DOCA_ERROR_DRIVER,
					"cannot connect to the client's queue pair: the client's "
					"connection details are malformed or from another network, "
					"or the device failed");
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result,
					 "cannot connect to the client's queue pair");
	return DOCA_SUCCESS;
}

static bool end(struct doca_rdma *rdma)
{
	doca_error_t result = doca_ctx_stop(doca_rdma_as_ctx(rdma));

	if (result == DOCA_SUCCESS)
		result = doca_rdma_destroy(rdma);
	if (result != DOCA_SUCCESS)
		log_line("cannot destroy an RDMA connection: %s", doca_error_get_descr(result));
	return result == DOCA_SUCCESS;
}

static doca_error_t make(struct rdma_conns *conns, struct doca_dev *dev, uint32_t access,
			 struct doca_rdma **rdma, struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!conns->pe)
		result = doca_pe_create(&conns->pe);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_create(dev, rdma);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_locking(fault, result, 0, "cannot create an RDMA connection");
	result = set_up(conns, *rdma, access);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_locking(fault, result, 0, "cannot start an RDMA connection");
	return DOCA_SUCCESS;
}

doca_error_t rdma_conns_add(struct rdma_conns *conns, struct doca_dev *dev, uint32_t access,
			    const void *owner, const void *details, size_t len, const void **answer,
			    size_t *answer_len, struct dpumap_fault *fault)
{
	struct rdma_conn *conn = calloc(1, sizeof(*conn));
	doca_error_t result;

	if (!conn)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY,
					"no memory for an RDMA connection");
	result = make(conns, dev, access, &conn->rdma, fault);
	if (result == DOCA_SUCCESS)
		result = join(conn->rdma, details, len, answer, answer_len, fault);
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
