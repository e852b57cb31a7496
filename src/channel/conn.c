/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/conn.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "channel/message.h"
#include "channel/stream.h"
#include "secret/secret.h"

#define GATHER_MAX 16384u /* one TLS record */

/* In pages of its own: those that no frame needs cost nothing. */
struct dpumap_conn {
	struct dpumap_stream stream;
	size_t in_len;
	size_t out_len;
	size_t out_sent;
	uint64_t in_since;
	uint64_t out_since;
	bool out_is_secret;
	bool out_waits; /* for the socket */
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

doca_error_t dpumap_conn_create(int fd, struct dpumap_tls *tls, const char *server,
				struct dpumap_conn **conn, struct dpumap_error *error)
{
	struct dpumap_conn *c = dpumap_secret_alloc(sizeof(*c));
	doca_error_t result;

	if (!c) {
		close(fd);
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	}
	result = dpumap_stream_open(&c->stream, fd, tls, server, error);
	if (result != DOCA_SUCCESS) {
		dpumap_secret_free(c, sizeof(*c));
		return result;
	}
	dpumap_stream_read_ahead(&c->stream);
	*conn = c;
	return DOCA_SUCCESS;
}

void dpumap_conn_destroy(struct dpumap_conn *conn)
{
	if (!conn)
		return;
	dpumap_stream_close(&conn->stream);
	dpumap_secret_free(conn, sizeof(*conn));
}

int dpumap_conn_fd(const struct dpumap_conn *conn)
{
	return conn->stream.fd;
}

short dpumap_conn_events(const struct dpumap_conn *conn)
{
	if (conn->stream.wants)
		return conn->stream.wants;
	return dpumap_conn_has_output(conn) ? POLLOUT : POLLIN;
}

doca_error_t dpumap_conn_peer_name(const struct dpumap_conn *conn,
				   char name[static DPUMAP_PEER_NAME_MAX],
				   struct dpumap_error *error)
{
	return dpumap_tls_peer_name(conn->stream.ssl, name, error);
}

doca_error_t dpumap_conn_check_again(const struct dpumap_conn *conn, const struct dpumap_tls *tls,
				     struct dpumap_error *error)
{
	if (!conn->stream.ssl)
		return DOCA_SUCCESS;
	return dpumap_tls_check_again(tls, conn->stream.ssl, error);
}

static doca_error_t read_some(struct dpumap_conn *conn, struct dpumap_error *error)
{
	size_t room = sizeof(conn->in) - conn->in_len;
	doca_error_t result;
	size_t n = 0;

	if (room == 0)
		return DOCA_ERROR_AGAIN;
	result = dpumap_stream_read(&conn->stream, conn->in + conn->in_len, room, &n, error);
	if (result != DOCA_SUCCESS)
		return result;
	/* Replies have secrets, requests do not. */
	if (!dpumap_stream_is_tls_server(&conn->stream))
		dpumap_secret_wipe_stack();
	if (conn->in_len == 0)
		conn->in_since = monotonic_ns();
	conn->in_len += n;
	return DOCA_SUCCESS;
}

/*
 * Reads what the TLS session has received already, since poll() does not report it. Other errors
 * show at the next fill.
 */
static void drain(struct dpumap_conn *conn)
{
	struct dpumap_error ignored;

	while (dpumap_stream_has_input(&conn->stream) && read_some(conn, &ignored) == DOCA_SUCCESS)
		;
}

doca_error_t dpumap_conn_handshake(struct dpumap_conn *conn, struct dpumap_error *error)
{
	doca_error_t result = dpumap_stream_handshake(&conn->stream, error);

	/* The first frame may have come with the end of the handshake. */
	if (result == DOCA_SUCCESS)
		drain(conn);
	return result;
}

doca_error_t dpumap_conn_fill(struct dpumap_conn *conn, struct dpumap_error *error)
{
	doca_error_t result = read_some(conn, error);

	if (result == DOCA_SUCCESS)
		drain(conn);
	return result;
}

doca_error_t dpumap_conn_frame(const struct dpumap_conn *conn, const uint8_t **payload, size_t *len,
			       struct dpumap_error *error)
{
	uint32_t n;

