/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/mm/attach.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/ipc/proto.h"
#include "emu/ipc/sock.h"
#include "emu/server/mm/mapping.h"
#include "emu/server/mm/user_copy.h"

/* In another PID namespace, a process's engine could not find other processes by their numbers. */
static int check_memory_access(pid_t pid, const struct emu_request *req)
{
	uint64_t seen = 0;
	int err;

	if ((uint32_t)req->arg[1] != (uint32_t)pid)
		return -ESRCH;
	err = emu_copy_from(pid, &seen, req->arg[0], sizeof(seen));
	if (!err)
		err = emu_copy_to(pid, req->arg[0], &seen, sizeof(seen));
	return err ? err : (seen == req->arg[1] ? 0 : -EPERM);
}

/* Answers go only to a socket that preserves packets, whatever descriptor a client has sent. */
static bool is_packet_socket(int fd)
{
	int domain = 0, type = 0;
	socklen_t len = sizeof(int);

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) && domain == AF_UNIX &&
	       !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_SEQPACKET;
}

int emu_attach_receive(int file, struct emu_attach *a)
{
	struct emu_request req;
	int fds[EMU_MAX_FDS], err;
	unsigned int nfds;
	ssize_t n;

	n = emu_sock_recv_now(file, &req, sizeof(req), fds, EMU_MAX_FDS, &nfds, &a->pid);
	if (n != sizeof(req) || req.magic != EMU_MAGIC || req.op != EMU_OP_ATTACH || nfds != 1 ||
	    !is_packet_socket(fds[0])) {
		if (nfds == 1 && is_packet_socket(fds[0]) && emu_sock_is_of_other_build(&req, n))
			emu_sock_answer_other_build(fds[0]);
		while (nfds) /* also those of a packet without data */
			close(fds[--nfds]);
		return -EPROTO;
	}
	a->fd = fds[0];
	a->ino = req.arg[2];
	emu_mappings_forget();
	err = check_memory_access(a->pid, &req);
	if (err)
		emu_attach_answer(a, err);
	return err;
}

int emu_attach_answer(const struct emu_attach *a, int err)
{
	const struct emu_reply r = {.magic = EMU_MAGIC, .error = -err};
	int sent = emu_sock_send_now(a->fd, &r, sizeof(r), NULL, 0);

	if (err)
		close(a->fd);
	return sent;
}
