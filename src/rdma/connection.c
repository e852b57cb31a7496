/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/connection.h"

#include <inttypes.h>
#include <stdlib.h>

#include <dpumap/rdma.h>

#include "device/cm/address.h"
#include "device/cm/connect.h"
#include "log/log.h"
#include "rdma/rdma.h"
#include "rdma/stop.h"

#define MAX_ENDED 1024 /* objects of connections that ended, for calls that come late */

doca_error_t dpumap_rdma_check_running(const struct doca_rdma *rdma, const char *function)
{
	if (rdma->ctx.state == DOCA_CTX_STATE_RUNNING)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: RDMA context %p is not running", function,
			   (const void *)rdma);
}

/* --- life ------------------------------------------------------------------------------------- */

/* Release the place of a connection. On failure the device still uses its queue pair. */
static bool release(struct doca_rdma_connection *c)
{
	c->is_draining = dpumap_rdma_end_connection(c) != DOCA_SUCCESS;
	if (c->is_draining)
		return false;
	c->rdma->num_connections--;
	c->rdma->num_ended++;
	c->end_number = c->rdma->next_end++;
	return true;
}

static void drain(struct doca_rdma *rdma)
{
	for (struct doca_rdma_connection *c = rdma->connections; c; c = c->next)
		if (c->is_draining && release(c))
			rdma->num_draining--;
}

static void mark_used_by(const struct rdma_task *task)
{
	if (!task->base.allocated)
		return;
	if (task->connection)
		task->connection->is_used = true;
	if (task->base.submitted && task->result_connection)
		task->result_connection->is_used = true;
}

static void mark_used(struct doca_rdma *rdma)
{
	for (int kind = 0; kind < RDMA_NUM_KINDS; kind++) {
		const struct task_pool *pool = &rdma->pools[kind].pool;
		const struct rdma_task *tasks = pool->tasks;

		for (uint32_t i = 0; tasks && i < pool->num_tasks; i++)
			mark_used_by(&tasks[i]);
	}
}

/* At least MAX_ENDED connections have ended since this one. */
static bool has_ended_long_ago(const struct doca_rdma_connection *c)
{
	return c->state == RDMA_ENDED && !c->is_draining &&
	       c->rdma->next_end - c->end_number > MAX_ENDED;
}

/* Free objects of connections that ended long ago, unless a task still names them. */
static void sweep(struct doca_rdma *rdma)
{
	struct doca_rdma_connection **at = &rdma->connections, *c;

	mark_used(rdma);
	while ((c = *at)) {
		if (has_ended_long_ago(c) && !c->is_used) {
			*at = c->next;
			rdma->num_ended--;
			free(c);
			continue;
		}
		c->is_used = false;
		at = &c->next;
	}
}

doca_error_t dpumap_rdma_connection_create(struct doca_rdma *rdma, enum rdma_connection_state state,
					   struct doca_rdma_connection **connection)
{
	struct doca_rdma_connection *created;

	if (rdma->num_draining)
		drain(rdma);
	if (rdma->num_ended >= 2 * MAX_ENDED)
		sweep(rdma);
	if (rdma->num_connections == rdma->settings.max_connections)
		return dpumap_fail(DOCA_ERROR_FULL,
				   "RDMA context %p has its maximum of %" PRIu16
				   " connections: raise it by doca_rdma_set_max_num_connections()",
				   (void *)rdma, rdma->num_connections);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	created->rdma = rdma;
	created->state = state;
	created->id = rdma->next_id++;
	created->next = rdma->connections;
	rdma->connections = created;
	rdma->num_connections++;
	*connection = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_rdma_connection_open(struct doca_rdma_connection *c)
{
	const struct rdma_settings *settings = &c->rdma->settings;
	struct dpumap_rdma_qp_attr attr = {
		.depth = dpumap_rdma_queue_depth(c->rdma),
		.max_pieces = settings->max_send_list,
		.access = settings->access,
		.gid_index = settings->gid_index,
		.log_mtu = settings->log_mtu,
		.sl = settings->service_level,
		.rnr_retry = settings->rnr_retries,
		.owner = c,
	};

	return dpumap_rdma_qp_create(c->rdma->queue, &attr, &c->qp);
}

void dpumap_rdma_connection_release_addr(struct doca_rdma_connection *c)
{
	if (c->peer_addr)
		c->peer_addr->num_users--;
	c->peer_addr = NULL;
}

void dpumap_rdma_connection_end(struct doca_rdma_connection *c)
{
	if (c->state == RDMA_ENDED)
		return;
	c->state = RDMA_ENDED;
	dpumap_rdma_connection_release_addr(c);
	/* The queue pair must live longer than the id. */
	dpumap_cm_id_destroy(c->cm_id);
	c->cm_id = NULL;
	if (!release(c))
		c->rdma->num_draining++;
}

void dpumap_rdma_connection_discard(struct doca_rdma_connection *c)
{
	struct doca_rdma *rdma = c->rdma;

	dpumap_rdma_connection_end(c);
	if (c->is_draining || rdma->connections != c)
		return;
	rdma->connections = c->next;
	rdma->num_ended--;
	free(c);
}

doca_error_t dpumap_rdma_connections_end(struct doca_rdma *rdma)
{
	for (struct doca_rdma_connection *c = rdma->connections; c; c = c->next)
		dpumap_rdma_connection_end(c);
	if (rdma->num_draining)
		drain(rdma);
	return rdma->num_draining ? DOCA_ERROR_DRIVER : DOCA_SUCCESS;
}

void dpumap_rdma_connections_free(struct doca_rdma *rdma)
{
	struct doca_rdma_connection *c;

	while ((c = rdma->connections)) {
		rdma->connections = c->next;
		free(c);
	}
	rdma->num_ended = 0;
}

/* --- connections by exchanged details --------------------------------------------------------- */

doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **local_rdma_conn_details,
			      size_t *local_rdma_conn_details_size,
			      struct doca_rdma_connection **rdma_connection)
{
	struct doca_rdma_connection *created;
	struct dpumap_qp_info info;
	doca_error_t result;

