/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Connections of programs that use librdmacm themselves. */
#include <doca_rdma.h>

#include "device/cm/connect.h"
#include "log/log.h"
#include "rdma/connection.h"
#include "rdma/manager.h"

static doca_error_t adopt(struct doca_rdma *rdma, struct rdma_cm_id *cm_id,
			  struct doca_rdma_connection *c)
{
	doca_error_t result = dpumap_rdma_connection_open(c);

	if (result == DOCA_SUCCESS)
		result = dpumap_cm_adopt(rdma->cm, cm_id, &c->cm_id);
	switch (result) {
	case DOCA_SUCCESS:
	case DOCA_ERROR_NO_MEMORY:
		return result;
	case DOCA_ERROR_INVALID_VALUE:
		return DOCA_ERROR_NOT_SUPPORTED;
	default:
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
}

doca_error_t doca_rdma_bridge_prepare_connection(struct doca_rdma *rdma, struct rdma_cm_id *cm_id,
						 struct doca_rdma_connection **rdma_connection)
{
	struct doca_rdma_connection *created;
	doca_error_t result;

	if (!rdma || !cm_id || !rdma_connection)
		return dpumap_fail_null(__func__);
	result = dpumap_rdma_check_running(rdma, __func__);
	if (result == DOCA_SUCCESS)
		result = dpumap_rdma_manager_open(rdma);
	if (result == DOCA_SUCCESS)
		result = dpumap_rdma_connection_create(rdma, RDMA_REQUESTED, &created);
	if (result != DOCA_SUCCESS)
		return result;
	result = adopt(rdma, cm_id, created);
	if (result != DOCA_SUCCESS) {
		dpumap_rdma_connection_discard(created);
		return result;
	}
	created->is_bridged = true;
	created->reports_end = true;
	*rdma_connection = created;
	return DOCA_SUCCESS;
}

/* A connection of the bridge in this state. */
static doca_error_t check(const struct doca_rdma *rdma, const struct doca_rdma_connection *c,
			  enum rdma_connection_state state, const char *function)
{
	doca_error_t result;

	if (!rdma || !c)
		return dpumap_fail_null(function);
	result = dpumap_rdma_check_running(rdma, function);
	if (result != DOCA_SUCCESS)
		return result;
	if (c->rdma != rdma || !c->is_bridged)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: connection %p is not of the bridge of RDMA context %p",
				   function, (const void *)c, (const void *)rdma);
	if (c->state != state)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: connection %p %s", function,
				   (const void *)c,
				   state == RDMA_REQUESTED ? "was accepted already, or has ended"
							   : "was not accepted, or has ended");
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_bridge_accept(struct doca_rdma *rdma, void *private_data,
				     uint8_t private_data_len,
				     struct doca_rdma_connection *rdma_connection)
{
	doca_error_t result = check(rdma, rdma_connection, RDMA_REQUESTED, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_rdma_manager_accept(rdma_connection, private_data, private_data_len);
}

doca_error_t doca_rdma_bridge_established(struct doca_rdma *rdma,
					  struct doca_rdma_connection *rdma_connection)
{
	doca_error_t result = check(rdma, rdma_connection, RDMA_CONNECTING, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	dpumap_cm_set_established(rdma_connection->cm_id);
	rdma_connection->state = RDMA_CONNECTED;
	return DOCA_SUCCESS;
}
