/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "control.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "stats.h"

#define SEND_TASKS 64
#define PATIENCE   10 /* seconds */

static struct control *of_server(const struct doca_comch_connection *connection)
{
	union doca_data data = {0};

	doca_ctx_get_user_data(
		doca_comch_server_as_ctx(doca_comch_server_get_server_ctx(connection)), &data);
	return data.ptr;
}

static struct control *of_client(const struct doca_comch_connection *connection)
{
	union doca_data data = {0};

	doca_ctx_get_user_data(
		doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection)), &data);
	return data.ptr;
}

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void on_send_error(struct doca_comch_task_send *task, union doca_data task_data,
			  union doca_data ctx_data)
{
	(void)task_data;
	((struct control *)ctx_data.ptr)->failed = true;
	doca_task_free(doca_comch_task_send_as_task(task));
}

bool control_send(struct control *c, const void *message, uint32_t len)
{
	struct doca_comch_task_send *task;
	doca_error_t result;

	result = c->server ? doca_comch_server_task_send_alloc_init(c->server, c->connection,
								    message, len, &task)
			   : doca_comch_client_task_send_alloc_init(c->client, c->connection,
								    message, len, &task);
	return result == DOCA_SUCCESS &&
	       doca_task_submit(doca_comch_task_send_as_task(task)) == DOCA_SUCCESS;
}

static void take(struct control *c, const void *message, uint32_t len)
{
	c->received++;
	if (c->echoes && !control_send(c, message, len))
		c->failed = true;
}

static void on_server_message(struct doca_comch_event_msg_recv *event, uint8_t *message,
			      uint32_t len, struct doca_comch_connection *connection)
{
	(void)event;
	take(of_server(connection), message, len);
}

static void on_client_message(struct doca_comch_event_msg_recv *event, uint8_t *message,
			      uint32_t len, struct doca_comch_connection *connection)
{
	(void)event;
	take(of_client(connection), message, len);
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t successful)
{
	(void)event;
	of_server(connection)->connection = successful ? connection : NULL;
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t successful)
{
	(void)event;
	(void)successful;
	of_server(connection)->connection = NULL;
}

static void on_server_consumer(struct doca_comch_event_consumer *event,
			       struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	of_server(connection)->consumer_id = id;
}

static void on_client_consumer(struct doca_comch_event_consumer *event,
			       struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	of_client(connection)->consumer_id = id;
}

static void on_expired(struct doca_comch_event_consumer *event,
		       struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	(void)connection;
	(void)id;
}

static bool open_representor(struct control *c)
{
	struct doca_devinfo_rep **list;
	doca_error_t result;
	uint32_t n = 0;

	result = doca_devinfo_rep_create_list(c->dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &n);
	if (result == DOCA_SUCCESS && !n)
		result = DOCA_ERROR_NOT_FOUND;
	DOCA_ERROR_PROPAGATE(result, doca_dev_rep_open(list[0], &c->rep));
	if (n)
		doca_devinfo_rep_destroy_list(list);
	return bench_is_ok(result, "the representor of the host's function");
}

static bool configure_server(struct control *c, const char *name)
{
	doca_error_t result;

	if (!open_representor(c))
		return false;
	result = doca_comch_server_create(c->dev, c->rep, name, &c->server);
	if (result == DOCA_SUCCESS)
		c->ctx = doca_comch_server_as_ctx(c->server);
	DOCA_ERROR_PROPAGATE(result, doca_comch_server_task_send_set_conf(
					     c->server, on_sent, on_send_error, SEND_TASKS));
	DOCA_ERROR_PROPAGATE(
		result, doca_comch_server_event_msg_recv_register(c->server, on_server_message));
	DOCA_ERROR_PROPAGATE(result, doca_comch_server_event_consumer_register(
					     c->server, on_server_consumer, on_expired));
	DOCA_ERROR_PROPAGATE(result, doca_comch_server_event_connection_status_changed_register(
					     c->server, on_connect, on_disconnect));
	return bench_is_ok(result, "a server");
}

static bool configure_client(struct control *c, const char *name)
{
	doca_error_t result = doca_comch_client_create(c->dev, name, &c->client);

	if (result == DOCA_SUCCESS)
		c->ctx = doca_comch_client_as_ctx(c->client);
	DOCA_ERROR_PROPAGATE(result, doca_comch_client_task_send_set_conf(
					     c->client, on_sent, on_send_error, SEND_TASKS));
	DOCA_ERROR_PROPAGATE(
		result, doca_comch_client_event_msg_recv_register(c->client, on_client_message));
	DOCA_ERROR_PROPAGATE(result, doca_comch_client_event_consumer_register(
					     c->client, on_client_consumer, on_expired));
	return bench_is_ok(result, "a client");
}

