/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/clients/comch_service.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#include <dpumap/comch.h>

#include "base/clock.h"
#include "dpu/base/log.h"
#include "dpu/clients/comch_text.h"

/* Replies and events of one client that its end has not taken yet. Further ones wait or end it. */
#define UNSENT_MAX 4u
/* All such messages of one server. */
#define SEND_TASKS 1024u
/* Messages and events in a turn of the loop, unless LOOP_SHARE_NS have passed before. */
#define DONE_AT_ONCE 64
/* Limit for the messages that are left when a connection, or the service, ends. */
#define END_NS (2 * NSEC_PER_SEC)

struct client {
	struct port *port;
	struct client *next;
	struct doca_comch_connection *connection; /* NULL: it has ended */
	struct session *session;		  /* NULL: it has ended, or the client is refused */
	uint64_t ends_at;			  /* is to be disconnected; 0: not */
	unsigned int num_unsent;
};

/* The server for one function of the host. */
struct port {
	struct comch_service *service;
	struct port *next;
	struct doca_dev_rep *rep;
	struct doca_comch_server *comch;
	struct doca_ctx *ctx;
	struct client *clients;
};

struct comch_service {
	struct watch watch;
	struct loop *loop;
	struct server *server;
	struct doca_pe *pe;
	doca_notification_handle_t handle;
	struct port *ports;
	bool has_work;
};

/* --- clients ---------------------------------------------------------------------------------- */

static void free_client(struct client *client)
{
	struct client **at = &client->port->clients;

	while (*at != client)
		at = &(*at)->next;
	*at = client->next;
	free(client);
}

/* Frees a client that has neither connection nor messages left. */
static void free_if_unused(struct client *client)
{
	if (!client->connection && !client->session && client->num_unsent == 0)
		free_client(client);
}

static void disconnect(struct client *client)
{
	/* Otherwise the next tick tries again, or the disconnect callback follows. */
	if (doca_comch_server_disconnect(client->port->comch, client->connection) == DOCA_SUCCESS)
		client->connection = NULL;
}

/* The last message should arrive, so the connection ends once it is handed over. */
static void end_connection(struct client *client)
{
	if (!client->connection || !client->ends_at)
		return;
	if (client->num_unsent == 0 || monotonic_ns() >= client->ends_at)
		disconnect(client);
}

static void on_session_end(void *context)
{
	struct client *client = context;

	client->session = NULL;
	client->ends_at = monotonic_ns() + END_NS;
}

static bool is_ready(void *context)
{
	const struct client *client = context;

	return client->num_unsent < UNSENT_MAX;
}

/* --- messages --------------------------------------------------------------------------------- */

/* Also for a task of a client that has gone. */
static void on_sent(struct doca_comch_task_send *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	struct client *client = task_data.ptr;

	(void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task));
	client->num_unsent--;
	if (client->session)
		server_continue(client->port->service->server, client->session);
	end_connection(client);
	free_if_unused(client);
}

static doca_error_t submit(struct client *client, const uint8_t *text, size_t len)
{
	struct doca_comch_task_send *send;
	struct doca_task *task;
	doca_error_t result;

	result = doca_comch_server_task_send_alloc_init(client->port->comch, client->connection,
							text, (uint32_t)len, &send);
	if (result != DOCA_SUCCESS)
		return result;
	task = doca_comch_task_send_as_task(send);
	doca_task_set_user_data(task, (union doca_data){.ptr = client});
	result = doca_task_submit(task);
	if (result == DOCA_SUCCESS)
		client->num_unsent++;
	else
		doca_task_free(task);
	return result;
}

static doca_error_t put(void *context, const struct dpumap_msg *msg, struct dpumap_error *error)
{
	struct client *client = context;
	uint8_t text[COMCH_TEXT_MAX];
	doca_error_t result;
	size_t len;

	if (!client->connection || client->num_unsent == UNSENT_MAX)
		return dpumap_error_set(error, DOCA_ERROR_FULL, "the client does not read");
	len = comch_text_format(msg, text);
	result = submit(client, text, len);
	explicit_bzero(text, len); /* it may hold a descriptor */
	if (result != DOCA_SUCCESS)
		return dpumap_error_set(error, result, "cannot send to the client: %s",
					doca_error_get_descr(result));
	return DOCA_SUCCESS;
}

static struct client *client_of(const struct doca_comch_connection *connection)
{
	return doca_comch_connection_get_user_data(connection).ptr;
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct client *client = client_of(connection);
	struct dpumap_error error = {0};
	struct comch_request request;
	struct server *server;

