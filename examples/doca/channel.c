/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <doca_ctx.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(EXAMPLE::CHANNEL);

doca_error_t can_serve(const struct doca_devinfo *devinfo)
{
	return doca_comch_cap_server_is_supported(devinfo);
}

doca_error_t can_connect(const struct doca_devinfo *devinfo)
{
	return doca_comch_cap_client_is_supported(devinfo);
}

/* --- callbacks: all of them run inside doca_pe_progress() ------------------------------------- */

/* The connection of a message knows its server or client, whose context knows the channel. */
static struct channel *channel_of(const struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	struct doca_ctx *ctx;
	union doca_data data = {0};

	ctx = server ? doca_comch_server_as_ctx(server)
		     : doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection));
	(void)doca_ctx_get_user_data(ctx, &data);
	return data.ptr;
}

/* The bytes belong to the library and are valid only in this callback: keep a copy. */
static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct channel *channel = channel_of(connection);
	struct message *message;

	(void)event;
	if (connection != channel->connection)
		return;
	message = calloc(1, sizeof(*message) + len + 1);
	if (!message) {
		channel->result = DOCA_ERROR_NO_MEMORY;
		return;
	}
	message->len = len;
	memcpy(message->bytes, bytes, len);
	*channel->last = message;
	channel->last = &message->next;
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t is_successful)
{
	struct channel *channel = channel_of(connection);

	(void)event;
	if (!is_successful)
		return;
	if (!channel->connection && !channel->has_ended)
		channel->connection = connection;
	else /* this example serves one client */
		(void)doca_comch_server_disconnect(channel->server, connection);
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t is_successful)
{
	struct channel *channel = channel_of(connection);

	(void)event, (void)is_successful;
	if (connection != channel->connection)
		return;
	channel->connection = NULL;
	channel->has_ended = true;
}

/* A client has no callbacks for its connection: the states of its context tell. */
static void on_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		     enum doca_ctx_states next)
{
	struct channel *channel = data.ptr;

	(void)ctx, (void)prev;
	if (next == DOCA_CTX_STATE_RUNNING && channel->client)
		(void)doca_comch_client_get_connection(channel->client, &channel->connection);
	if (next == DOCA_CTX_STATE_STOPPING || next == DOCA_CTX_STATE_IDLE) {
		channel->connection = NULL;
		channel->has_ended = true;
	}
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	struct channel *channel = ctx_data.ptr;

	(void)task_data;
	channel->is_sending = false;
	DOCA_ERROR_PROPAGATE(channel->result,
			     doca_task_get_status(doca_comch_task_send_as_task(task)));
	doca_task_free(doca_comch_task_send_as_task(task));
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Connect the context to an engine, and let it start. A client is connecting then. */
static doca_error_t start(struct channel *channel)
{
	const union doca_data data = {.ptr = channel};
	doca_error_t result;

	result = doca_pe_create(&channel->pe);
	DOCA_ERROR_PROPAGATE(result, doca_pe_connect_ctx(channel->pe, channel->ctx));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_user_data(channel->ctx, data));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_state_changed_cb(channel->ctx, on_state));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_start(channel->ctx));
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

/* Make progress once; if there was nothing to do, sleep until there is. */
static doca_error_t progress(struct channel *channel)
{
	doca_notification_handle_t handle = 0;
	struct pollfd wait = {.events = POLLIN};
	doca_error_t result;

	if (doca_pe_progress(channel->pe))
		return DOCA_SUCCESS;
	result = doca_pe_get_notification_handle(channel->pe, &handle);
	DOCA_ERROR_PROPAGATE(result, doca_pe_request_notification(channel->pe));
	if (result != DOCA_SUCCESS)
		return result;
	wait.fd = (int)handle;
	while (poll(&wait, 1, -1) < 0)
		if (errno != EINTR)
			return DOCA_ERROR_OPERATING_SYSTEM;
	return doca_pe_clear_notification(channel->pe, handle);
}

static doca_error_t wait_for_connection(struct channel *channel)
{
	doca_error_t result = DOCA_SUCCESS;

	while (result == DOCA_SUCCESS && !channel->connection && !channel->has_ended)
		result = progress(channel);
	if (result == DOCA_SUCCESS && !channel->connection)
		result = DOCA_ERROR_NOT_CONNECTED;
	return result;
}

doca_error_t accept_client(struct doca_dev *dev, struct doca_dev_rep *rep, const char *name,
			   struct channel *channel)
{
	doca_error_t result;

