/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/requester.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/message.h"
#include "channel/reply.h"
#include "channel/resolver.h"
#include "channel/stream.h"
#include "local/trusted.h"

/* More than dpumapd queues: the server is not dpumapd. */
#define EVENTS_MAX 65536u

struct event {
	struct event *next;
	enum dpumap_event event;
	char name[DPUMAP_EXPORT_NAME_MAX];
};

struct dpumap_requester {
	const struct dpumap_address *address;
	struct dpumap_tls *tls;
	const char *server;
	struct dpumap_resolver *resolver; /* of a host; NULL: not yet asked */
	struct addrinfo of_unix;
	const struct addrinfo *target; /* what it connects to */
	int fd;			       /* while it connects, or -1 */
	bool is_full;		       /* the queue of the Unix socket */
	struct dpumap_conn *conn;
	struct event *events, **last_event; /* received between replies */
	size_t num_events;
	uint64_t next_id;
	uint64_t next_reply; /* id of the oldest request without a reply */
	bool frame_held;     /* the last reply, which the caller may still read */
	char name[DPUMAP_HOST_MAX + DPUMAP_PORT_MAX];
};

/* --- life ------------------------------------------------------------------------------------- */

static void set_name(struct dpumap_requester *r, const struct dpumap_address *address)
{
	if (address->kind == DPUMAP_ADDRESS_UNIX)
		snprintf(r->name, sizeof(r->name), "%s", address->path.sun_path);
	else
		snprintf(r->name, sizeof(r->name), "%s:%s", address->host, address->port);
}

doca_error_t dpumap_requester_create(const struct dpumap_address *address, struct dpumap_tls *tls,
				     const char *server, struct dpumap_requester **requester,
				     struct dpumap_error *error)
{
	bool is_unix = address->kind == DPUMAP_ADDRESS_UNIX;
	struct dpumap_requester *r;

	if (!is_unix && !tls)
		return dpumap_error_set(
			error, DOCA_ERROR_INVALID_VALUE,
			"dpumapd at %s:%s requires TLS: use --cert, --key and --ca, or --psk",
			address->host, address->port);
	r = calloc(1, sizeof(*r));
	if (!r)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	r->address = address;
	r->tls = is_unix ? NULL : tls;
	r->server = server ? server : address->host;
	r->fd = -1;
	r->last_event = &r->events;
	r->next_id = r->next_reply = 1;
	set_name(r, address);
	*requester = r;
	return DOCA_SUCCESS;
}

