/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/manager.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dpumap/rdma.h>

#include "base/clock.h"
#include "core/pe/pe.h"
#include "device/cm/address.h"
#include "device/cm/cm.h"
#include "device/cm/event.h"
#include "log/log.h"
#include "rdma/address.h"
#include "rdma/connection.h"

#define BACKLOG	       1024
#define CALLS_PER_POLL 256 /* calls of progress that complete tasks */

struct rdma_listener {
	uint16_t port;
	struct dpumap_cm_id *id;
	struct rdma_listener *next;
};

/* --- the manager ------------------------------------------------------------------------------ */

doca_error_t dpumap_rdma_manager_open(struct doca_rdma *rdma)
{
	struct dpumap_cm *created;
	doca_error_t result;

	if (rdma->cm)
		return DOCA_SUCCESS;
	result = dpumap_cm_create(rdma->ctx.dev->device, &created);
	if (result != DOCA_SUCCESS)
		return result == DOCA_ERROR_NOT_SUPPORTED ? result : DOCA_ERROR_CONNECTION_ABORTED;
	result = dpumap_pe_watch(rdma->ctx.pe, dpumap_cm_fd(created));
	if (result != DOCA_SUCCESS) {
		dpumap_cm_destroy(created);
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	rdma->cm = created;
	rdma->is_fast = false;
	rdma->poll_now = true;
	return DOCA_SUCCESS;
}

static void close_listener(struct rdma_listener **at)
{
	struct rdma_listener *listener = *at;

	*at = listener->next;
	dpumap_cm_id_destroy(listener->id);
	free(listener);
}

void dpumap_rdma_manager_close(struct doca_rdma *rdma)
{
	if (!rdma->cm)
		return;
	while (rdma->listeners)
		close_listener(&rdma->listeners);
	dpumap_pe_unwatch(rdma->ctx.pe, dpumap_cm_fd(rdma->cm));
	dpumap_cm_destroy(rdma->cm);
	rdma->cm = NULL;
}

/* --- connecting ------------------------------------------------------------------------------- */

static struct dpumap_cm_end end_of(const struct doca_rdma_connection *c, const void *data,
				   uint8_t len)
{
	struct dpumap_cm_end end = dpumap_cm_end_default();

	end.qp = dpumap_rdma_qp_verbs(c->qp);
	end.access = dpumap_rdma_qp_access(c->qp);
	end.has_srq = c->rdma->pools[RDMA_RECEIVE].pool.num_tasks > 0;
	end.rnr_retries = c->rdma->settings.rnr_retries;
	end.resolve_ms = c->rdma->settings.request_timeout_ms;
	end.data = data;
	end.data_len = len;
	return end;
}

static doca_error_t parse(const struct doca_rdma_addr *addr, struct sockaddr_storage *peer)
{
	static const enum dpumap_cm_family families[] = {
		[DOCA_RDMA_ADDR_TYPE_IPv4] = DPUMAP_CM_IPV4,
		[DOCA_RDMA_ADDR_TYPE_IPv6] = DPUMAP_CM_IPV6,
		[DOCA_RDMA_ADDR_TYPE_GID] = DPUMAP_CM_GID,
	};

	return dpumap_cm_address_parse(families[addr->type], addr->text, addr->port, peer);
}

static doca_error_t connect_to(struct doca_rdma_connection *c, const struct doca_rdma_addr *addr,
			       const void *data, uint8_t len)
{
	struct dpumap_cm_end end = end_of(c, data, len);
	struct sockaddr_storage peer;
	doca_error_t result = parse(addr, &peer);

	if (result == DOCA_SUCCESS)
		result = dpumap_cm_connect(c->rdma->cm, &peer, c->rdma->settings.gid_index, &end,
					   &c->cm_id);
	if (result == DOCA_SUCCESS)
		dpumap_cm_id_set_user(c->cm_id, c);
	return result;
}

static doca_error_t connect_with(struct doca_rdma *rdma, struct doca_rdma_addr *addr,
				 const void *data, uint8_t len, union doca_data user_data,
				 const char *function)
{
	struct doca_rdma_connection *created;
	doca_error_t result;

	if (!rdma || !addr)
		return dpumap_fail_null(function);
	result = dpumap_rdma_check_running(rdma, function);
	if (result == DOCA_SUCCESS)
		result = dpumap_rdma_manager_open(rdma);
	if (result != DOCA_SUCCESS)
		return result;
	if (dpumap_rdma_connection_create(rdma, RDMA_CONNECTING, &created) != DOCA_SUCCESS)
		return DOCA_ERROR_CONNECTION_ABORTED;
	if (dpumap_rdma_connection_open(created) != DOCA_SUCCESS ||
	    connect_to(created, addr, data, len) != DOCA_SUCCESS) {
		dpumap_rdma_connection_discard(created);
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	created->reports_end = true;
	created->user_data = user_data;
	created->addr = *addr;
	created->addr.is_owned = true;
	created->addr.num_users = 0;
	created->peer_addr = addr;
	addr->num_users++;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_connect_to_addr(struct doca_rdma *rdma, struct doca_rdma_addr *addr,
				       union doca_data connection_user_data)
{
	return connect_with(rdma, addr, NULL, 0, connection_user_data, __func__);
}

static doca_error_t check_data(const struct doca_rdma *rdma, const void *data, uint8_t len,
			       uint8_t max)
{
	if ((data || !len) && len <= max)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "RDMA context %p: invalid private data of %" PRIu8
			   " bytes, at most %" PRIu8 ", and 0 without data",
			   (const void *)rdma, len, max);
}

doca_error_t dpumap_rdma_connect_to_addr(struct doca_rdma *rdma, struct doca_rdma_addr *addr,
					 const void *private_data, uint8_t private_data_len,
					 union doca_data connection_user_data)
{
	doca_error_t result =
		check_data(rdma, private_data, private_data_len, DPUMAP_RDMA_REQUEST_DATA_MAX);

	if (result != DOCA_SUCCESS)
		return result;
	return connect_with(rdma, addr, private_data, private_data_len, connection_user_data,
			    __func__);
}

/* --- listening -------------------------------------------------------------------------------- */

static struct rdma_listener **find_listener(struct doca_rdma *rdma, uint16_t port)
{
	struct rdma_listener **at = &rdma->listeners;

	while (*at && (*at)->port != port)
		at = &(*at)->next;
	return at;
}

static doca_error_t listen_to(struct doca_rdma *rdma, uint16_t port)
{
	struct rdma_listener *created = calloc(1, sizeof(*created));
	doca_error_t result;

	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a listener");
	created->port = port;
	result = dpumap_cm_listen(rdma->cm, NULL, rdma->settings.gid_index, port, BACKLOG,
				  &created->id);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	dpumap_cm_id_set_user(created->id, created);
	created->next = rdma->listeners;
	rdma->listeners = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	if (!port)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA context %p: the port to listen to must not be 0",
				   (void *)rdma);
	result = dpumap_rdma_check_running(rdma, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (*find_listener(rdma, port))
		return dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
				   "RDMA context %p: it already listens to port %" PRIu16,
				   (void *)rdma, port);
	result = dpumap_rdma_manager_open(rdma);
	if (result != DOCA_SUCCESS)
		return result;
	return listen_to(rdma, port) == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED;
}

doca_error_t doca_rdma_stop_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
	struct rdma_listener **at;
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	result = dpumap_rdma_check_running(rdma, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	at = find_listener(rdma, port);
	if (!*at)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA context %p: it does not listen to port %" PRIu16,
				   (void *)rdma, port);
	for (struct doca_rdma_connection *c = rdma->connections; c; c = c->next)
		if (c->state == RDMA_REQUESTED && c->addr.port == port)
			dpumap_rdma_connection_end(c);
	close_listener(at);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_rdma_manager_accept(struct doca_rdma_connection *c, const void *data,
					uint8_t len)
{
	struct dpumap_cm_end end;
	doca_error_t result;

	result = check_data(c->rdma, data, len, DPUMAP_CM_ACCEPT_DATA);
	if (result != DOCA_SUCCESS)
		return result;
	result = c->qp ? DOCA_SUCCESS : dpumap_rdma_connection_open(c);
	if (result != DOCA_SUCCESS)
		return result == DOCA_ERROR_NO_MEMORY ? result : DOCA_ERROR_CONNECTION_ABORTED;
	end = end_of(c, data, len);
	if (dpumap_cm_accept(c->cm_id, &end) != DOCA_SUCCESS) {
		dpumap_rdma_connection_end(c);
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	c->state = RDMA_CONNECTING;
	return DOCA_SUCCESS;
}

static doca_error_t check_request(const struct doca_rdma_connection *c, const char *function)
{
	doca_error_t result = dpumap_rdma_check_running(c->rdma, function);

	if (result == DOCA_SUCCESS && (c->state != RDMA_REQUESTED || c->is_bridged))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: connection %p does not have a request of a client",
				   function, (const void *)c);
	return result;
}

doca_error_t doca_rdma_connection_accept(struct doca_rdma_connection *rdma_connection,
					 void *private_data, uint8_t private_data_len)
{
	doca_error_t result;

	if (!rdma_connection)
		return dpumap_fail_null(__func__);
	result = check_request(rdma_connection, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_rdma_manager_accept(rdma_connection, private_data, private_data_len);
}

doca_error_t doca_rdma_connection_reject(struct doca_rdma_connection *rdma_connection)
{
	doca_error_t result;

	if (!rdma_connection)
		return dpumap_fail_null(__func__);
	result = check_request(rdma_connection, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_cm_reject(rdma_connection->cm_id, NULL, 0);
	dpumap_rdma_connection_end(rdma_connection);
	return result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED;
}

/* --- events ----------------------------------------------------------------------------------- */

static void run(doca_rdma_connection_established_cb_t callback, struct doca_rdma_connection *c)
{
	struct doca_rdma *rdma = c->rdma;

	if (callback)
		callback(c, c->user_data, rdma->ctx.user_data);
}

void dpumap_rdma_manager_established(struct doca_rdma_connection *c)
{
	if (doca_likely(!c || c->state != RDMA_CONNECTING || c->is_bridged))
		return;
	c->state = RDMA_CONNECTED;
	dpumap_rdma_connection_release_addr(c);
	run(c->rdma->callbacks.established, c);
}

static void on_failure(struct doca_rdma_connection *c)
{
	dpumap_rdma_connection_end(c);
	run(c->rdma->callbacks.failure, c);
}

static void on_disconnection(struct doca_rdma_connection *c)
{
	dpumap_rdma_connection_end(c);
	run(c->rdma->callbacks.disconnection, c);
}

/* Requests that the context has no room for, or does not want, are rejected. */
static bool on_request(struct doca_rdma *rdma, struct dpumap_cm_id *id)
{
	const struct rdma_listener *listener = dpumap_cm_id_user(id);
	struct doca_rdma_connection *c;
	struct sockaddr_storage peer;

	if (rdma->ctx.state != DOCA_CTX_STATE_RUNNING || !rdma->callbacks.request ||
	    dpumap_rdma_connection_create(rdma, RDMA_REQUESTED, &c) != DOCA_SUCCESS) {
		(void)dpumap_cm_reject(id, NULL, 0);
		dpumap_cm_id_destroy(id);
		return false;
	}
	c->cm_id = id;
	c->reports_end = true;
	dpumap_cm_id_set_user(id, c);
	/* The address of the client, with the port that the program listens to. */
	dpumap_cm_id_peer(id, &peer);
	dpumap_rdma_address_describe(&c->addr, &peer, listener->port);
	rdma->callbacks.request(c, rdma->ctx.user_data);
	return true;
}

static struct rdma_listener **find_listener_of(struct doca_rdma *rdma,
					       const struct dpumap_cm_id *id)
{
	struct rdma_listener **at = &rdma->listeners;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

/* True if a callback was due. */
static bool handle(struct doca_rdma *rdma, const struct dpumap_cm_event *event)
{
	struct rdma_listener **listener;

	if (event->type == DPUMAP_CM_REQUEST)
		return on_request(rdma, event->id);
	listener = find_listener_of(rdma, event->id);
	if (*listener) { /* its device has gone */
		close_listener(listener);
		return false;
	}
	switch (event->type) {
	case DPUMAP_CM_ESTABLISHED:
		dpumap_rdma_manager_established(dpumap_cm_id_user(event->id));
		break;
	case DPUMAP_CM_DISCONNECTED:
		on_disconnection(dpumap_cm_id_user(event->id));
		break;
	default:
		on_failure(dpumap_cm_id_user(event->id));
		break;
	}
	return true;
}

bool dpumap_rdma_manager_is_overdue(struct doca_rdma *rdma)
{
	if (doca_likely(++rdma->calls < CALLS_PER_POLL))
		return false;
	rdma->poll_now = true;
	return true;
}

bool dpumap_rdma_manager_is_due(struct doca_rdma *rdma)
{
	uint64_t now = monotonic_coarse_ms();

	if (now == rdma->polled_ms && !rdma->poll_now)
		return false;
	rdma->polled_ms = now;
	rdma->poll_now = false;
	rdma->calls = 0;
	return true;
}

bool dpumap_rdma_manager_progress(struct doca_rdma *rdma)
{
	struct dpumap_cm_event event;
	bool is_any = false;

	dpumap_ctx_get(&rdma->ctx);
	while (!is_any && dpumap_cm_poll(rdma->cm, &event) == DOCA_SUCCESS)
		is_any = handle(rdma, &event);
	/* More events may wait. */
	rdma->poll_now = is_any;
	dpumap_ctx_put(&rdma->ctx);
	return is_any;
}
