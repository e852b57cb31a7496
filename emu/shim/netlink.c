/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A netlink socket of the RDMA family is a connection to the server, which answers like the kernel
 * (server/net/nldev.c). Packets keep their boundaries, and sendmsg() ignores a destination on a
 * connected socket, so only addresses need translation: a caller that asks for one gets a netlink
 * address, the kernel's. As for devices, no state is kept about descriptors.
 */
#include "emu/shim/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/ipc/proto.h"
#include "emu/shim/channel.h"
#include "emu/shim/interpose.h"

#define NAME "/netlink"

int emu_netlink_socket(int type, int *fd)
{
	int err = emu_channel_connect(&NAME[1], type & SOCK_NONBLOCK, fd);

	if (!err && !(type & SOCK_CLOEXEC))
		fcntl(*fd, F_SETFD, 0);
	return err && err != EMFILE && err != ENFILE ? EPROTONOSUPPORT : err;
}

static bool is_ours(const struct sockaddr_un *sa, socklen_t len)
{
	const char *dir = getenv(EMU_ENV_DIR);
	size_t n, path;

	if (!dir || len <= offsetof(struct sockaddr_un, sun_path) || sa->sun_family != AF_UNIX)
		return false;
	n = strlen(dir);
	path = strnlen(sa->sun_path, sizeof(sa->sun_path));
	return path > n + sizeof(NAME) - 1 && !strncmp(sa->sun_path, dir, n) &&
	       sa->sun_path[n] == '/' &&
	       !strncmp(sa->sun_path + path - (sizeof(NAME) - 1), NAME, sizeof(NAME) - 1);
}

/* Is it one of our netlink sockets? Keeps errno. */
static bool is_netlink(int fd)
{
	struct sockaddr_un sa = {0};
	socklen_t len = sizeof(sa);
	int saved = errno;
	bool ours;

	ours = !getpeername(fd, (struct sockaddr *)&sa, &len) && is_ours(&sa, len);
	errno = saved;
	return ours;
}

/* Store a netlink address as the kernel does: cut to the caller's buffer, with its full length. */
static void store_name(struct sockaddr *out, socklen_t room, socklen_t *len, uint32_t port)
{
	struct sockaddr_nl nl = {.nl_family = AF_NETLINK, .nl_pid = port};

	memcpy(out, &nl, room < sizeof(nl) ? room : sizeof(nl));
	*len = sizeof(nl);
}

EXPORT int bind(int fd, const struct sockaddr *sa, socklen_t len)
{
	if (sa && len >= sizeof(sa->sa_family) && sa->sa_family == AF_NETLINK && is_netlink(fd))
		return 0;
	return NEXT(bind)(fd, sa, len);
}

/* The port of an unbound or automatically bound netlink socket is the process's number. */
EXPORT int getsockname(int fd, struct sockaddr *restrict sa, socklen_t *restrict len)
{
	socklen_t room = len ? *len : 0;
	int ret = NEXT(getsockname)(fd, sa, len);

	if (!ret && room >= sizeof(sa->sa_family) && sa->sa_family == AF_UNIX && is_netlink(fd))
		store_name(sa, room, len, (uint32_t)getpid());
	return ret;
}

/* Netlink's own options change how errors are reported; the errors here are short in any case. */
EXPORT int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if (level == SOL_NETLINK && is_netlink(fd))
		return 0;
	return NEXT(setsockopt)(fd, level, name, value, len);
}

/*
 * Does the caller expect netlink addresses on this socket? Such a caller has room for exactly one,
 * and then the server's address, of a Unix socket, must not be fetched, as it is longer. Most
 * callers pay nothing for this.
 */
static bool wants_netlink(int fd, const struct sockaddr *sa, socklen_t room)
{
	return sa && room == sizeof(struct sockaddr_nl) && is_netlink(fd);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct msghdr nameless = *msg;
	ssize_t n;

	if (!wants_netlink(fd, msg->msg_name, msg->msg_namelen))
		return NEXT(recvmsg)(fd, msg, flags);
	nameless.msg_name = NULL;
	nameless.msg_namelen = 0;
	n = NEXT(recvmsg)(fd, &nameless, flags);
	if (n < 0)
		return n;
	store_name(msg->msg_name, msg->msg_namelen, &msg->msg_namelen, 0);
	msg->msg_controllen = nameless.msg_controllen;
	msg->msg_flags = nameless.msg_flags;
	return n;
}

EXPORT ssize_t recvfrom(int fd, void *restrict buf, size_t size, int flags,
			struct sockaddr *restrict sa, socklen_t *restrict len)
{
	ssize_t n;

	if (!sa || !len || !wants_netlink(fd, sa, *len))
		return NEXT(recvfrom)(fd, buf, size, flags, sa, len);
	n = NEXT(recvfrom)(fd, buf, size, flags, NULL, NULL);
	if (n >= 0)
		store_name(sa, *len, len, 0);
	return n;
}