	if (!rdma || !local_rdma_conn_details || !local_rdma_conn_details_size || !rdma_connection)
		return dpumap_fail_null(__func__);
	result = dpumap_rdma_check_running(rdma, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_rdma_connection_create(rdma, RDMA_EXPORTED, &created);
	if (result != DOCA_SUCCESS)
		return result == DOCA_ERROR_FULL ? result : DOCA_ERROR_CONNECTION_ABORTED;
	if (dpumap_rdma_connection_open(created) != DOCA_SUCCESS) {
		dpumap_rdma_connection_discard(created);
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	dpumap_rdma_qp_describe(created->qp, &info);
	dpumap_rdma_details_encode(&info, created->details);
	*local_rdma_conn_details = created->details;
	*local_rdma_conn_details_size = sizeof(created->details);
	*rdma_connection = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_rdma_connection_get_ips(const struct doca_rdma_connection *rdma_connection,
					    const void *remote_rdma_conn_details,
					    size_t remote_rdma_conn_details_size,
					    struct sockaddr_storage *own,
					    struct sockaddr_storage *peer)
{
	struct dpumap_qp_info info;
	doca_error_t result;

	if (!rdma_connection || !remote_rdma_conn_details || !own || !peer)
		return dpumap_fail_null(__func__);
	if (rdma_connection->state != RDMA_EXPORTED)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "connection %p was not made by doca_rdma_export(), is "
				   "connected or has ended",
				   (const void *)rdma_connection);
	result = dpumap_rdma_details_decode(remote_rdma_conn_details, remote_rdma_conn_details_size,
					    &info);
	if (result != DOCA_SUCCESS)
		return result;
	if (info.is_infiniband ||
	    !dpumap_cm_addresses_of_ends(dpumap_rdma_qp_gid(rdma_connection->qp), info.gid, own,
					 peer))
		return DOCA_ERROR_NOT_SUPPORTED;
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
	result = dpumap_rdma_check_running(rdma, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (rdma_connection->rdma != rdma)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "connection %p does not belong to RDMA context %p",
				   (void *)rdma_connection, (void *)rdma);
	if (rdma_connection->reports_end)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "connection %p was not made by doca_rdma_export()",
				   (void *)rdma_connection);
	if (rdma_connection->state != RDMA_EXPORTED)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "connection %p is connected already, or has ended",
				   (void *)rdma_connection);
	result = dpumap_rdma_details_decode(remote_rdma_conn_details, remote_rdma_conn_details_size,
					    &peer);
	if (result == DOCA_SUCCESS)
		result = dpumap_rdma_qp_connect(rdma_connection->qp, &peer);
	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_CONNECTION_ABORTED;
	rdma_connection->state = RDMA_CONNECTED;
	rdma->log_mtu = dpumap_rdma_qp_log_mtu(rdma_connection->qp);
	return DOCA_SUCCESS;
}

/* --- what connections have in common ---------------------------------------------------------- */

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

doca_error_t doca_rdma_connection_get_addr(const struct doca_rdma_connection *rdma_connection,
					   struct doca_rdma_addr **addr)
{
	if (!rdma_connection || !addr)
		return dpumap_fail_null(__func__);
	if (!rdma_connection->addr.is_owned)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "connection %p was not made by address",
				   (const void *)rdma_connection);
	*addr = (struct doca_rdma_addr *)(uintptr_t)&rdma_connection->addr;
	return DOCA_SUCCESS;
}

/* The event of the connection manager follows, unless the program handles it. */
static doca_error_t disconnect(struct doca_rdma_connection *c)
{
	doca_error_t result = dpumap_cm_disconnect(c->cm_id);

	if (result != DOCA_SUCCESS || c->is_bridged) {
		dpumap_rdma_connection_end(c);
		return result == DOCA_SUCCESS ? result : DOCA_ERROR_CONNECTION_ABORTED;
	}
	c->state = RDMA_DISCONNECTING;
	dpumap_rdma_qp_fail(c->qp);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *rdma_connection)
{
	enum doca_ctx_states state;

	if (!rdma_connection)
		return dpumap_fail_null(__func__);
	state = rdma_connection->rdma->ctx.state;
	if (state != DOCA_CTX_STATE_RUNNING && state != DOCA_CTX_STATE_STOPPING)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: RDMA context %p is not running",
				   __func__, (void *)rdma_connection->rdma);
	if (rdma_connection->state == RDMA_CONNECTED && rdma_connection->cm_id)
		return disconnect(rdma_connection);
	if (rdma_connection->state != RDMA_DISCONNECTING)
		dpumap_rdma_connection_end(rdma_connection);
	return DOCA_SUCCESS;
}
