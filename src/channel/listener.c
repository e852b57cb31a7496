/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/listener_tcp.h"
#include "channel/stream.h"
#include "local/socket_file.h"

struct dpumap_listener {
	enum dpumap_address_kind kind;
	int fd;
	bool is_adopted;
	struct dpumap_address address;
	struct dpumap_socket_file file; /* of a Unix socket created here */
};

static struct dpumap_listener *allocate(struct dpumap_error *error)
{
	struct dpumap_listener *l = calloc(1, sizeof(*l));

	if (!l)
		dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a listener");
	return l;
}

doca_error_t dpumap_listener_create(const struct dpumap_address *address, bool open_to_all,
				    struct dpumap_listener **listener, struct dpumap_error *error)
{
	struct dpumap_listener *l = allocate(error);
	doca_error_t result;

	if (!l)
		return error->code;
	l->kind = address->kind;
	l->address = *address;
	if (address->kind == DPUMAP_ADDRESS_UNIX)
		result = dpumap_socket_file_listen(&address->path, open_to_all, &l->fd, &l->file,
						   error);
	else
		result = dpumap_listen_tcp(address, &l->fd, error);
	if (result != DOCA_SUCCESS) {
		free(l);
		return result;
	}
	*listener = l;
	return DOCA_SUCCESS;
}

static doca_error_t prepare(int fd, enum dpumap_address_kind *kind, struct dpumap_error *error)
{
	int domain = 0, listening = 0, flags;
	socklen_t len = sizeof(domain);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) != 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) != 0)
		return dpumap_error_errno(error, errno, "descriptor %d is not a listening socket",
					  fd);
	if (!listening || (domain != AF_UNIX && domain != AF_INET && domain != AF_INET6))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"descriptor %d is not a listening Unix or TCP socket", fd);
	/* systemd passes blocking sockets: accepting from one would block the server. */
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return dpumap_error_errno(error, errno, "cannot make descriptor %d non-blocking",
					  fd);
	*kind = domain == AF_UNIX ? DPUMAP_ADDRESS_UNIX : DPUMAP_ADDRESS_TLS;
	return DOCA_SUCCESS;
}

union address {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_storage storage;
};

/* An unnamed socket is at no address. */
static void find_address(int fd, struct dpumap_address *found)
{
	union address address = {0};
	socklen_t len = sizeof(address);

	if (getsockname(fd, &address.any, &len) != 0)
		return;
	if (address.any.sa_family == AF_UNIX) {
		found->kind = DPUMAP_ADDRESS_UNIX;
		found->path = address.un;
		return;
	}
	found->kind = DPUMAP_ADDRESS_TLS;
	getnameinfo(&address.any, len, found->host, sizeof(found->host), found->port,
		    sizeof(found->port), NI_NUMERICHOST | NI_NUMERICSERV);
	if (strcmp(found->host, "0.0.0.0") == 0 || strcmp(found->host, "::") == 0)
		snprintf(found->host, sizeof(found->host), "*");
}

doca_error_t dpumap_listener_adopt(int fd, struct dpumap_listener **listener,
				   struct dpumap_error *error)
{
	struct dpumap_listener *l = allocate(error);
	doca_error_t result;

	if (!l)
		return error->code;
	result = prepare(fd, &l->kind, error);
	if (result != DOCA_SUCCESS) {
		free(l);
		return result;
	}
	l->fd = fd;
	l->is_adopted = true;
	find_address(fd, &l->address);
	*listener = l;
	return DOCA_SUCCESS;
}

void dpumap_listener_destroy(struct dpumap_listener *listener)
{
	if (!listener)
		return;
	if (listener->kind == DPUMAP_ADDRESS_UNIX && !listener->is_adopted)
		dpumap_socket_file_remove(&listener->file);
	close(listener->fd);
	free(listener);
}

int dpumap_listener_fd(const struct dpumap_listener *listener)
{
	return listener->fd;
}

enum dpumap_address_kind dpumap_listener_kind(const struct dpumap_listener *listener)
{
	return listener->kind;
}

static uint16_t port_of(const union address *address)
{
	switch (address->any.sa_family) {
	case AF_INET:
		return ntohs(address->v4.sin_port);
	case AF_INET6:
		return ntohs(address->v6.sin6_port);
	default:
		return 0;
	}
}

/* The TCP port; 0 on a Unix socket. */
static uint16_t listening_port(const struct dpumap_listener *listener)
{
	union address address = {0};
	socklen_t len = sizeof(address);

	if (getsockname(listener->fd, &address.any, &len) != 0)
		return 0;
	return port_of(&address);
}

