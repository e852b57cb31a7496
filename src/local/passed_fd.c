/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "local/passed_fd.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr head;
	char space[CMSG_SPACE(sizeof(int))];
};

/* CMSG_SPACE() of one descriptor holds two: the kernel fills what CMSG_LEN() leaves, and closes the rest. */
ssize_t dpumap_receive_fd(int socket, void *buf, size_t len, int flags, int *fd)
{
	union control control;
	struct iovec iov = {.iov_base = buf, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control};
	struct cmsghdr *head;
	ssize_t n;

	*fd = -1;
	do {
		msg.msg_controllen = CMSG_LEN(sizeof(int));
		n = recvmsg(socket, &msg, flags | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return n;
	head = CMSG_FIRSTHDR(&msg);
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(head), sizeof(int));
	if (*fd >= 0 && msg.msg_flags & MSG_CTRUNC) {
		close(*fd);
		*fd = -1;
	}
	return n;
}

ssize_t dpumap_send_fd(int socket, const void *buf, size_t len, int flags, int fd)
{
	union control control = {
		.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
			 .cmsg_level = SOL_SOCKET,
			 .cmsg_type = SCM_RIGHTS},
	};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)buf, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
	}
	do
		n = sendmsg(socket, &msg, flags);
	while (n < 0 && errno == EINTR);
	return n;
}
