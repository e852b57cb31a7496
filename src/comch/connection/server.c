/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "comch/connection/connection.h"
#include "comch/connection/control.h"
#include "comch/connection/send.h"
#include "comch/connection/settings.h"
#include "comch/connection/state.h"
#include "comch/link/listener.h"
#include "core/dev/devinfo_rep.h"
#include "log/log.h"

#define MAX_GREETING 64 /* clients that have not said HELLO yet */
#define MAX_ACCEPTED 16 /* at a time */
#define STALLED_MS   2000

struct doca_comch_server {
	struct comch_control control;
	struct doca_dev_rep *rep;
	struct dpumap_comch_listener *listener;
};

static struct doca_comch_server *server_of(struct doca_ctx *ctx)
{
	return (struct doca_comch_server *)ctx;
}

static struct comch_control *control_of(struct doca_comch_server *server)
{
	return server ? &server->control : NULL;
}

/* --- clients that connect --------------------------------------------------------------------- */

/* A client that connects and says nothing makes room for others. */
static void limit_hello(struct comch_control *control)
{
	struct doca_comch_connection *c, *oldest = NULL;
	uint32_t num = 0;

	for (c = control->connections; c; c = c->next)
		if (comch_conn_state(c) == COMCH_CONN_GREETING) {
			oldest = c;
			num++;
		}
	if (num <= MAX_GREETING)
		return;
	dpumap_comch_conn_lock(oldest);
	dpumap_comch_conn_down(oldest);
	dpumap_comch_conn_unlock(oldest);
}

static void accept_clients(struct comch_control *control)
{
	struct doca_comch_server *server = (struct doca_comch_server *)control;
	struct doca_comch_connection *c;
	struct dpumap_comch_link *link;

	for (int i = 0; i < MAX_ACCEPTED; i++) {
		if (dpumap_comch_listener_next(server->listener, &link) != DOCA_SUCCESS)
			return;
		if (dpumap_comch_control_add(control, link, &c) != DOCA_SUCCESS)
			return;
		limit_hello(control);
		dpumap_comch_control_start_timer(control);
		dpumap_comch_conn_pump(c);
	}
}

/* --- the context ------------------------------------------------------------------------------ */

static doca_error_t start(struct doca_ctx *ctx)
{
	struct doca_comch_server *server = server_of(ctx);
	struct comch_control *control = &server->control;
	doca_error_t result;

	result = dpumap_comch_control_open(control);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_comch_listener_create(&control->place, &server->listener);
	if (result != DOCA_SUCCESS)
		goto close_control;
	result = dpumap_comch_control_watch(control, dpumap_comch_listener_fd(server->listener));
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	dpumap_comch_listener_destroy(server->listener);
	server->listener = NULL;
close_control:
	dpumap_comch_control_close(control);
	return result;
}

static void begin_stop(struct doca_ctx *ctx)
{
	struct doca_comch_server *server = server_of(ctx);

	if (server->listener) {
		dpumap_comch_control_unwatch(&server->control,
					     dpumap_comch_listener_fd(server->listener));
		dpumap_comch_listener_destroy(server->listener);
		server->listener = NULL;
	}
	dpumap_comch_control_disconnect(&server->control);
}

static bool can_stop(struct doca_ctx *ctx)
{
	struct comch_control *control = &server_of(ctx)->control;

	if (ctx->busy)
		return false;
	if (ctx->state != DOCA_CTX_STATE_STOPPING)
		return !control->connections;
	return dpumap_comch_control_is_disconnected(control);
}

static doca_error_t stop(struct doca_ctx *ctx)
{
	if (!can_stop(ctx))
		return DOCA_ERROR_IN_PROGRESS;
	dpumap_comch_control_close(&server_of(ctx)->control);
	return DOCA_SUCCESS;
}

static bool is_state_ready(struct doca_ctx *ctx)
{
	dpumap_comch_control_poll(&server_of(ctx)->control);
	return can_stop(ctx);
}

static const struct ctx_ops server_ops = {
	COMCH_COMMON_OPS,	  .name = "comch server", .start = start,
	.begin_stop = begin_stop, .stop = stop,		  .is_state_ready = is_state_ready,
};

/* --- the interface ---------------------------------------------------------------------------- */

doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr,
				      const char *name, struct doca_comch_server **comch_server)
{
	struct doca_comch_server *created;
	doca_error_t result;

	if (!dev || !repr || !name || !comch_server)
		return dpumap_fail_null(__func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a comch server");
	created->rep = repr;
	created->control.owner.is_server = true;
	created->control.on_event = accept_clients;
	result = doca_comch_cap_server_is_supported(doca_dev_as_devinfo(dev));
	if (result == DOCA_SUCCESS)
		result = dpumap_comch_place_get(dev, repr, name, &created->control.place);
	if (result == DOCA_SUCCESS)
		result = dpumap_comch_control_init(&created->control, &server_ops, dev);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	dpumap_dev_rep_add_user(repr);
	*comch_server = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server)
{
	struct doca_dev_rep *rep;
	doca_error_t result;

	if (!comch_server)
		return dpumap_fail_null(__func__);
	rep = comch_server->rep;
	result = dpumap_ctx_destroy(&comch_server->control.ctx);
	if (result == DOCA_SUCCESS)
		dpumap_dev_rep_remove_user(rep);
	return result;
}

struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server)
{
	return comch_server ? &comch_server->control.ctx : NULL;
}

doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server,
						uint32_t max_msg_size)
{
	return dpumap_comch_set_max_msg_size(control_of(comch_server), __func__, max_msg_size);
}

doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server,
						uint32_t *max_msg_size)
{
	if (!comch_server || !max_msg_size)
		return dpumap_fail_null(__func__);
	*max_msg_size = comch_server->control.max_msg_size;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server,
						   uint32_t queue_size)
{
	return dpumap_comch_set_recv_queue_size(control_of(comch_server), __func__, queue_size);
}

doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server,
						   uint32_t *queue_size)
{
	if (!comch_server || !queue_size)
		return dpumap_fail_null(__func__);
	*queue_size = comch_server->control.recv_queue_size;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server,
					  struct doca_dev **dev)
{
	if (!comch_server || !dev)
		return dpumap_fail_null(__func__);
	*dev = comch_server->control.ctx.dev;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server,
					      struct doca_dev_rep **rep)
{
	if (!comch_server || !rep)
		return dpumap_fail_null(__func__);
	*rep = comch_server->rep;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_server_task_send_set_conf(struct doca_comch_server *comch_server,
				     doca_comch_task_send_completion_cb_t task_completion_cb,
				     doca_comch_task_send_completion_cb_t task_error_cb,
				     uint32_t num_send_tasks)
{
	return dpumap_comch_send_set_conf(control_of(comch_server), __func__, task_completion_cb,
					  task_error_cb, num_send_tasks);
}

doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server,
						    struct doca_comch_connection *peer,
						    const void *msg, uint32_t len,
						    struct doca_comch_task_send **task)
{
	return dpumap_comch_send_alloc(control_of(comch_server), __func__, peer, msg, len, task);
}

doca_error_t doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server,
						       doca_comch_event_msg_recv_cb_t recv_event_cb)
{
	return dpumap_comch_register_recv(control_of(comch_server), __func__, recv_event_cb);
}

doca_error_t
doca_comch_server_event_consumer_register(struct doca_comch_server *comch_server,
					  doca_comch_event_consumer_cb_t new_consumer_event_cb,
					  doca_comch_event_consumer_cb_t expired_consumer_event_cb)
{
	return dpumap_comch_register_consumer(control_of(comch_server), __func__,
					      new_consumer_event_cb, expired_consumer_event_cb);
}

doca_error_t doca_comch_server_event_connection_status_changed_register(
	struct doca_comch_server *comch_server,
	doca_comch_event_connection_status_changed_cb_t connect_event_cb,
	doca_comch_event_connection_status_changed_cb_t disconnect_event_cb)
{
	doca_error_t result;

	if (!comch_server || !connect_event_cb || !disconnect_event_cb)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&comch_server->control.ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	comch_server->control.connect_cb = connect_event_cb;
	comch_server->control.disconnect_cb = disconnect_event_cb;
	return DOCA_SUCCESS;
}

/* A client that has taken nothing for long is disconnected without what waits for it. */
static doca_error_t disconnect(struct doca_comch_connection *c)
{
	if (c->endpoints)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "connection %p has consumers or producers; destroy them first",
				   (void *)c);
	if (c->waiting.first && monotonic_coarse_ms() < c->stalled + STALLED_MS)
		return dpumap_fail_info(DOCA_ERROR_AGAIN,
					"connection %p: messages wait for the client", (void *)c);
	c->is_hidden = true;
	if (c->waiting.first)
		dpumap_comch_conn_down(c);
	else
		dpumap_comch_conn_close(c);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server,
					  struct doca_comch_connection *connection)
{
	doca_error_t result;

	if (!comch_server || !connection)
		return dpumap_fail_null(__func__);
	if (comch_server->control.ctx.state != DOCA_CTX_STATE_RUNNING)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: server context %p is not running",
				   __func__, (void *)comch_server);
	if (!dpumap_comch_control_owns(&comch_server->control, connection))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: connection %p is not one of server %p", __func__,
				   (void *)connection, (void *)comch_server);
	dpumap_comch_conn_lock(connection);
	result = disconnect(connection);
	dpumap_comch_conn_unlock(connection);
	if (result == DOCA_SUCCESS)
		dpumap_comch_control_start_timer(&comch_server->control);
	return result;
}

struct doca_comch_server *
doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection)
{
	if (!connection || !connection->is_server)
		return NULL;
	return (struct doca_comch_server *)dpumap_comch_control_of(connection);
}
