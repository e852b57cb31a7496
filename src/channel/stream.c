/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/array.h"
#include "local/passed_fd.h"

doca_error_t dpumap_stream_open(struct dpumap_stream *stream, int fd, struct dpumap_tls *tls,
				const char *server, struct dpumap_error *error)
{
	int flags = fcntl(fd, F_GETFL);
	doca_error_t result = DOCA_SUCCESS;

	*stream = (struct dpumap_stream){.fd = fd, .is_open = !tls, .passes = -1, .passed = -1};
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
		result = dpumap_error_errno(error, errno, "cannot make a connection non-blocking");
	if (result == DOCA_SUCCESS && tls)
		result = dpumap_tls_open(tls, fd, server, &stream->ssl, error);
	if (result != DOCA_SUCCESS)
		close(fd);
	return result;
}

void dpumap_stream_read_ahead(struct dpumap_stream *stream)
{
	if (!stream->ssl)
		return;
	SSL_set_read_ahead(stream->ssl, 1);
	SSL_clear_mode(stream->ssl, SSL_MODE_RELEASE_BUFFERS);
	stream->keeps_buffers = true;
}

void dpumap_stream_rest(struct dpumap_stream *stream)
{
	if (!stream->has_buffers || !stream->is_open)
		return;
	SSL_free_buffers(stream->ssl);
	stream->has_buffers = false; /* OpenSSL 3.5 crashes if there are none */
}

struct option {
	int level, name, value;
};