	*channel = (struct channel){.last = &channel->received};
	result = doca_comch_server_create(dev, rep, name, &channel->server);
	if (result != DOCA_SUCCESS)
		goto fail;
	channel->ctx = doca_comch_server_as_ctx(channel->server);
	result = doca_comch_server_task_send_set_conf(channel->server, on_sent, on_sent, 1);
	DOCA_ERROR_PROPAGATE(
		result, doca_comch_server_event_msg_recv_register(channel->server, on_message));
	DOCA_ERROR_PROPAGATE(result, doca_comch_server_event_connection_status_changed_register(
					     channel->server, on_connect, on_disconnect));
	DOCA_ERROR_PROPAGATE(result, start(channel));
	if (result != DOCA_SUCCESS)
		goto fail;
	DOCA_LOG_INFO("Waiting for a client of \"%s\"", name);
	result = wait_for_connection(channel);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
fail:
	DOCA_LOG_ERR("Cannot serve as \"%s\": %s", name, doca_error_get_descr(result));
	close_channel(channel);
	return result;
}

doca_error_t connect_to_server(struct doca_dev *dev, const char *name, struct channel *channel)
{
	doca_error_t result;

	*channel = (struct channel){.last = &channel->received};
	result = doca_comch_client_create(dev, name, &channel->client);
	if (result != DOCA_SUCCESS)
		goto fail;
	channel->ctx = doca_comch_client_as_ctx(channel->client);
	result = doca_comch_client_task_send_set_conf(channel->client, on_sent, on_sent, 1);
	DOCA_ERROR_PROPAGATE(
		result, doca_comch_client_event_msg_recv_register(channel->client, on_message));
	DOCA_ERROR_PROPAGATE(result, start(channel));
	DOCA_ERROR_PROPAGATE(result, wait_for_connection(channel));
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
fail:
	DOCA_LOG_ERR("Cannot connect to \"%s\" on the DPU: %s", name, doca_error_get_descr(result));
	close_channel(channel);
	return result;
}

/* --- closing ---------------------------------------------------------------------------------- */

static void stop(struct channel *channel)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	(void)doca_ctx_stop(channel->ctx);
	while (doca_ctx_get_state(channel->ctx, &state) == DOCA_SUCCESS &&
	       state != DOCA_CTX_STATE_IDLE && progress(channel) == DOCA_SUCCESS)
		;
}

void close_channel(struct channel *channel)
{
	struct message *message;

	if (channel->pe)
		stop(channel);
	if (channel->server)
		(void)doca_comch_server_destroy(channel->server);
	if (channel->client)
		(void)doca_comch_client_destroy(channel->client);
	if (channel->pe)
		(void)doca_pe_destroy(channel->pe);
	while ((message = channel->received)) {
		channel->received = message->next;
		free(message);
	}
	*channel = (struct channel){0};
}

/* --- messages --------------------------------------------------------------------------------- */

static doca_error_t submit(struct channel *channel, const void *bytes, size_t len)
{
	struct doca_comch_task_send *task;
	struct doca_task *base;
	doca_error_t result;

	if (!channel->connection)
		return DOCA_ERROR_NOT_CONNECTED;
	result = channel->server
			 ? doca_comch_server_task_send_alloc_init(channel->server,
								  channel->connection, bytes,
								  (uint32_t)len, &task)
			 : doca_comch_client_task_send_alloc_init(channel->client,
								  channel->connection, bytes,
								  (uint32_t)len, &task);
	if (result != DOCA_SUCCESS)
		return result;
	base = doca_comch_task_send_as_task(task);
	result = doca_task_submit(base);
	if (result != DOCA_SUCCESS)
		doca_task_free(base);
	return result;
}

doca_error_t send_message(struct channel *channel, const void *bytes, size_t len)
{
	doca_error_t result = submit(channel, bytes, len);

	channel->is_sending = result == DOCA_SUCCESS;
	while (result == DOCA_SUCCESS && channel->is_sending)
		result = progress(channel);
	DOCA_ERROR_PROPAGATE(result, channel->result);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Cannot send a message of %zu bytes: %s", len,
			     doca_error_get_descr(result));
	return result;
}

doca_error_t receive_message(struct channel *channel, struct message **message)
{
	doca_error_t result = DOCA_SUCCESS;

	while (result == DOCA_SUCCESS && !channel->received && !channel->has_ended)
		result = progress(channel);
	DOCA_ERROR_PROPAGATE(result, channel->result);
	if (result == DOCA_SUCCESS && !channel->received)
		result = DOCA_ERROR_CONNECTION_RESET;
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("No message from the peer: %s", doca_error_get_descr(result));
		return result;
	}
	*message = channel->received;
	channel->received = (*message)->next;
	if (!channel->received)
		channel->last = &channel->received;
	return DOCA_SUCCESS;
}
