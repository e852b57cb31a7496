/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Packets with descriptors over Unix sockets; shared by the server, the tool and the shim. */
#ifndef EMU_SOCK_H
#define EMU_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define EMU_SOCK_FDS 16 /* in a packet */

/* Send one packet with `nfds` descriptors (they stay the caller's). Returns 0 or an errno. */
int emu_sock_send(int fd, const void *buf, size_t len, const int *fds, unsigned int nfds);
/* The same without waiting: EAGAIN if the other end does not read. */
int emu_sock_send_now(int fd, const void *buf, size_t len, const int *fds, unsigned int nfds);

/*
 * Receive one packet and up to `max_fds` descriptors, which become the caller's (close-on-exec).
 * Returns the packet's length, 0 at the end of the stream, or a negative errno. `*pid` is the
 * sender's process id as the kernel vouches for it if the socket has SO_PASSCRED, else 0; may be
 * NULL.
 */
ssize_t emu_sock_recv(int fd, void *buf, size_t len, int *fds, unsigned int max_fds,
		      unsigned int *nfds, pid_t *pid);
/* The same without waiting: -EAGAIN if there is no packet. */
ssize_t emu_sock_recv_now(int fd, void *buf, size_t len, int *fds, unsigned int max_fds,
			  unsigned int *nfds, pid_t *pid);

/* Is this the message of another build (proto.h)? `len` as emu_sock_recv() returns it. */
bool emu_sock_is_of_other_build(const void *message, ssize_t len);
/* Let a client of another build see that the server is of this one; does not wait. */
void emu_sock_answer_other_build(int fd);

#endif
