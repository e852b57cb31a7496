/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/client.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "channel/conn.h"
#include "channel/decode.h"
#include "channel/reply.h"
#include "channel/stream.h"
#include "local/trusted.h"

/* A signal may arrive just before poll() or in another thread: check the flag periodically. */
#define STOP_CHECK_MS 100
/* More than dpumapd queues: the server is not dpumapd. */
#define EVENTS_MAX 65536u

struct event {
	struct event *next;
	enum dpumap_event event;
	char name[DPUMAP_EXPORT_NAME_MAX];
};

struct dpumap_client {
	struct dpumap_conn *conn;
	struct event *events, **last_event; /* received between replies */
	size_t num_events;
	const volatile int *stop;
	uint64_t timeout_ns;
	uint64_t next_id;
	uint64_t next_reply; /* id of the oldest request without a reply */
	uint64_t heard_at;   /* since when that reply is awaited */
	bool frame_held;     /* the last reply, which the caller may still read */
	char name[DPUMAP_HOST_MAX + DPUMAP_PORT_MAX]; /* address, for errors */
};

static bool stopped(const struct dpumap_client *client)
{
	return client->stop && *client->stop;
}

static doca_error_t timed_out(const struct dpumap_client *client, struct dpumap_fault *fault)
{
	return dpumap_fault_set(fault, DOCA_ERROR_TIME_OUT,
				"no reply from %s within %" PRIu64 " ms", client->name,
				client->timeout_ns / NSEC_PER_MSEC);
}

static doca_error_t wait_for(struct dpumap_client *client, short events, uint64_t deadline,
			     struct dpumap_fault *fault)
{
	struct pollfd p = {.fd = dpumap_conn_fd(client->conn), .events = events};
	uint64_t now = monotonic_ns();
	uint64_t wait_ms;
	int n;

	if (stopped(client))
		return dpumap_fault_set(fault, DOCA_ERROR_SHUTDOWN, "interrupted");
	if (now >= deadline)
		return timed_out(client, fault);
	wait_ms = (deadline - now) / NSEC_PER_MSEC + 1;
	n = poll(&p, 1, wait_ms < STOP_CHECK_MS ? (int)wait_ms : STOP_CHECK_MS);
	if (n < 0 && errno != EINTR)
		return dpumap_fault_errno(fault, errno, "cannot wait for %s", client->name);
	return DOCA_SUCCESS;
}

static doca_error_t send_request(struct dpumap_client *client, uint64_t deadline,
				 struct dpumap_fault *fault)
{
	doca_error_t result;

	while ((result = dpumap_conn_flush(client->conn, fault)) == DOCA_ERROR_AGAIN) {
		result = wait_for(client, dpumap_conn_events(client->conn), deadline, fault);
		if (result != DOCA_SUCCESS)
			return result;
	}
	/* A server that rejects the client sends the reason before it closes: read that. */
	return result == DOCA_ERROR_CONNECTION_RESET ? DOCA_SUCCESS : result;
}

/*
 * deadline 0: AGAIN in place of waiting. Otherwise the reply to a request, which has not come yet:
 * waits first.
 */
static doca_error_t receive(struct dpumap_client *client, uint64_t deadline,
			    const uint8_t **payload, size_t *len, struct dpumap_fault *fault)
{
	doca_error_t result;

	while ((result = dpumap_conn_frame(client->conn, payload, len, fault)) ==
	       DOCA_ERROR_AGAIN) {
		if (deadline)
			result =
				wait_for(client, dpumap_conn_events(client->conn), deadline, fault);
		if (!deadline || result == DOCA_SUCCESS)
			result = dpumap_conn_fill(client->conn, fault);
		if (result == DOCA_ERROR_AGAIN && deadline)
			continue;
		if (result == DOCA_ERROR_CONNECTION_RESET)
			return dpumap_fault_set(
				fault, result, "dpumapd at %s closed the connection", client->name);
		if (result != DOCA_SUCCESS)
			return result;
	}
	if (result == DOCA_SUCCESS)
		client->frame_held = true;
	return result;
}

