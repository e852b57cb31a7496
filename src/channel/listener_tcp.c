/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/listener_tcp.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/listener.h"

static bool bind_and_listen(int fd, const struct addrinfo *info)
{
	const int on = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0)
		return false;
	/* One socket of both families for "*". */
	if (info->ai_family == AF_INET6) {
		const int off = 0;

		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	}
	return bind(fd, info->ai_addr, info->ai_addrlen) == 0 &&
	       listen(fd, DPUMAP_LISTEN_BACKLOG) == 0;
}

/* The errno of the last attempt, or 0. */
static int try_all(const struct addrinfo *list, int *fd)
{
	int err = EADDRNOTAVAIL;

	for (const struct addrinfo *info = list; info; info = info->ai_next) {
		*fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (*fd >= 0 && bind_and_listen(*fd, info))
			return 0;
		err = errno;
		if (*fd >= 0)
			close(*fd);
	}
	return err;
}

doca_error_t dpumap_listen_tcp(const struct dpumap_address *address, int *fd,
			       struct dpumap_error *error)
{
	const struct addrinfo hints = {
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	const char *host = strcmp(address->host, "*") == 0 ? NULL : address->host;
	struct addrinfo *list;
	int err;

	err = getaddrinfo(host ? host : "::", address->port, &hints, &list);
	if (err)
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "cannot listen on %s: %s",
					address->host, gai_strerror(err));
	err = try_all(list, fd);
	freeaddrinfo(list);
	/* A kernel without IPv6 */
	if (err == EAFNOSUPPORT && !host && getaddrinfo(NULL, address->port, &hints, &list) == 0) {
		err = try_all(list, fd);
		freeaddrinfo(list);
	}
	if (err)
		return dpumap_error_errno(error, err, "cannot listen on %s port %s", address->host,
					  address->port);
	return DOCA_SUCCESS;
}