static doca_error_t can_serve(const struct doca_devinfo *devinfo, uint8_t *supported)
{
	*supported = doca_comch_cap_server_is_supported(devinfo) == DOCA_SUCCESS;
	return DOCA_SUCCESS;
}

static doca_error_t can_connect(const struct doca_devinfo *devinfo, uint8_t *supported)
{
	*supported = doca_comch_cap_client_is_supported(devinfo) == DOCA_SUCCESS;
	return DOCA_SUCCESS;
}

static bool configure(struct control *c, const char *name)
{
	c->dev = bench_open_device(c->is_server ? can_serve : can_connect);
	if (!c->dev || !bench_is_ok(doca_pe_create(&c->pe), "an engine") ||
	    !bench_is_ok(doca_pe_get_notification_handle(c->pe, &c->handle), "its handle") ||
	    !(c->is_server ? configure_server(c, name) : configure_client(c, name)))
		return false;
	return bench_is_ok(doca_ctx_set_user_data(c->ctx, (union doca_data){.ptr = c}), "data") &&
	       bench_is_ok(doca_pe_connect_ctx(c->pe, c->ctx), "an engine");
}

bool control_await(struct doca_pe *pe, struct control *control, struct doca_ctx *ctx,
		   enum doca_ctx_states wanted)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;
	double end = bench_now() + PATIENCE;

	do {
		doca_pe_progress(pe);
		if (control)
			doca_pe_progress(control->pe);
		doca_ctx_get_state(ctx, &state);
		if (state == wanted)
			return true;
	} while (bench_now() < end);
	return bench_is_ok(DOCA_ERROR_TIME_OUT, "a context that changes its state");
}

static bool connect_both(struct control *c)
{
	double end = bench_now() + PATIENCE;
	doca_error_t result;

	/* The client gives up early if there is no server. */
	if (!c->is_server && !duo_meet(c->duo))
		return false;
	result = doca_ctx_start(c->ctx);
	if (c->is_server && (!bench_is_ok(result, "starting a server") || !duo_meet(c->duo)))
		return false;
	if (c->is_server) {
		while (!c->connection && bench_now() < end)
			doca_pe_progress(c->pe);
		return c->connection || bench_is_ok(DOCA_ERROR_TIME_OUT, "a connection");
	}
	return bench_is_ok(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result,
			   "starting a client") &&
	       control_await(c->pe, NULL, c->ctx, DOCA_CTX_STATE_RUNNING) &&
	       bench_is_ok(doca_comch_client_get_connection(c->client, &c->connection),
			   "a connection");
}

bool control_open(struct control *c, const struct duo *duo, bool is_server, const char *name)
{
	*c = (struct control){.duo = duo, .is_server = is_server};
	return configure(c, name) && connect_both(c) && duo_meet(duo);
}

bool control_progress(struct control *c, bool waits)
{
	struct pollfd event = {.fd = c->handle, .events = POLLIN};

	if (doca_pe_progress(c->pe) || !waits)
		return !c->failed;
	if (doca_pe_request_notification(c->pe) != DOCA_SUCCESS || poll(&event, 1, -1) != 1 ||
	    doca_pe_clear_notification(c->pe, c->handle) != DOCA_SUCCESS)
		return false;
	return !c->failed;
}

void control_close(struct control *c)
{
	if (c->ctx && doca_ctx_stop(c->ctx) == DOCA_ERROR_IN_PROGRESS)
		control_await(c->pe, NULL, c->ctx, DOCA_CTX_STATE_IDLE);
	if (c->server)
		bench_is_ok(doca_comch_server_destroy(c->server), "destroying the server");
	if (c->client)
		bench_is_ok(doca_comch_client_destroy(c->client), "destroying the client");
	if (c->pe)
		bench_is_ok(doca_pe_destroy(c->pe), "destroying the engine");
	if (c->rep)
		bench_is_ok(doca_dev_rep_close(c->rep), "closing the representor");
	if (c->dev)
		bench_is_ok(doca_dev_close(c->dev), "closing the device");
	*c = (struct control){0};
}