static void close_socket(struct dpumap_requester *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

void dpumap_requester_destroy(struct dpumap_requester *requester)
{
	struct event *event;

	if (!requester)
		return;
	while ((event = requester->events)) {
		requester->events = event->next;
		free(event);
	}
	dpumap_resolver_destroy(requester->resolver);
	close_socket(requester);
	dpumap_conn_destroy(requester->conn);
	free(requester);
}

doca_error_t dpumap_requester_begin_anew(struct dpumap_requester **requester,
					 struct dpumap_error *error)
{
	struct dpumap_requester *old = *requester;
	doca_error_t result =
		dpumap_requester_create(old->address, old->tls, old->server, requester, error);

	if (result == DOCA_SUCCESS)
		dpumap_requester_destroy(old);
	return result;
}

const char *dpumap_requester_name(const struct dpumap_requester *requester)
{
	return requester->name;
}

struct dpumap_conn *dpumap_requester_conn(const struct dpumap_requester *requester)
{
	return requester->conn;
}

static bool is_resolving(const struct dpumap_requester *r)
{
	return r->resolver && !r->target;
}

int dpumap_requester_fd(const struct dpumap_requester *requester)
{
	if (requester->conn)
		return dpumap_conn_fd(requester->conn);
	return is_resolving(requester) ? dpumap_resolver_fd(requester->resolver) : requester->fd;
}

short dpumap_requester_events(const struct dpumap_requester *requester)
{
	if (requester->conn)
		return dpumap_conn_events(requester->conn);
	if (is_resolving(requester))
		return POLLIN;
	return requester->is_full ? 0 : POLLOUT;
}

/* --- connecting ------------------------------------------------------------------------------- */

/* A server on a Unix socket does not authenticate: its path must be trusted. */
static doca_error_t resolve_unix(struct dpumap_requester *r, struct dpumap_error *error)
{
	const struct dpumap_address *address = r->address;
	doca_error_t result = dpumap_trusted_directory(address->path.sun_path, error);

	if (result != DOCA_SUCCESS)
		return result;
	r->of_unix = (struct addrinfo){.ai_family = AF_UNIX,
				       .ai_addr = (struct sockaddr *)&address->path,
				       .ai_addrlen = sizeof(address->path)};
	r->target = &r->of_unix;
	return DOCA_SUCCESS;
}

static doca_error_t resolve(struct dpumap_requester *r, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	if (r->address->kind == DPUMAP_ADDRESS_UNIX)
		return resolve_unix(r, error);
	if (!r->resolver)
		result = dpumap_resolver_create(r->address, &r->resolver, error);
	if (result == DOCA_SUCCESS)
		result = dpumap_resolver_result(r->resolver, &r->target, error);
	return result;
}

/* connect() on a non-blocking Unix socket fails with a full queue; on TCP it continues. */
static doca_error_t connect_socket(struct dpumap_requester *r, struct dpumap_error *error)
{
	if (r->fd < 0)
		r->fd = socket(r->target->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r->fd < 0)
		return dpumap_error_errno(error, errno, "cannot open a socket");
	if (connect(r->fd, r->target->ai_addr, r->target->ai_addrlen) == 0 || errno == EISCONN)
		return DOCA_SUCCESS;
	r->is_full = errno == EAGAIN;
	if (r->is_full || errno == EINTR || errno == EINPROGRESS || errno == EALREADY)
		return DOCA_ERROR_AGAIN;
	return dpumap_error_errno(error, errno, "cannot connect to dpumapd at %s", r->name);
}

/* One address after the other. */
static doca_error_t connect_to_any(struct dpumap_requester *r, struct dpumap_error *error)
{
	doca_error_t result = r->target ? DOCA_SUCCESS : resolve(r, error);

	if (result != DOCA_SUCCESS)
		return result;
	while ((result = connect_socket(r, error)) != DOCA_SUCCESS) {
		if (result == DOCA_ERROR_AGAIN || !r->target->ai_next)
			return result;
		close_socket(r);
		r->target = r->target->ai_next;
	}
	return DOCA_SUCCESS;
}

doca_error_t dpumap_requester_connect(struct dpumap_requester *requester,
				      struct dpumap_error *error)
{
	doca_error_t result;
	int fd;

	if (!requester->conn) {
		result = connect_to_any(requester, error);
		if (result != DOCA_SUCCESS)
			return result;
		fd = requester->fd;
		requester->fd = -1;
		if (requester->tls)
			dpumap_stream_tune(fd);
		result = dpumap_conn_create(fd, requester->tls, requester->server, &requester->conn,
					    error);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return dpumap_conn_handshake(requester->conn, error);
}

/* --- requests --------------------------------------------------------------------------------- */

void dpumap_requester_drop(struct dpumap_requester *requester)
{
	if (requester->frame_held)
		dpumap_conn_drop_frame(requester->conn);
	requester->frame_held = false;
}

doca_error_t dpumap_requester_put(struct dpumap_requester *requester, struct dpumap_msg *request,
				  struct dpumap_error *error)
{
	dpumap_requester_drop(requester);
	dpumap_msg_set_number(request, DPUMAP_MSG_ID, requester->next_id++);
	return dpumap_conn_put(requester->conn, request, error);
}

doca_error_t dpumap_requester_flush(struct dpumap_requester *requester, struct dpumap_error *error)
{
	doca_error_t result = dpumap_conn_flush(requester->conn, error);

	return result == DOCA_ERROR_CONNECTION_RESET ? DOCA_SUCCESS : result;
}

void dpumap_requester_forget(struct dpumap_requester *requester)
{
	requester->next_reply = requester->next_id;
}

bool dpumap_requester_awaits_reply(const struct dpumap_requester *requester)
{
	return requester->next_reply != requester->next_id;
}

/* --- replies and events ----------------------------------------------------------------------- */

static bool is_event(const struct dpumap_msg *msg)
{
	return dpumap_msg_has(msg, DPUMAP_MSG_EVENT) && !dpumap_msg_has(msg, DPUMAP_MSG_STATUS);
}

/* Unknown events are ignored. */
static doca_error_t keep_event(struct dpumap_requester *r, const struct dpumap_msg *msg,
			       struct dpumap_error *error)
{
	enum dpumap_event which;
	struct event *event;

	if (!dpumap_event_find(msg, &which))
		return DOCA_SUCCESS;
	event = r->num_events < EVENTS_MAX ? calloc(1, sizeof(*event)) : NULL;
	if (!event)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for events");
	event->event = which;
	dpumap_msg_get_text(msg, DPUMAP_MSG_NAME, event->name, sizeof(event->name));
	*r->last_event = event;
	r->last_event = &event->next;
	r->num_events++;
	return DOCA_SUCCESS;
}

bool dpumap_requester_next_event(struct dpumap_requester *requester, enum dpumap_event *event,
				 char name[static DPUMAP_EXPORT_NAME_MAX])
{
	struct event *first = requester->events;

	if (!first)
		return false;
	*event = first->event;
	memcpy(name, first->name, DPUMAP_EXPORT_NAME_MAX);
	requester->events = first->next;
	if (!requester->events)
		requester->last_event = &requester->events;
	requester->num_events--;
	free(first);
	return true;
}

doca_error_t dpumap_requester_take(struct dpumap_requester *requester, struct dpumap_msg *reply,
				   struct dpumap_error *error)
{
	const uint8_t *payload;
	doca_error_t result;
	size_t len;

	for (;;) {
		dpumap_requester_drop(requester);
		result = dpumap_conn_frame(requester->conn, &payload, &len, error);
		if (result == DOCA_SUCCESS)
			result = dpumap_msg_decode(payload, len, reply, error);
		if (result == DOCA_SUCCESS && is_event(reply))
			result = keep_event(requester, reply, error);
		if (result != DOCA_SUCCESS)
			return result;
		requester->frame_held = true;
		if (!is_event(reply))
			return DOCA_SUCCESS;
	}
}

doca_error_t dpumap_requester_fill(struct dpumap_requester *requester, struct dpumap_error *error)
{
	doca_error_t result = dpumap_conn_fill(requester->conn, error);

	if (result == DOCA_ERROR_CONNECTION_RESET)
		return dpumap_error_set(error, result, "dpumapd at %s closed the connection",
					requester->name);
	return result;
}

doca_error_t dpumap_requester_receive(struct dpumap_requester *requester, struct dpumap_msg *reply,
				      struct dpumap_error *error)
{
	doca_error_t result;

	while ((result = dpumap_requester_take(requester, reply, error)) == DOCA_ERROR_AGAIN) {
		result = dpumap_requester_fill(requester, error);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return result;
}

doca_error_t dpumap_requester_check(struct dpumap_requester *requester,
				    const struct dpumap_msg *reply, struct dpumap_error *error)
{
	return dpumap_reply_check(requester->next_reply++, reply, error);
}