static bool is_event(const struct dpumap_msg *msg)
{
	return dpumap_msg_has(msg, DPUMAP_MSG_EVENT) && !dpumap_msg_has(msg, DPUMAP_MSG_STATUS);
}

/* Unknown events are ignored. */
static doca_error_t keep_event(struct dpumap_client *client, const struct dpumap_msg *msg,
			       struct dpumap_fault *fault)
{
	enum dpumap_event which;
	struct event *event;

	if (!dpumap_event_find(msg, &which))
		return DOCA_SUCCESS;
	event = client->num_events < EVENTS_MAX ? calloc(1, sizeof(*event)) : NULL;
	if (!event)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for events");
	event->event = which;
	dpumap_msg_get_text(msg, DPUMAP_MSG_NAME, event->name, sizeof(event->name));
	*client->last_event = event;
	client->last_event = &event->next;
	client->num_events++;
	return DOCA_SUCCESS;
}

static void drop_frame(struct dpumap_client *client)
{
	if (client->frame_held)
		dpumap_conn_drop_frame(client->conn);
	client->frame_held = false;
}

/* Receives until a message is not an event. */
static doca_error_t receive_reply(struct dpumap_client *client, uint64_t deadline,
				  struct dpumap_msg *reply, struct dpumap_fault *fault)
{
	const uint8_t *payload;
	doca_error_t result;
	size_t len;

	for (;;) {
		result = receive(client, deadline, &payload, &len, fault);
		if (result == DOCA_SUCCESS)
			result = dpumap_msg_decode(payload, len, reply, fault);
		if (result != DOCA_SUCCESS || !is_event(reply))
			return result;
		result = keep_event(client, reply, fault);
		if (result != DOCA_SUCCESS)
			return result;
		drop_frame(client);
	}
}

static doca_error_t submit(struct dpumap_client *client, struct dpumap_msg *request,
			   uint64_t deadline, struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;

	drop_frame(client);
	/* An earlier request goes first. If it cannot, the connection has ended: the reply says why. */
	if (dpumap_conn_has_output(client->conn))
		result = send_request(client, deadline, fault);
	if (result != DOCA_SUCCESS || dpumap_conn_has_output(client->conn))
		return result;
	dpumap_msg_set_number(request, DPUMAP_MSG_ID, client->next_id++);
	result = dpumap_conn_put(client->conn, request, fault);
	if (result == DOCA_SUCCESS)
		result = send_request(client, deadline, fault);
	return result;
}

doca_error_t dpumap_client_call(struct dpumap_client *client, struct dpumap_msg *request,
				struct dpumap_msg *reply, struct dpumap_fault *fault)
{
	uint64_t deadline = monotonic_ns() + client->timeout_ns;
	doca_error_t result;

	/* A late reply to a request that timed out has another id. */
	client->next_reply = client->next_id;
	result = submit(client, request, deadline, fault);
	if (result == DOCA_SUCCESS)
		result = receive_reply(client, deadline, reply, fault);
	if (result == DOCA_SUCCESS)
		result = dpumap_reply_check(client->next_reply++, reply, fault);
	return result;
}

doca_error_t dpumap_client_send(struct dpumap_client *client, struct dpumap_msg *request,
				struct dpumap_fault *fault)
{
	uint64_t now = monotonic_ns();

	if (client->next_reply == client->next_id)
		client->heard_at = now;
	return submit(client, request, now + client->timeout_ns, fault);
}

doca_error_t dpumap_client_take_reply(struct dpumap_client *client, struct dpumap_msg *reply,
				      struct dpumap_fault *fault)
{
	uint64_t now = monotonic_ns();
	doca_error_t result;

	drop_frame(client);
	result = receive_reply(client, 0, reply, fault);
	if (result == DOCA_ERROR_AGAIN && now - client->heard_at >= client->timeout_ns)
		return timed_out(client, fault);
	if (result != DOCA_SUCCESS)
		return result;
	client->heard_at = now;
	return dpumap_reply_check(client->next_reply++, reply, fault);
}