	(void)event;
	if (!client || !client->session)
		return;
	server = client->port->service->server;
	if (!is_ready(client)) {
		server_end_session(server, client->session, "the client does not read its replies");
		client->ends_at = monotonic_ns(); /* it would not read the rest either */
	} else if (comch_text_parse(bytes, len, &request, &error) == DOCA_SUCCESS) {
		server_request(server, client->session, &request.msg);
	} else {
		server_refuse_request(server, client->session, &error);
	}
	end_connection(client);
	free_if_unused(client);
}

/* --- connections ------------------------------------------------------------------------------ */

static struct port *port_of(const struct doca_comch_connection *connection)
{
	struct doca_comch_server *comch = doca_comch_server_get_server_ctx(connection);
	union doca_data data = {0};

	(void)doca_ctx_get_user_data(doca_comch_server_as_ctx(comch), &data);
	return data.ptr;
}

static void admit(struct client *client, const char *identity)
{
	const struct session_sink sink = {is_ready, put, on_session_end, client};

	client->session = server_admit(client->port->service->server, identity, &sink);
	if (!client->session)
		on_session_end(client);
}

static void on_connect(struct doca_comch_event_connection_status_changed *event,
		       struct doca_comch_connection *connection, uint8_t is_successful)
{
	struct port *port = port_of(connection);
	struct client *client;
	const char *identity;

	(void)event;
	if (!is_successful)
		return;
	client = calloc(1, sizeof(*client));
	if (!client || dpumap_comch_connection_get_peer(connection, &identity) != DOCA_SUCCESS) {
		log_from(DPUMAP_LINE_ERROR, "control channel",
			 "no memory for a client of the control channel");
		free(client);
		(void)doca_comch_server_disconnect(port->comch, connection);
		return;
	}
	client->port = port;
	client->connection = connection;
	client->next = port->clients;
	port->clients = client;
	(void)doca_comch_connection_set_user_data(connection, (union doca_data){.ptr = client});
	admit(client, identity);
	end_connection(client);
	free_if_unused(client);
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event,
			  struct doca_comch_connection *connection, uint8_t is_successful)
{
	struct client *client = client_of(connection);

	(void)event, (void)is_successful;
	if (!client)
		return;
	client->connection = NULL;
	if (client->session)
		server_end_session(client->port->service->server, client->session,
				   "the client closed the connection");
	free_if_unused(client);
}

/* --- progress --------------------------------------------------------------------------------- */

/* Arms the handle once there is nothing left to do. */
static void work(struct comch_service *service)
{
	uint64_t end = monotonic_ns() + LOOP_SHARE_NS;
	bool has_more = true;

	for (int i = 0; i < DONE_AT_ONCE && has_more && monotonic_ns() < end; i++)
		has_more = doca_pe_progress(service->pe);
	service->has_work = has_more || doca_pe_request_notification(service->pe) != DOCA_SUCCESS;
}

static void on_event(struct watch *watch, uint32_t events)
{
	struct comch_service *service = (struct comch_service *)watch;

	(void)events;
	(void)doca_pe_clear_notification(service->pe, service->handle);
	work(service);
}

bool comch_service_has_work(const struct comch_service *service)
{
	return service && service->has_work;
}

void comch_service_work(struct comch_service *service)
{
	if (comch_service_has_work(service))
		work(service);
}

void comch_service_tick(struct comch_service *service)
{
	struct client *next;

	for (struct port *port = service ? service->ports : NULL; port; port = port->next) {
		for (struct client *client = port->clients; client; client = next) {
			next = client->next;
			end_connection(client);
			free_if_unused(client);
		}
	}
}

/* --- start and end ---------------------------------------------------------------------------- */

static doca_error_t cannot_serve(const char *name, doca_error_t result, struct dpumap_error *error)
{
	const char *advice = result == DOCA_ERROR_IN_USE
				     ? ": another program has this name; change serve in comch"
				     : "; see the message of the library";

	return dpumap_error_set(error, result, "cannot serve the control channel as \"%s\": %s%s",
				name, doca_error_get_descr(result), advice);
}

static doca_error_t set_callbacks(struct port *port)
{
	doca_error_t result =
		doca_comch_server_task_send_set_conf(port->comch, on_sent, on_sent, SEND_TASKS);

	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_msg_recv_register(port->comch, on_message);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_connection_status_changed_register(
			port->comch, on_connect, on_disconnect);
	return result;
}

