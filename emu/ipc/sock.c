/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/ipc/sock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/ipc/proto.h"

static int send_plain(int fd, const void *buf, size_t len, int flags)
{
	ssize_t n;

	do
		n = send(fd, buf, len, MSG_NOSIGNAL | flags);
	while (n < 0 && errno == EINTR);
	return n < 0 ? errno : 0;
}

static int send_packet(int fd, const void *buf, size_t len, const int *fds, unsigned int nfds,
		       int flags)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(EMU_SOCK_FDS * sizeof(int))];
	} control = {0};
	struct iovec iov = {.iov_base = (void *)(size_t)buf, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t n;

	if (nfds > EMU_SOCK_FDS)
		return EINVAL;
	if (!nfds)
		return send_plain(fd, buf, len, flags);
	msg.msg_control = &control;
	msg.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
	c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
	memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
	do
		n = sendmsg(fd, &msg, MSG_NOSIGNAL | flags);
	while (n < 0 && errno == EINTR);
	return n < 0 ? errno : 0;
}

int emu_sock_send(int fd, const void *buf, size_t len, const int *fds, unsigned int nfds)
{
	return send_packet(fd, buf, len, fds, nfds, 0);
}

int emu_sock_send_now(int fd, const void *buf, size_t len, const int *fds, unsigned int nfds)
{
	return send_packet(fd, buf, len, fds, nfds, MSG_DONTWAIT);
}

static void take_fds(const struct cmsghdr *c, int *fds, unsigned int max_fds, unsigned int *nfds)
{
	size_t bytes = c->cmsg_len - CMSG_LEN(0);
	int fd;

	for (size_t i = 0; i + sizeof(fd) <= bytes; i += sizeof(fd)) {
		memcpy(&fd, CMSG_DATA(c) + i, sizeof(fd));
		if (*nfds < max_fds)
			fds[(*nfds)++] = fd;
		else
			close(fd);
	}
}

struct space {
	void *buf;
	size_t len;
	int *fds;
	unsigned int max_fds;
};

static ssize_t recv_packet(int fd, const struct space *to, unsigned int *nfds, pid_t *pid,
			   int flags)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(EMU_SOCK_FDS * sizeof(int)) +
			   CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec iov = {.iov_base = to->buf, .iov_len = to->len};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct ucred cred;
	ssize_t n;

	*nfds = 0;
	if (pid)
		*pid = 0;
	do
		/* A sanitizer of the program must not track descriptors that it may not see closed. */
		n = syscall(SYS_recvmsg, fd, &msg, MSG_CMSG_CLOEXEC | flags);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS)
			take_fds(c, to->fds, to->max_fds, nfds);
		if (c->cmsg_type == SCM_CREDENTIALS && pid) {
			memcpy(&cred, CMSG_DATA(c), sizeof(cred));
			*pid = cred.pid;
		}
	}
	if (msg.msg_flags & MSG_TRUNC) {
		while (*nfds)
			close(to->fds[--*nfds]);
		return -EMSGSIZE;
	}
	return n;
}

ssize_t emu_sock_recv(int fd, void *buf, size_t len, int *fds, unsigned int max_fds,
		      unsigned int *nfds, pid_t *pid)
{
	const struct space to = {buf, len, fds, max_fds};

	return recv_packet(fd, &to, nfds, pid, 0);
}

ssize_t emu_sock_recv_now(int fd, void *buf, size_t len, int *fds, unsigned int max_fds,
			  unsigned int *nfds, pid_t *pid)
{
	const struct space to = {buf, len, fds, max_fds};

	return recv_packet(fd, &to, nfds, pid, MSG_DONTWAIT);
}

bool emu_sock_is_of_other_build(const void *message, ssize_t len)
{
	uint32_t magic;

	if (len < (ssize_t)sizeof(magic))
		return false;
	memcpy(&magic, message, sizeof(magic));
	return magic != EMU_MAGIC;
}

void emu_sock_answer_other_build(int fd)
{
	const struct emu_reply reply = {.magic = EMU_MAGIC, .error = EPROTONOSUPPORT};

	emu_sock_send_now(fd, &reply, sizeof(reply), NULL, 0);
}
