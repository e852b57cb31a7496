/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "channel/address.h"
#include "channel/channel.h"
#include "common/clock.h"

/* A signal may come just before poll() or to another thread: look at the flag now and then. */
#define STOP_CHECK_MS 100

struct dpumap_client {
	struct dpumap_conn *conn;
	const volatile int *stop;
	uint64_t timeout_ns;
	uint64_t next_id;
	bool frame_held; /* the last reply's, which its caller may still read */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

static bool stopped(const struct dpumap_client *client)
{
	return client->stop && *client->stop;
}

static doca_error_t timed_out(const struct dpumap_client *client, struct dpumap_fault *fault)
{
	return dpumap_fault_set(fault, DOCA_ERROR_TIME_OUT,
				"no answer from %s within %" PRIu64 " ms", client->path,
				client->timeout_ns / DPUMAP_NSEC_PER_MSEC);
}

static doca_error_t wait_for(struct dpumap_client *client, short events, uint64_t deadline,
			     struct dpumap_fault *fault)
{
	struct pollfd p = {.fd = dpumap_conn_fd(client->conn), .events = events};
	uint64_t now = dpumap_clock_ns();
	uint64_t wait_ms;
	int n;

	if (stopped(client))
		return dpumap_fault_set(fault, DOCA_ERROR_SHUTDOWN, "interrupted");
	if (now >= deadline)
		return timed_out(client, fault);
	wait_ms = (deadline - now) / DPUMAP_NSEC_PER_MSEC + 1;
	n = poll(&p, 1, wait_ms < STOP_CHECK_MS ? (int)wait_ms : STOP_CHECK_MS);
	if (n < 0 && errno != EINTR)
		return dpumap_fault_errno(fault, errno, "cannot wait for %s", client->path);
	return DOCA_SUCCESS;
}

static doca_error_t send_request(struct dpumap_client *client, uint64_t deadline,
				 struct dpumap_fault *fault)
{
	doca_error_t result;

	while ((result = dpumap_conn_flush(client->conn, fault)) == DOCA_ERROR_AGAIN) {
		result = wait_for(client, POLLOUT, deadline, fault);
		if (result != DOCA_SUCCESS)
			return result;
	}
	/* A server that turns us away has said why before it closed: read that. */
	return result == DOCA_ERROR_CONNECTION_RESET ? DOCA_SUCCESS : result;
}

static doca_error_t receive(struct dpumap_client *client, uint64_t deadline,
			    const uint8_t **payload, size_t *len, struct dpumap_fault *fault)
{
	doca_error_t result;

	while ((result = dpumap_conn_frame(client->conn, payload, len, fault)) ==
	       DOCA_ERROR_AGAIN) {
		result = dpumap_conn_fill(client->conn, fault);
		if (result == DOCA_ERROR_AGAIN)
			result = wait_for(client, POLLIN, deadline, fault);
		if (result == DOCA_ERROR_CONNECTION_RESET)
			return dpumap_fault_set(
				fault, result, "dpumapd at %s closed the connection", client->path);
		if (result != DOCA_SUCCESS)
			return result;
	}
	if (result == DOCA_SUCCESS)
		client->frame_held = true;
	return result;
}

static doca_error_t check_reply(const struct dpumap_msg *request, const struct dpumap_msg *reply,
				struct dpumap_fault *fault)
{
	char text[sizeof(fault->text)];
	uint64_t status;

	if (!dpumap_msg_has(reply, DPUMAP_MSG_ID) || !dpumap_msg_has(reply, DPUMAP_MSG_STATUS))
		return dpumap_fault_set(fault, DOCA_ERROR_UNEXPECTED,
					"the reply has no id or no status");
	status = reply->value[DPUMAP_MSG_STATUS].number;
	if (status != DOCA_SUCCESS) {
		dpumap_msg_get_text(reply, DPUMAP_MSG_ERROR, text, sizeof(text));
		return dpumap_fault_set(fault,
					status <= DOCA_ERROR_SKIPPED ? (doca_error_t)status
								     : DOCA_ERROR_UNKNOWN,
					"%s", text[0] ? text : "the server gave no reason");
	}
	if (reply->value[DPUMAP_MSG_ID].number != request->value[DPUMAP_MSG_ID].number)
		return dpumap_fault_set(fault, DOCA_ERROR_UNEXPECTED,
					"the reply is to another request");
	return DOCA_SUCCESS;
}

doca_error_t dpumap_client_call(struct dpumap_client *client, struct dpumap_msg *request,
				struct dpumap_msg *reply, struct dpumap_fault *fault)
{
	uint64_t deadline = dpumap_clock_ns() + client->timeout_ns;
	const uint8_t *payload;
	doca_error_t result;
	size_t len;

