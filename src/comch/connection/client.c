/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <inttypes.h>
#include <stdlib.h>

#include "comch/connection/connection.h"
#include "comch/connection/control.h"
#include "comch/connection/output.h"
#include "comch/connection/send.h"
#include "comch/connection/settings.h"
#include "comch/link/dial.h"
#include "log/log.h"

#define WAIT_MS 2000 /* for a server that is not there yet */

struct doca_comch_client {
	struct comch_control control;
	struct dpumap_comch_dial *dial;
	doca_error_t failure; /* of the dial */
};

static struct doca_comch_client *client_of(struct doca_ctx *ctx)
{
	return (struct doca_comch_client *)ctx;
}

static struct comch_control *control_of(struct doca_comch_client *client)
{
	return client ? &client->control : NULL;
}

/* --- connecting ------------------------------------------------------------------------------- */

static void end_dial(struct doca_comch_client *client)
{
	if (!client->dial)
		return;
	dpumap_comch_control_unwatch(&client->control, dpumap_comch_dial_fd(client->dial));
	dpumap_comch_dial_destroy(client->dial);
	client->dial = NULL;
}

static doca_error_t send_hello(struct doca_comch_client *client, struct dpumap_comch_link *link)
{
	struct comch_frame frame = {.type = COMCH_HELLO};
	struct doca_comch_connection *c;
	doca_error_t result;

	result = dpumap_comch_control_add(&client->control, link, &c);
	if (result != DOCA_SUCCESS)
		return result;
	frame.hello.place = client->control.place;
	frame.hello.limits = c->own;
	dpumap_comch_conn_lock(c);
	result = dpumap_comch_output_frame(c, &frame);
	if (result == DOCA_SUCCESS)
		dpumap_comch_output_flush(c);
	dpumap_comch_conn_unlock(c);
	return result;
}

static void dial(struct comch_control *control)
{
	struct doca_comch_client *client = (struct doca_comch_client *)control;
	struct dpumap_comch_link *link;
	doca_error_t result;

	if (!client->dial)
		return;
	result = dpumap_comch_dial_poll(client->dial, &link);
	if (result == DOCA_ERROR_IN_PROGRESS)
		return;
	end_dial(client);
	if (result == DOCA_SUCCESS)
		result = send_hello(client, link);
	client->failure = result;
}

static doca_error_t start_result(const struct doca_comch_client *client)
{
	const struct doca_comch_connection *c = client->control.connections;

	if (client->failure != DOCA_SUCCESS)
		return client->failure;
	if (!c)
		return DOCA_ERROR_IN_PROGRESS;
	/* It may have ended already; the program hears of it when it runs. */
	if (c->peer.window)
		return DOCA_SUCCESS;
	return comch_conn_state(c) == COMCH_CONN_DOWN ? DOCA_ERROR_CONNECTION_ABORTED
						      : DOCA_ERROR_IN_PROGRESS;
}

/* --- the context ------------------------------------------------------------------------------ */

static doca_error_t start(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = client_of(ctx);
	struct comch_control *control = &client->control;
	doca_error_t result;

	client->failure = DOCA_SUCCESS;
	result = dpumap_comch_control_open(control);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_comch_dial_create(&control->place, WAIT_MS, &client->dial);
	if (result != DOCA_SUCCESS)
		goto close_control;
	result = dpumap_comch_control_watch(control, dpumap_comch_dial_fd(client->dial));
	if (result != DOCA_SUCCESS)
		goto destroy_dial;
	dial(control);
	return DOCA_ERROR_IN_PROGRESS;

destroy_dial:
	dpumap_comch_dial_destroy(client->dial);
	client->dial = NULL;
close_control:
	dpumap_comch_control_close(control);
	return result;
}

static doca_error_t poll_start(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = client_of(ctx);

	if (dpumap_comch_control_is_due(&client->control))
		dpumap_comch_control_poll(&client->control);
	return start_result(client);
}

static void begin_stop(struct doca_ctx *ctx)
{
	dpumap_comch_control_disconnect(&client_of(ctx)->control);
}

static bool can_stop(struct doca_ctx *ctx)
{
	struct comch_control *control = &client_of(ctx)->control;

	return !ctx->busy && ctx->state == DOCA_CTX_STATE_STOPPING &&
	       dpumap_comch_control_is_disconnected(control);
}