/* Queues the events that have arrived. */
static doca_error_t collect_events(struct dpumap_client *client, struct dpumap_fault *fault)
{
	struct dpumap_msg msg = {0};
	const uint8_t *payload;
	doca_error_t result;
	size_t len;

	drop_frame(client);
	for (;;) {
		result = dpumap_conn_frame(client->conn, &payload, &len, fault);
		if (result == DOCA_ERROR_AGAIN) {
			result = dpumap_conn_fill(client->conn, fault);
			if (result != DOCA_SUCCESS)
				return result;
			continue;
		}
		if (result == DOCA_SUCCESS)
			result = dpumap_msg_decode(payload, len, &msg, fault);
		if (result == DOCA_SUCCESS && !is_event(&msg))
			result = dpumap_fault_set(fault, DOCA_ERROR_UNEXPECTED,
						  "dpumapd at %s sent a reply without a request",
						  client->name);
		if (result == DOCA_SUCCESS)
			result = keep_event(client, &msg, fault);
		if (result != DOCA_SUCCESS)
			return result;
		dpumap_conn_drop_frame(client->conn);
	}
}

doca_error_t dpumap_client_next_event(struct dpumap_client *client, enum dpumap_event *event,
				      char name[static DPUMAP_EXPORT_NAME_MAX],
				      struct dpumap_fault *fault)
{
	struct event *first = client->events;
	doca_error_t result;

	if (!first) {
		result = collect_events(client, fault);
		first = client->events;
		if (!first)
			return result;
	}
	*event = first->event;
	memcpy(name, first->name, DPUMAP_EXPORT_NAME_MAX);
	client->events = first->next;
	if (!client->events)
		client->last_event = &client->events;
	client->num_events--;
	free(first);
	return DOCA_SUCCESS;
}

int dpumap_client_fd(const struct dpumap_client *client)
{
	return dpumap_conn_fd(client->conn);
}

static doca_error_t greet(struct dpumap_client *client, struct dpumap_fault *fault)
{
	struct dpumap_msg request, reply = {0};
	doca_error_t result;

	dpumap_reply_ask_hello(&request);
	result = dpumap_client_call(client, &request, &reply, fault);
	return result == DOCA_SUCCESS ? dpumap_reply_check_hello(&reply, client->name, fault)
				      : result;
}

/* connect() on a non-blocking Unix socket fails with a full backlog; on TCP it continues. */
static void wait_to_connect(int fd, int err)
{
	const struct timespec pause = {.tv_nsec = 10 * (long)NSEC_PER_MSEC};
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	if (err == EAGAIN)
		nanosleep(&pause, NULL);
	else if (err != EINTR)
		poll(&p, 1, STOP_CHECK_MS);
}

static doca_error_t connect_socket(struct dpumap_client *client, const struct sockaddr *address,
				   socklen_t len, int fd, uint64_t deadline,
				   struct dpumap_fault *fault)
{
	while (connect(fd, address, len) != 0 && errno != EISCONN) {
		int err = errno;

		if (err != EAGAIN && err != EINTR && err != EINPROGRESS && err != EALREADY)
			return dpumap_fault_errno(fault, err, "cannot connect to dpumapd at %s",
						  client->name);
		if (stopped(client))
			return dpumap_fault_set(fault, DOCA_ERROR_SHUTDOWN, "interrupted");
		if (monotonic_ns() >= deadline)
			return timed_out(client, fault);
		wait_to_connect(fd, err);
	}
	return DOCA_SUCCESS;
}

static doca_error_t open_socket(struct dpumap_client *client, const struct sockaddr *address,
				socklen_t len, uint64_t deadline, int *fd,
				struct dpumap_fault *fault)
{
	int f = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	doca_error_t result;

	if (f < 0)
		return dpumap_fault_errno(fault, errno, "cannot open a socket");
	result = connect_socket(client, address, len, f, deadline, fault);
	if (result != DOCA_SUCCESS) {
		close(f);
		return result;
	}
	*fd = f;
	return DOCA_SUCCESS;
}