	if (client->frame_held)
		dpumap_conn_drop_frame(client->conn);
	client->frame_held = false;
	dpumap_msg_set_number(request, DPUMAP_MSG_ID, client->next_id++);
	result = dpumap_conn_put(client->conn, request, fault);
	if (result == DOCA_SUCCESS)
		result = send_request(client, deadline, fault);
	if (result == DOCA_SUCCESS)
		result = receive(client, deadline, &payload, &len, fault);
	if (result == DOCA_SUCCESS)
		result = dpumap_msg_decode(payload, len, reply, fault);
	if (result == DOCA_SUCCESS)
		result = check_reply(request, reply, fault);
	return result;
}

static doca_error_t greet(struct dpumap_client *client, struct dpumap_fault *fault)
{
	struct dpumap_msg request, reply = {0};
	doca_error_t result;

	dpumap_msg_init(&request);
	dpumap_msg_set_text(&request, DPUMAP_MSG_OP, dpumap_op_name(DPUMAP_OP_HELLO));
	dpumap_msg_set_number(&request, DPUMAP_MSG_VERSION, DPUMAP_CHANNEL_VERSION);
	result = dpumap_client_call(client, &request, &reply, fault);
	if (result != DOCA_SUCCESS)
		return result;
	if (!dpumap_msg_has(&reply, DPUMAP_MSG_VERSION) ||
	    reply.value[DPUMAP_MSG_VERSION].number != DPUMAP_CHANNEL_VERSION)
		return dpumap_fault_set(fault, DOCA_ERROR_UNSUPPORTED_VERSION,
					"dpumapd at %s does not speak version %u of the channel",
					client->path, DPUMAP_CHANNEL_VERSION);
	return DOCA_SUCCESS;
}

/* connect() on a Unix socket does not wait for a full backlog if the socket is non-blocking. */
static doca_error_t connect_socket(struct dpumap_client *client, const struct sockaddr_un *address,
				   int fd, struct dpumap_fault *fault)
{
	const struct timespec pause = {.tv_nsec = 10 * (long)DPUMAP_NSEC_PER_MSEC};
	uint64_t deadline = dpumap_clock_ns() + client->timeout_ns;

	while (connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0) {
		if (errno != EAGAIN && errno != EINTR)
			return dpumap_fault_errno(fault, errno, "cannot connect to dpumapd at %s",
						  client->path);
		if (stopped(client))
			return dpumap_fault_set(fault, DOCA_ERROR_SHUTDOWN, "interrupted");
		if (dpumap_clock_ns() >= deadline)
			return timed_out(client, fault);
		nanosleep(&pause, NULL);
	}
	return DOCA_SUCCESS;
}

static doca_error_t open_conn(struct dpumap_client *client, const char *path,
			      struct dpumap_fault *fault)
{
	struct sockaddr_un address;
	doca_error_t result;
	int fd;

	result = dpumap_address_set(path, &address, fault);
	if (result != DOCA_SUCCESS)
		return result;
	memcpy(client->path, address.sun_path, sizeof(client->path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return dpumap_fault_errno(fault, errno, "cannot open a socket");
	result = connect_socket(client, &address, fd, fault);
	if (result != DOCA_SUCCESS) {
		close(fd);
		return result;
	}
	return dpumap_conn_create(fd, &client->conn, fault);
}

doca_error_t dpumap_client_create(const char *path, unsigned int timeout_ms,
				  const volatile int *stop, struct dpumap_client **client,
				  struct dpumap_fault *fault)
{
	struct dpumap_client *c = calloc(1, sizeof(*c));
	doca_error_t result;

	if (!c)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	c->timeout_ns = timeout_ms * DPUMAP_NSEC_PER_MSEC;
	c->stop = stop;
	c->next_id = 1;
	result = open_conn(c, path, fault);
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
	if (!client)
		return;
	dpumap_conn_destroy(client->conn);
	free(client);
}
