/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/channel.h"
#include "common/clock.h"

/* Large enough for mmap to serve: pages that no frame needs cost nothing. */
struct dpumap_conn {
	int fd;
	size_t in_len;
	size_t in_high; /* most bytes that were ever in in[], for wiping */
	size_t out_len;
	size_t out_sent;
	uint64_t in_since;
	uint64_t out_since;
	uint8_t in[DPUMAP_FRAME_HEADER + DPUMAP_FRAME_MAX];
	uint8_t out[DPUMAP_FRAME_HEADER + DPUMAP_FRAME_MAX];
};

static uint32_t load_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void store_le32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

doca_error_t dpumap_conn_create(int fd, struct dpumap_conn **conn, struct dpumap_fault *fault)
{
	int flags = fcntl(fd, F_GETFL);
	struct dpumap_conn *c;

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
		dpumap_fault_errno(fault, errno, "cannot make a connection non-blocking");
		goto close_fd;
	}
	c = calloc(1, sizeof(*c));
	if (!c) {
		dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for a connection");
		goto close_fd;
	}
	c->fd = fd;
	*conn = c;
	return DOCA_SUCCESS;

close_fd:
	close(fd);
	return fault->code;
}

void dpumap_conn_destroy(struct dpumap_conn *conn)
{
	if (!conn)
		return;
	close(conn->fd);
	explicit_bzero(conn->in, conn->in_high);
	explicit_bzero(conn->out, conn->out_len);
	free(conn);
}

int dpumap_conn_fd(const struct dpumap_conn *conn)
{
	return conn->fd;
}

static doca_error_t peer_gone(struct dpumap_fault *fault)
{
	return dpumap_fault_set(fault, DOCA_ERROR_CONNECTION_RESET,
				"the other side closed the connection");
}

doca_error_t dpumap_conn_fill(struct dpumap_conn *conn, struct dpumap_fault *fault)
{
	size_t room = sizeof(conn->in) - conn->in_len;
	ssize_t n;

	if (room == 0)
		return DOCA_ERROR_AGAIN;
	do
		n = recv(conn->fd, conn->in + conn->in_len, room, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return DOCA_ERROR_AGAIN;
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return peer_gone(fault);
	if (n < 0)
		return dpumap_fault_errno(fault, errno, "cannot receive");
	if (conn->in_len == 0)
		conn->in_since = dpumap_clock_ns();
	conn->in_len += (size_t)n;
	if (conn->in_len > conn->in_high)
		conn->in_high = conn->in_len;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_conn_frame(const struct dpumap_conn *conn, const uint8_t **payload, size_t *len,
			       struct dpumap_fault *fault)
{
	uint32_t n;

	if (conn->in_len < DPUMAP_FRAME_HEADER)
		return DOCA_ERROR_AGAIN;
	n = load_le32(conn->in);
	if (n == 0 || n > DPUMAP_FRAME_MAX)
		return dpumap_fault_set(fault, DOCA_ERROR_INVALID_VALUE,
					"malformed frame: %u bytes, a frame has 1 to %u", n,
					DPUMAP_FRAME_MAX);
	if (conn->in_len - DPUMAP_FRAME_HEADER < n)
		return DOCA_ERROR_AGAIN;
	*payload = conn->in + DPUMAP_FRAME_HEADER;
	*len = n;
	return DOCA_SUCCESS;
}

void dpumap_conn_drop_frame(struct dpumap_conn *conn)
{
	size_t used = DPUMAP_FRAME_HEADER + load_le32(conn->in);
	size_t left = conn->in_len - used;

	memmove(conn->in, conn->in + used, left);
	/* What was dropped may have been a descriptor. */
	explicit_bzero(conn->in + left, conn->in_len - left);
	conn->in_len = left;
	conn->in_high = left;
	conn->in_since = left ? dpumap_clock_ns() : 0;
}

doca_error_t dpumap_conn_put(struct dpumap_conn *conn, const struct dpumap_msg *msg,
			     struct dpumap_fault *fault)
{
	doca_error_t result;
	size_t len;

	if (dpumap_conn_has_output(conn))
		return dpumap_fault_set(fault, DOCA_ERROR_IN_USE,
					"a frame is still waiting to be sent");
	result = dpumap_msg_encode(msg, conn->out + DPUMAP_FRAME_HEADER, DPUMAP_FRAME_MAX, &len,
				   fault);
	if (result != DOCA_SUCCESS)
		return result;
	store_le32(conn->out, (uint32_t)len);
	conn->out_len = DPUMAP_FRAME_HEADER + len;
	conn->out_sent = 0;
	conn->out_since = dpumap_clock_ns();
	return DOCA_SUCCESS;
}

doca_error_t dpumap_conn_flush(struct dpumap_conn *conn, struct dpumap_fault *fault)
{
	ssize_t n;

	while (conn->out_sent < conn->out_len) {
		n = send(conn->fd, conn->out + conn->out_sent, conn->out_len - conn->out_sent,
			 MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return DOCA_ERROR_AGAIN;
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return peer_gone(fault);
		if (n < 0)
			return dpumap_fault_errno(fault, errno, "cannot send");
		conn->out_sent += (size_t)n;
	}
	explicit_bzero(conn->out, conn->out_len);
	conn->out_len = 0;
	conn->out_sent = 0;
	conn->out_since = 0;
	return DOCA_SUCCESS;
}

bool dpumap_conn_has_output(const struct dpumap_conn *conn)
{
	return conn->out_len > 0;
}

static bool holds_partial_frame(const struct dpumap_conn *conn)
{
	return conn->in_len > 0 && (conn->in_len < DPUMAP_FRAME_HEADER ||
				    conn->in_len - DPUMAP_FRAME_HEADER < load_le32(conn->in));
}

uint64_t dpumap_conn_stalled_since(const struct dpumap_conn *conn)
{
	uint64_t in_since = holds_partial_frame(conn) ? conn->in_since : 0;

	if (conn->out_since && (!in_since || conn->out_since < in_since))
		return conn->out_since;
	return in_since;
}
