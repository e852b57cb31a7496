/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Round trips by plain sockets, and by OpenSSL with the settings of dpumap's connections. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "ping.h"

static const uint8_t psk[32] = {1};

struct bare {
	int fd;
	SSL_CTX *ctx;
	SSL *ssl; /* NULL without TLS */
};

/* --- connections ------------------------------------------------------------------------------ */

static int listen_at(int family, struct sockaddr_storage *at, socklen_t *len)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* A Unix socket gets an abstract name, and a TCP socket a port. */
	memset(at, 0, sizeof(*at));
	at->ss_family = (sa_family_t)family;
	((struct sockaddr_in *)at)->sin_addr.s_addr =
		family == AF_INET ? htonl(INADDR_LOOPBACK) : 0;
	*len = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(sa_family_t);
	if (fd < 0 || bind(fd, (struct sockaddr *)at, *len) || listen(fd, 1))
		return -1;
	*len = sizeof(*at);
	return getsockname(fd, (struct sockaddr *)at, len) ? -1 : fd;
}

static int meet(const struct ping *ping, int family)
{
	struct sockaddr_storage at;
	socklen_t len;
	int fd, listener;

	if (ping->is_server) {
		listener = listen_at(family, &at, &len);
		if (listener < 0 || !duo_send(ping->duo, &len, sizeof(len)) ||
		    !duo_send(ping->duo, &at, sizeof(at)))
			return -1;
		fd = accept(listener, NULL, NULL);
		close(listener);
	} else {
		fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0 || !duo_receive(ping->duo, &len, sizeof(len)) ||
		    !duo_receive(ping->duo, &at, sizeof(at)) ||
		    connect(fd, (struct sockaddr *)&at, len))
			return -1;
	}
	return fd;
}

static bool fail(const char *what)
{
	perror(what);
	return false;
}

static bool open_bare(struct ping *ping, int family)
{
	struct bare *b = calloc(1, sizeof(*b));

	ping->own = b;
	if (!b)
		return fail("bench");
	b->fd = meet(ping, family);
	return b->fd >= 0 || fail("bench: sockets cannot be connected");
}

static bool make_nonblocking(int fd)
{
	return !fcntl(fd, F_SETFL, O_NONBLOCK) || fail("bench");
}

static bool open_unix(struct ping *ping)
{
	return open_bare(ping, AF_UNIX) && make_nonblocking(((struct bare *)ping->own)->fd);
}

static SSL_SESSION *make_session(SSL *ssl)
{
	static const uint8_t suite[] = {0x13, 0x02}; /* TLS_AES_256_GCM_SHA384 */
	SSL_SESSION *session = SSL_SESSION_new();

	if (session && SSL_SESSION_set1_master_key(session, psk, sizeof(psk)) &&
	    SSL_SESSION_set_cipher(session, SSL_CIPHER_find(ssl, suite)) &&
	    SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION))
		return session;
	SSL_SESSION_free(session);
	return NULL;
}

static int use_session(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *id_len,
		       SSL_SESSION **session)
{
	(void)md;
	*id = (const unsigned char *)"bench";
	*id_len = 5;
	*session = make_session(ssl);
	return *session != NULL;
}

static int find_session(SSL *ssl, const unsigned char *id, size_t id_len, SSL_SESSION **session)
{
	(void)id;
	(void)id_len;
	*session = make_session(ssl);
	return *session != NULL;
}

static bool start_tls(const struct ping *ping, struct bare *b)
{
	b->ctx = SSL_CTX_new(TLS_method());
	if (!b->ctx || !SSL_CTX_set_min_proto_version(b->ctx, TLS1_3_VERSION) ||
	    !SSL_CTX_set_ciphersuites(b->ctx, "TLS_AES_256_GCM_SHA384") ||
	    !SSL_CTX_set_num_tickets(b->ctx, 0))
		return false;
	SSL_CTX_set_options(b->ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
					    SSL_OP_NO_COMPRESSION | SSL_OP_CLEANSE_PLAINTEXT);
	SSL_CTX_set_session_cache_mode(b->ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(b->ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
					 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					 SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_psk_use_session_callback(b->ctx, use_session);
	SSL_CTX_set_psk_find_session_callback(b->ctx, find_session);
	b->ssl = SSL_new(b->ctx);
	return b->ssl && SSL_set_fd(b->ssl, b->fd) &&
	       (ping->is_server ? SSL_accept(b->ssl) : SSL_connect(b->ssl)) == 1;
}

static bool open_tls(struct ping *ping)
{
	struct bare *b;
	int on = 1;

	if (!open_bare(ping, AF_INET))
		return false;
	b = ping->own;
	if (setsockopt(b->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) || !start_tls(ping, b)) {
		fprintf(stderr, "bench: TLS cannot be started\n");
		return false;
	}
	return make_nonblocking(b->fd);
}

static void close_bare(struct ping *ping)
{
	struct bare *b = ping->own;

	if (!b)
		return;
	SSL_free(b->ssl);
	SSL_CTX_free(b->ctx);
	close(b->fd);
	free(b);
}

/* --- messages --------------------------------------------------------------------------------- */

/* The number of bytes; 0 if none has arrived, and -1 after an error. */
static int read_some(const struct bare *b, uint8_t *to, size_t len)
{
	size_t got;
	ssize_t n;

	if (b->ssl) {
		if (SSL_read_ex(b->ssl, to, len, &got) == 1)
			return (int)got;
		return SSL_get_error(b->ssl, 0) == SSL_ERROR_WANT_READ ? 0 : -1;
	}
	n = recv(b->fd, to, len, 0);
	if (n > 0)
		return (int)n;
	return n < 0 && errno == EAGAIN ? 0 : -1;
}

static bool receive(const struct ping *ping, const struct bare *b)
{
	uint8_t message[PING_LEN];
	size_t at = 0;

	while (at < PING_LEN) {
		struct pollfd event = {.fd = b->fd, .events = POLLIN};
		int n = read_some(b, message + at, PING_LEN - at);

		if (n < 0)
			return fail("bench: receiving");
		at += (size_t)n;
		if (!n && ping->waits && poll(&event, 1, -1) < 0)
			return fail("bench: poll");
	}
	return true;
}

static bool send_one(const struct bare *b)
{
	static const uint8_t message[PING_LEN];
	size_t n;

	if (b->ssl)
		return SSL_write_ex(b->ssl, message, PING_LEN, &n) == 1;
	return send(b->fd, message, PING_LEN, MSG_NOSIGNAL) == PING_LEN;
}

static bool run(struct ping *ping, size_t round_trips)
{
	const struct bare *b = ping->own;

	for (size_t i = 0; i < round_trips; i++) {
		if (!ping->is_server && !send_one(b))
			return fail("bench: sending");
		if (!receive(ping, b))
			return false;
		if (ping->is_server && !send_one(b))
			return fail("bench: sending");
	}
	return true;
}

const struct ping_kind ping_unix = {"unix socket", open_unix, close_bare, run};
const struct ping_kind ping_tls = {"TLS socket", open_tls, close_bare, run};
