/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/fds.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/engine/cq.h"
#include "emu/engine/keys.h"
#include "emu/engine/net.h"
#include "emu/engine/state.h"
#include "emu/ipc/note.h"

union control {
	char bytes[CMSG_SPACE(ENGINE_NET_SOCKETS * sizeof(int))];
	struct cmsghdr align;
};

union fds_message {
	struct emu_endpoint_fds wire;
	struct emu_channel_fd channel;
	struct emu_key_given key;
};
_Static_assert(sizeof(struct emu_endpoint_fds) != sizeof(struct emu_channel_fd) &&
		       sizeof(struct emu_endpoint_fds) != sizeof(struct emu_key_given) &&
		       sizeof(struct emu_channel_fd) != sizeof(struct emu_key_given),
	       "the messages differ in length");

void emu_fds_close(const int *fd, uint32_t n)
{
	while (n--)
		syscall(SYS_close, fd[n]);
}

static uint32_t descriptors_of(struct msghdr *m, int fd[static ENGINE_NET_SOCKETS])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t bytes;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	bytes = c->cmsg_len - CMSG_LEN(0);
	if (bytes > ENGINE_NET_SOCKETS * sizeof(fd[0]))
		return 0;
	memcpy(fd, CMSG_DATA(c), bytes);
	return (uint32_t)(bytes / sizeof(fd[0]));
}

void emu_fds_receive(struct engine *e)
{
	union fds_message g;
	union control control;
	struct iovec piece = {&g, sizeof(g)};
	int fd[ENGINE_NET_SOCKETS];
	uint32_t n;

	for (;;) {
		struct msghdr m = {.msg_iov = &piece,
				   .msg_iovlen = 1,
				   .msg_control = &control,
				   .msg_controllen = sizeof(control)};
		long r =
			syscall(SYS_recvmsg, e->cfg.notify_fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

		if (r <= 0)
			return;
		n = descriptors_of(&m, fd);
		if (r == sizeof(g.wire))
			emu_net_accept(e, &g.wire, fd, n);
		else if (r == sizeof(g.channel) && n == 1)
			emu_cq_accept(e, &g.channel, fd[0]);
		else
			emu_fds_close(fd, n);
		if (r == sizeof(g.key)) {
			emu_key_accept(e, &g.key);
			explicit_bzero(&g, sizeof(g));
		}
	}
}
