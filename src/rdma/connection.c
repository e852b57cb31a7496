/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/connection.h"

#include <inttypes.h>
#include <stdlib.h>

#include "log/log.h"
#include "rdma/post.h"

static doca_error_t check_running(const struct doca_rdma *rdma, const char *function)
{
	if (rdma->ctx.state == DOCA_CTX_STATE_RUNNING)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: RDMA context %p is not running", function,
			   (const void *)rdma);
}

static doca_error_t create(struct doca_rdma *rdma, struct doca_rdma_connection **connection)
{
	struct dpumap_rdma_qp_attr attr = {
		.depth = dpumap_rdma_queue_depth(rdma),
		.max_pieces = rdma->settings.max_send_list,
		.access = rdma->settings.access,
		.gid_index = rdma->settings.gid_index,
		.log_mtu = rdma->settings.log_mtu,
		.sl = rdma->settings.service_level,
		.rnr_retry = rdma->settings.rnr_retries,
	};
	struct doca_rdma_connection *created = calloc(1, sizeof(*created));
	doca_error_t result;

	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	attr.owner = created;
	result = dpumap_rdma_qp_create(rdma->queue, &attr, &created->qp);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	created->rdma = rdma;
	created->id = rdma->next_id++;
	*connection = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **local_rdma_conn_details,
			      size_t *local_rdma_conn_details_size,
			      struct doca_rdma_connection **rdma_connection)
{
	struct doca_rdma_connection *created;
	struct dpumap_qp_info info;
	doca_error_t result;

	if (!rdma || !local_rdma_conn_details || !local_rdma_conn_details_size || !rdma_connection)
		return dpumap_fail_null(__func__);
	result = check_running(rdma, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (rdma->num_connections == rdma->settings.max_connections)
		return dpumap_fail(DOCA_ERROR_FULL,
				   "RDMA context %p has its maximum of %" PRIu16
				   " connections: raise it by doca_rdma_set_max_num_connections()",
				   (void *)rdma, rdma->num_connections);
	if (create(rdma, &created) != DOCA_SUCCESS)
		return DOCA_ERROR_CONNECTION_ABORTED;
	dpumap_rdma_qp_describe(created->qp, &info);
	dpumap_rdma_details_encode(&info, created->details);
	created->next = rdma->connections;
	rdma->connections = created;
	rdma->num_connections++;
	*local_rdma_conn_details = created->details;
	*local_rdma_conn_details_size = sizeof(created->details);
	*rdma_connection = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
			       size_t remote_rdma_conn_details_size,
			       struct doca_rdma_connection *rdma_connection)
{
	struct dpumap_qp_info peer;
	doca_error_t result;

	if (!rdma || !remote_rdma_conn_details || !rdma_connection)
		return dpumap_fail_null(__func__);
	result = check_running(rdma, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (rdma_connection->rdma != rdma)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "connection %p does not belong to RDMA context %p",
				   (void *)rdma_connection, (void *)rdma);
	if (rdma_connection->state != RDMA_EXPORTED)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "connection %p is connected already",
				   (void *)rdma_connection);
	result = dpumap_rdma_details_decode(remote_rdma_conn_details, remote_rdma_conn_details_size,
					    &peer);
	if (result == DOCA_SUCCESS)
		result = dpumap_rdma_qp_connect(rdma_connection->qp, &peer);
	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_CONNECTION_ABORTED;
	rdma_connection->state = RDMA_CONNECTED;
	return DOCA_SUCCESS;
}

doca_error_t
doca_rdma_set_connection_state_callbacks(struct doca_rdma *rdma,
					 doca_rdma_connection_request_cb_t request_cb,
					 doca_rdma_connection_established_cb_t established_cb,
					 doca_rdma_connection_failure_cb_t failure_cb,
					 doca_rdma_connection_disconnection_cb_t disconnection_cb)
{
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&rdma->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	rdma->callbacks = (struct rdma_callbacks){
		.request = request_cb,
		.established = established_cb,
		.failure = failure_cb,
		.disconnection = disconnection_cb,
	};
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_set_user_data(struct doca_rdma_connection *rdma_connection,
						union doca_data connection_user_data)
{
	if (!rdma_connection)
		return dpumap_fail_null(__func__);
	rdma_connection->user_data = connection_user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_get_user_data(const struct doca_rdma_connection *rdma_connection,
						union doca_data *connection_user_data)
{
	if (!rdma_connection || !connection_user_data)
		return dpumap_fail_null(__func__);
	*connection_user_data = rdma_connection->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_get_id(const struct doca_rdma_connection *rdma_connection,
					 uint32_t *connection_id)
{
	if (!rdma_connection || !connection_id)
		return dpumap_fail_null(__func__);
	*connection_id = rdma_connection->id;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_rdma_disconnect_all(struct doca_rdma *rdma)
{
	struct doca_rdma_connection *connection;
	doca_error_t result;

	while ((connection = rdma->connections)) {
		result = dpumap_rdma_end_connection(connection);
		if (result != DOCA_SUCCESS)
			return result;
		rdma->connections = connection->next;
		rdma->num_connections--;
		free(connection);
	}
	return DOCA_SUCCESS;
}