static doca_error_t stop(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = client_of(ctx);

	end_dial(client);
	/* A start that failed, or was given up. */
	if (ctx->state == DOCA_CTX_STATE_STARTING)
		dpumap_comch_control_disconnect(&client->control);
	if (!can_stop(ctx))
		return DOCA_ERROR_IN_PROGRESS;
	dpumap_comch_control_close(&client->control);
	return DOCA_SUCCESS;
}

static bool is_state_ready(struct doca_ctx *ctx)
{
	struct doca_comch_client *client = client_of(ctx);

	dpumap_comch_control_poll(&client->control);
	client->control.poll_now = true;
	if (ctx->state == DOCA_CTX_STATE_STARTING)
		return start_result(client) != DOCA_ERROR_IN_PROGRESS;
	return can_stop(ctx);
}

static const struct ctx_ops client_ops = {
	COMCH_COMMON_OPS,
	.name = "comch client",
	.start = start,
	.poll_start = poll_start,
	.begin_stop = begin_stop,
	.stop = stop,
	.is_state_ready = is_state_ready,
};

/* --- the interface ---------------------------------------------------------------------------- */

doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name,
				      struct doca_comch_client **comch_client)
{
	struct doca_comch_client *created;
	doca_error_t result;

	if (!dev || !name || !comch_client)
		return dpumap_fail_null(__func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a comch client");
	created->control.on_event = dial;
	result = doca_comch_cap_client_is_supported(doca_dev_as_devinfo(dev));
	if (result == DOCA_SUCCESS)
		result = dpumap_comch_place_get(dev, NULL, name, &created->control.place);
	if (result == DOCA_SUCCESS)
		result = dpumap_comch_control_init(&created->control, &client_ops, dev);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	*comch_client = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client)
{
	if (!comch_client)
		return dpumap_fail_null(__func__);
	return dpumap_ctx_destroy(&comch_client->control.ctx);
}

struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client)
{
	return comch_client ? &comch_client->control.ctx : NULL;
}

doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client,
						uint32_t max_msg_size)
{
	return dpumap_comch_set_max_msg_size(control_of(comch_client), __func__, max_msg_size);
}

doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client,
						uint32_t *max_msg_size)
{
	if (!comch_client || !max_msg_size)
		return dpumap_fail_null(__func__);
	*max_msg_size = comch_client->control.max_msg_size;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client,
						   uint32_t queue_size)
{
	return dpumap_comch_set_recv_queue_size(control_of(comch_client), __func__, queue_size);
}

doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client,
						   uint32_t *queue_size)
{
	if (!comch_client || !queue_size)
		return dpumap_fail_null(__func__);
	*queue_size = comch_client->control.recv_queue_size;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client,
					  struct doca_dev **dev)
{
	if (!comch_client || !dev)
		return dpumap_fail_null(__func__);
	*dev = comch_client->control.ctx.dev;
	return DOCA_SUCCESS;
}

doca_error_t
doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client,
				     doca_comch_task_send_completion_cb_t task_completion_cb,
				     doca_comch_task_send_completion_cb_t task_error_cb,
				     uint32_t num_send_tasks)
{
	return dpumap_comch_send_set_conf(control_of(comch_client), __func__, task_completion_cb,
					  task_error_cb, num_send_tasks);
}

doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client,
						    struct doca_comch_connection *peer,
						    const void *msg, uint32_t len,
						    struct doca_comch_task_send **task)
{
	return dpumap_comch_send_alloc(control_of(comch_client), __func__, peer, msg, len, task);
}

doca_error_t doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client,
						       doca_comch_event_msg_recv_cb_t recv_event_cb)
{
	return dpumap_comch_register_recv(control_of(comch_client), __func__, recv_event_cb);
}

doca_error_t
doca_comch_client_event_consumer_register(struct doca_comch_client *comch_client,
					  doca_comch_event_consumer_cb_t new_consumer_event_cb,
					  doca_comch_event_consumer_cb_t expired_consumer_event_cb)
{
	return dpumap_comch_register_consumer(control_of(comch_client), __func__,
					      new_consumer_event_cb, expired_consumer_event_cb);
}

doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
					      struct doca_comch_connection **connection)
{
	if (!comch_client || !connection)
		return dpumap_fail_null(__func__);
	if (comch_client->control.ctx.state != DOCA_CTX_STATE_RUNNING)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: client context %p is not running",
				   __func__, (const void *)comch_client);
	*connection = comch_client->control.connections;
	return DOCA_SUCCESS;
}

struct doca_comch_client *
doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection)
{
	if (!connection || connection->is_server)
		return NULL;
	return (struct doca_comch_client *)dpumap_comch_control_of(connection);
}