/* Ignored where it fails, as on a Unix socket. */
static void set_options(int fd, const struct option *options, size_t num)
{
	for (size_t i = 0; i < num; i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

void dpumap_stream_tune(int fd)
{
	static const struct option options[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
						{SOL_SOCKET, SO_KEEPALIVE, 1},
						{IPPROTO_TCP, TCP_KEEPIDLE, 30},
						{IPPROTO_TCP, TCP_KEEPINTVL, 10},
						{IPPROTO_TCP, TCP_KEEPCNT, 3}};

	set_options(fd, options, ARRAY_SIZE(options));
}

void dpumap_stream_watch_peer(int fd)
{
	static const struct option options[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
						{SOL_SOCKET, SO_KEEPALIVE, 1},
						{IPPROTO_TCP, TCP_KEEPIDLE, 1},
						{IPPROTO_TCP, TCP_KEEPINTVL, 1},
						{IPPROTO_TCP, TCP_KEEPCNT, 3}};

	set_options(fd, options, ARRAY_SIZE(options));
}

/* Instead of the descriptor that was there, which it closes. */
static void keep(int *place, int fd)
{
	if (*place >= 0)
		close(*place);
	*place = fd;
}

void dpumap_stream_pass_fd(struct dpumap_stream *stream, int fd)
{
	keep(&stream->passes, fd);
}

void dpumap_stream_keep_passed(struct dpumap_stream *stream)
{
	stream->keeps_passed = true;
}

int dpumap_stream_take_passed(struct dpumap_stream *stream)
{
	int fd = stream->passed;

	stream->passed = -1;
	stream->keeps_passed = false;
	return fd;
}

void dpumap_stream_finish(struct dpumap_stream *stream)
{
	if (stream->ssl && stream->is_open)
		SSL_shutdown(stream->ssl);
	ERR_clear_error();
}

void dpumap_stream_close(struct dpumap_stream *stream)
{
	dpumap_stream_finish(stream);
	SSL_free(stream->ssl);
	if (stream->fd >= 0)
		close(stream->fd);
	keep(&stream->passes, -1);
	keep(&stream->passed, -1);
}

static doca_error_t closed_by_peer(struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_CONNECTION_RESET,
				"the peer closed the connection");
}

static doca_error_t tls_result(struct dpumap_stream *stream, int ret, const char *what,
			       struct dpumap_error *error)
{
	doca_error_t result = DOCA_ERROR_AGAIN;

	stream->wants = 0;
	switch (SSL_get_error(stream->ssl, ret)) {
	case SSL_ERROR_NONE:
		return DOCA_SUCCESS;
	case SSL_ERROR_WANT_READ:
		stream->wants = POLLIN;
		break;
	case SSL_ERROR_WANT_WRITE:
		stream->wants = POLLOUT;
		break;
	case SSL_ERROR_ZERO_RETURN:
		result = closed_by_peer(error);
		break;
	default:
		result = dpumap_tls_fault(stream->ssl, what, error);
		stream->is_open = false; /* the session cannot send any more */
	}
	ERR_clear_error();
	return result;
}

doca_error_t dpumap_stream_handshake(struct dpumap_stream *stream, struct dpumap_error *error)
{
	doca_error_t result;

	if (stream->is_open)
		return DOCA_SUCCESS;
	ERR_clear_error();
	result = tls_result(stream, SSL_do_handshake(stream->ssl), "handshake", error);
	stream->is_open = result == DOCA_SUCCESS;
	return result;
}

static doca_error_t plain_result(ssize_t n, const char *what, struct dpumap_error *error)
{
	if (n >= 0)
		return DOCA_SUCCESS;
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return DOCA_ERROR_AGAIN;
	if (errno == EPIPE || errno == ECONNRESET)
		return closed_by_peer(error);
	return dpumap_error_errno(error, errno, "cannot %s", what);
}

static ssize_t receive(struct dpumap_stream *stream, void *buf, size_t len)
{
	ssize_t n;
	int fd;

	if (stream->keeps_passed) {
		n = dpumap_receive_fd(stream->fd, buf, len, 0, &fd);
		if (fd >= 0)
			keep(&stream->passed, fd);
		return n;
	}
	do
		n = recv(stream->fd, buf, len, 0);
	while (n < 0 && errno == EINTR);
	return n;
}

doca_error_t dpumap_stream_read(struct dpumap_stream *stream, void *buf, size_t len, size_t *done,
				struct dpumap_error *error)
{
	doca_error_t result;
	ssize_t n;

	if (stream->ssl) {
		ERR_clear_error();
		result = tls_result(stream, SSL_read_ex(stream->ssl, buf, len, done), "receiving",
				    error);
		if (result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN)
			stream->has_buffers = stream->keeps_buffers;
		return result;
	}
	n = receive(stream, buf, len);
	if (n == 0)
		return closed_by_peer(error);
	*done = (size_t)n;
	return plain_result(n, "receive", error);
}

doca_error_t dpumap_stream_write(struct dpumap_stream *stream, const void *buf, size_t len,
				 size_t *done, struct dpumap_error *error)
{
	ssize_t n;

	if (stream->ssl) {
		ERR_clear_error();
		return tls_result(stream, SSL_write_ex(stream->ssl, buf, len, done), "sending",
				  error);
	}
	n = dpumap_send_fd(stream->fd, buf, len, MSG_NOSIGNAL, stream->passes);
	if (n > 0)
		keep(&stream->passes, -1);
	*done = (size_t)n;
	return plain_result(n, "send", error);
}

doca_error_t dpumap_stream_end(struct dpumap_stream *stream, struct dpumap_error *error)
{
	int ret;

	ERR_clear_error();
	/* What follows the end of the session belongs to the next owner of the socket. */
	SSL_set_read_ahead(stream->ssl, 0);
	ret = SSL_shutdown(stream->ssl);
	if (ret == 0) /* our close_notify was sent; wait for that of the peer */
		ret = SSL_shutdown(stream->ssl);
	if (ret != 1)
		return tls_result(stream, ret, "ending the session", error);
	stream->is_open = false;
	return DOCA_SUCCESS;
}

int dpumap_stream_take_fd(struct dpumap_stream *stream)
{
	int fd = stream->fd;

	stream->fd = -1;
	stream->is_open = false;
	return fd;
}

bool dpumap_stream_has_more(const struct dpumap_stream *stream)
{
	return stream->ssl && SSL_pending(stream->ssl) > 0;
}

bool dpumap_stream_has_input(const struct dpumap_stream *stream)
{
	return stream->ssl && SSL_has_pending(stream->ssl);
}

bool dpumap_stream_is_tls_server(const struct dpumap_stream *stream)
{
	return stream->ssl && SSL_is_server(stream->ssl);
}