static doca_error_t configure(struct port *port)
{
	const union doca_data data = {.ptr = port};
	doca_error_t result = set_callbacks(port);

	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(port->ctx, data);
	if (result == DOCA_SUCCESS)
		result = doca_pe_connect_ctx(port->service->pe, port->ctx);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(port->ctx);
	return result;
}

static doca_error_t open_port(struct comch_service *service, struct doca_dev *dev,
			      struct doca_devinfo_rep *info, const char *name)
{
	struct port *port = calloc(1, sizeof(*port));
	doca_error_t result;

	if (!port)
		return DOCA_ERROR_NO_MEMORY;
	port->service = service;
	port->next = service->ports;
	service->ports = port;
	result = doca_dev_rep_open(info, &port->rep);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_create(dev, port->rep, name, &port->comch);
	if (result != DOCA_SUCCESS)
		return result;
	port->ctx = doca_comch_server_as_ctx(port->comch);
	return configure(port);
}

/* A host may have several functions; a program on each of them finds the server. */
static doca_error_t open_ports(struct comch_service *service, struct doca_dev *dev,
			       const char *name)
{
	struct doca_devinfo_rep **list;
	uint32_t num = 0;
	doca_error_t result =
		doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &num);

	if (result != DOCA_SUCCESS)
		return result;
	if (num == 0)
		result = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < num && result == DOCA_SUCCESS; i++)
		result = open_port(service, dev, list[i], name);
	doca_devinfo_rep_destroy_list(list);
	return result;
}

doca_error_t comch_service_create(struct loop *loop, struct server *server, struct doca_dev *dev,
				  const char *name, struct comch_service **service,
				  struct dpumap_error *error)
{
	struct comch_service *s = calloc(1, sizeof(*s));
	doca_error_t result = DOCA_ERROR_NO_MEMORY;

	if (!s)
		return cannot_serve(name, result, error);
	s->loop = loop;
	s->server = server;
	result = doca_pe_create(&s->pe);
	if (result == DOCA_SUCCESS)
		result = open_ports(s, dev, name);
	if (result == DOCA_SUCCESS)
		result = doca_pe_get_notification_handle(s->pe, &s->handle);
	if (result == DOCA_SUCCESS)
		result = loop_add(loop, &s->watch, (int)s->handle, EPOLLIN, on_event, error);
	if (result != DOCA_SUCCESS) {
		comch_service_destroy(s);
		return cannot_serve(name, result, error);
	}
	s->has_work = true; /* arms the handle */
	log_line("control channel: serving as \"%s\"", name);
	*service = s;
	return DOCA_SUCCESS;
}

static void end_sessions(struct comch_service *service)
{
	for (const struct port *port = service->ports; port; port = port->next)
		for (struct client *client = port->clients; client; client = client->next)
			if (client->session)
				server_end_session(service->server, client->session,
						   "dpumapd ends");
}

static bool is_idle(const struct comch_service *service)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	for (const struct port *port = service->ports; port; port = port->next)
		if (port->ctx && doca_ctx_get_state(port->ctx, &state) == DOCA_SUCCESS &&
		    state != DOCA_CTX_STATE_IDLE)
			return false;
	return true;
}

/* The library needs a few seconds if a client does not read. */
static void stop(struct comch_service *service)
{
	const uint64_t limit = monotonic_ns() + 10 * NSEC_PER_SEC;

	for (const struct port *port = service->ports; port; port = port->next)
		if (port->ctx)
			(void)doca_ctx_stop(port->ctx);
	while (!is_idle(service) && monotonic_ns() < limit)
		if (!doca_pe_progress(service->pe))
			usleep(1000);
}

static void close_port(struct port *port)
{
	doca_error_t result = DOCA_SUCCESS;
	struct client *client;

	while ((client = port->clients)) {
		port->clients = client->next;
		free(client);
	}
	if (port->comch)
		result = doca_comch_server_destroy(port->comch);
	if (result == DOCA_SUCCESS && port->rep)
		result = doca_dev_rep_close(port->rep);
	if (result != DOCA_SUCCESS)
		log_error("cannot end the control channel: %s", doca_error_get_descr(result));
	free(port);
}

void comch_service_destroy(struct comch_service *service)
{
	struct port *port;

	if (!service)
		return;
	loop_remove(service->loop, &service->watch);
	end_sessions(service);
	stop(service);
	while ((port = service->ports)) {
		service->ports = port->next;
		close_port(port);
	}
	if (service->pe)
		(void)doca_pe_destroy(service->pe);
	free(service);
}