	if (conn->in_len < DPUMAP_FRAME_HEADER)
		return DOCA_ERROR_AGAIN;
	n = load_le32(conn->in);
	if (n == 0 || n > DPUMAP_FRAME_MAX)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"malformed frame: %u bytes, must be 1 to %u", n,
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
	/* The frame may have contained a descriptor. */
	explicit_bzero(conn->in + left, conn->in_len - left);
	conn->in_len = left;
	conn->in_since = left ? monotonic_ns() : 0;
	drain(conn);
}

static bool is_secret(const struct dpumap_msg *msg)
{
	return dpumap_msg_has(msg, DPUMAP_MSG_DESCRIPTOR) || dpumap_msg_has(msg, DPUMAP_MSG_KEY) ||
	       dpumap_msg_has(msg, DPUMAP_MSG_TICKET);
}

doca_error_t dpumap_conn_put(struct dpumap_conn *conn, const struct dpumap_msg *msg,
			     struct dpumap_error *error)
{
	uint8_t *frame = conn->out + conn->out_len;
	size_t room = sizeof(conn->out) - conn->out_len, len;
	doca_error_t result;

	if (room <= DPUMAP_FRAME_HEADER)
		return dpumap_error_set(error, DOCA_ERROR_TOO_BIG,
					"too many frames have not been sent yet");
	result = dpumap_msg_encode(msg, frame + DPUMAP_FRAME_HEADER, room - DPUMAP_FRAME_HEADER,
				   &len, error);
	if (result != DOCA_SUCCESS)
		return result;
	store_le32(frame, (uint32_t)len);
	if (!dpumap_conn_has_output(conn))
		conn->out_since = monotonic_ns();
	conn->out_len += DPUMAP_FRAME_HEADER + len;
	conn->out_is_secret |= is_secret(msg);
	return DOCA_SUCCESS;
}

void dpumap_conn_pass_fd(struct dpumap_conn *conn, int fd)
{
	dpumap_stream_pass_fd(&conn->stream, fd);
}

void dpumap_conn_keep_passed(struct dpumap_conn *conn)
{
	dpumap_stream_keep_passed(&conn->stream);
}

int dpumap_conn_take_passed(struct dpumap_conn *conn)
{
	return dpumap_stream_take_passed(&conn->stream);
}

doca_error_t dpumap_conn_flush(struct dpumap_conn *conn, struct dpumap_error *error)
{
	doca_error_t result;
	size_t n = 0;

	conn->out_waits = true;
	while (conn->out_sent < conn->out_len) {
		result = dpumap_stream_write(&conn->stream, conn->out + conn->out_sent,
					     conn->out_len - conn->out_sent, &n, error);
		if (result != DOCA_SUCCESS)
			return result;
		conn->out_sent += n;
	}
	if (conn->out_is_secret) {
		explicit_bzero(conn->out, conn->out_len);
		dpumap_secret_wipe_stack();
	}
	conn->out_waits = false;
	conn->out_is_secret = false;
	conn->out_len = 0;
	conn->out_sent = 0;
	conn->out_since = 0;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_conn_leave(struct dpumap_conn *conn, int *fd, struct dpumap_error *error)
{
	doca_error_t result = dpumap_stream_end(&conn->stream, error);

	if (result != DOCA_SUCCESS)
		return result;
	*fd = dpumap_stream_take_fd(&conn->stream);
	/* Only the pages that were used cost something. */
	explicit_bzero(conn->in, conn->in_len);
	conn->in_len = 0;
	conn->in_since = 0;
	return DOCA_SUCCESS;
}

bool dpumap_conn_may_gather(const struct dpumap_conn *conn)
{
	return conn->out_len < GATHER_MAX && !conn->out_waits && conn->stream.passes < 0;
}

bool dpumap_conn_has_output(const struct dpumap_conn *conn)
{
	return conn->out_len > 0;
}

void dpumap_conn_rest(struct dpumap_conn *conn)
{
	if (conn->in_len == 0 && conn->out_len == 0)
		dpumap_stream_rest(&conn->stream);
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