/* A socket of systemd for all hosts, or one that a name stands for, leaves no room for another. */
static bool is_host(const struct dpumap_listener *listener, const char *host)
{
	const char *own = listener->address.host;
	struct in6_addr number;

	return strcmp(own, host) == 0 ||
	       (listener->is_adopted && (strcmp(own, "*") == 0 || strcmp(host, "*") == 0 ||
					 (inet_pton(AF_INET, host, &number) != 1 &&
					  inet_pton(AF_INET6, host, &number) != 1)));
}

bool dpumap_listener_is_at(const struct dpumap_listener *listener,
			   const struct dpumap_address *address)
{
	const struct dpumap_address *own = &listener->address;

	if (own->kind != address->kind)
		return false;
	if (own->kind == DPUMAP_ADDRESS_UNIX)
		return strcmp(own->path.sun_path, address->path.sun_path) == 0;
	return is_host(listener, address->host) &&
	       (strcmp(own->port, address->port) == 0 ||
		strtoul(address->port, NULL, 10) == listening_port(listener));
}

doca_error_t dpumap_listener_open_to(const struct dpumap_listener *listener, bool all,
				     struct dpumap_error *error)
{
	if (listener->kind != DPUMAP_ADDRESS_UNIX || listener->is_adopted)
		return DOCA_SUCCESS;
	return dpumap_socket_file_open_to(&listener->file, all, error);
}

void dpumap_listener_describe(const struct dpumap_listener *listener, char *text, size_t size)
{
	const struct dpumap_address *own = &listener->address;
	bool is_v6 = strchr(own->host, ':');

	if (own->kind == DPUMAP_ADDRESS_UNIX)
		snprintf(text, size, "unix:%s", own->path.sun_path);
	else
		snprintf(text, size, "tls:%s%s%s:%u", is_v6 ? "[" : "", own->host, is_v6 ? "]" : "",
			 listening_port(listener));
}

bool dpumap_listener_is_adopted(const struct dpumap_listener *listener)
{
	return listener->is_adopted;
}

static doca_error_t identify_unix(int fd, struct dpumap_peer *peer, struct dpumap_error *error)
{
	struct ucred credentials;
	socklen_t len = sizeof(credentials);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &len) != 0)
		return dpumap_error_errno(error, errno, "cannot identify the peer");
	peer->pid = credentials.pid;
	peer->uid = credentials.uid;
	peer->gid = credentials.gid;
	snprintf(peer->text, sizeof(peer->text), "uid %u pid %d", peer->uid, peer->pid);
	snprintf(peer->source, sizeof(peer->source), "uid:%u", peer->uid);
	return DOCA_SUCCESS;
}

static doca_error_t identify_tcp(int fd, struct dpumap_peer *peer, struct dpumap_error *error)
{
	union address address = {0};
	socklen_t len = sizeof(address);
	char host[INET6_ADDRSTRLEN];

	if (getpeername(fd, &address.any, &len) != 0)
		return dpumap_error_errno(error, errno, "cannot identify the peer");
	dpumap_stream_tune(fd);
	inet_ntop(address.any.sa_family,
		  address.any.sa_family == AF_INET ? (void *)&address.v4.sin_addr
						   : (void *)&address.v6.sin6_addr,
		  host, sizeof(host));
	snprintf(peer->text, sizeof(peer->text),
		 address.any.sa_family == AF_INET ? "%s:%u" : "[%s]:%u", host, port_of(&address));
	dpumap_quota_name_address(&address.any, peer->source);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_listener_accept(struct dpumap_listener *listener, int *fd,
				    struct dpumap_peer *peer, struct dpumap_error *error)
{
	doca_error_t result;
	int f;

	do
		f = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	while (f < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (f < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return DOCA_ERROR_AGAIN;
	if (f < 0) {
		dpumap_error_errno(error, errno, "cannot accept a connection");
		error->code = DOCA_ERROR_FULL;
		return error->code;
	}
	*peer = (struct dpumap_peer){.kind = listener->kind};
	result = listener->kind == DPUMAP_ADDRESS_UNIX ? identify_unix(f, peer, error)
						       : identify_tcp(f, peer, error);
	if (result != DOCA_SUCCESS) {
		close(f);
		/* The peer disconnected: the next one can be accepted. */
		error->code = DOCA_ERROR_CONNECTION_RESET;
		return error->code;
	}
	*fd = f;
	return DOCA_SUCCESS;
}