/* A server on a Unix socket does not authenticate: its path must be trusted. */
static doca_error_t open_unix(struct dpumap_client *client, const struct dpumap_address *address,
			      uint64_t deadline, int *fd, struct dpumap_fault *fault)
{
	doca_error_t result = dpumap_trusted_place(address->path.sun_path, fault);

	if (result != DOCA_SUCCESS)
		return result;
	return open_socket(client, (const struct sockaddr *)&address->path, sizeof(address->path),
			   deadline, fd, fault);
}

static doca_error_t open_tcp(struct dpumap_client *client, const struct dpumap_address *address,
			     uint64_t deadline, int *fd, struct dpumap_fault *fault)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	doca_error_t result = DOCA_ERROR_NOT_FOUND;
	struct addrinfo *list;
	int err;

	err = getaddrinfo(address->host, address->port, &hints, &list);
	if (err)
		return dpumap_fault_set(fault, DOCA_ERROR_NOT_FOUND, "cannot resolve %s: %s",
					address->host, gai_strerror(err));
	for (const struct addrinfo *info = list; info && result != DOCA_SUCCESS;
	     info = info->ai_next)
		result = open_socket(client, info->ai_addr, info->ai_addrlen, deadline, fd, fault);
	freeaddrinfo(list);
	if (result == DOCA_SUCCESS)
		dpumap_stream_tune(*fd);
	return result;
}

static doca_error_t handshake(struct dpumap_client *client, uint64_t deadline,
			      struct dpumap_fault *fault)
{
	doca_error_t result;

	while ((result = dpumap_conn_handshake(client->conn, fault)) == DOCA_ERROR_AGAIN) {
		result = wait_for(client, dpumap_conn_events(client->conn), deadline, fault);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return result;
}

static doca_error_t open_conn(struct dpumap_client *client, const struct dpumap_address *address,
			      struct dpumap_tls *tls, const char *server,
			      struct dpumap_fault *fault)
{
	bool is_unix = address->kind == DPUMAP_ADDRESS_UNIX;
	uint64_t deadline = monotonic_ns() + client->timeout_ns;
	doca_error_t result;
	int fd = -1;

	if (!is_unix && !tls)
		return dpumap_fault_set(
			fault, DOCA_ERROR_INVALID_VALUE,
			"dpumapd at %s requires TLS: use --cert, --key and --ca, or --psk",
			client->name);
	if (is_unix)
		result = open_unix(client, address, deadline, &fd, fault);
	else
		result = open_tcp(client, address, deadline, &fd, fault);
	if (result == DOCA_SUCCESS)
		result = dpumap_conn_create(fd, is_unix ? NULL : tls,
					    server ? server : address->host, &client->conn, fault);
	if (result == DOCA_SUCCESS)
		result = handshake(client, deadline, fault);
	return result;
}

static void set_name(struct dpumap_client *client, const struct dpumap_address *address)
{
	if (address->kind == DPUMAP_ADDRESS_UNIX)
		snprintf(client->name, sizeof(client->name), "%s", address->path.sun_path);
	else
		snprintf(client->name, sizeof(client->name), "%s:%s", address->host, address->port);
}

doca_error_t dpumap_client_create(const struct dpumap_address *address, struct dpumap_tls *tls,
				  const char *server, unsigned int timeout_ms,
				  const volatile int *stop, struct dpumap_client **client,
				  struct dpumap_fault *fault)
{
	struct dpumap_client *c = calloc(1, sizeof(*c));
	doca_error_t result;

	if (!c)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	c->timeout_ns = timeout_ms * NSEC_PER_MSEC;
	c->stop = stop;
	c->next_id = 1;
	c->next_reply = 1;
	c->last_event = &c->events;
	set_name(c, address);
	result = open_conn(c, address, tls, server, fault);
	if (result == DOCA_SUCCESS)
		result = greet(c, fault);
	if (result != DOCA_SUCCESS) {
		dpumap_client_destroy(c);
		return result;
	}
	*client = c;
	return DOCA_SUCCESS;
}

void dpumap_client_destroy(struct dpumap_client *client)
{
	struct event *event;

	if (!client)
		return;
	while ((event = client->events)) {
		client->events = event->next;
		free(event);
	}
	dpumap_conn_destroy(client->conn);
	free(client);
}
