/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A descriptor that is passed through a Unix socket. */
#ifndef DPUMAP_LOCAL_PASSED_FD_H
#define DPUMAP_LOCAL_PASSED_FD_H

#include <stddef.h>
#include <sys/types.h>

/*
 * As recv(), which it repeats if a signal interrupts it. *fd becomes the descriptor that came along,
 * close-on-exec, which the caller closes; -1 if there was none, or more than one: the peer chooses how
 * many it passes, and all of them are closed.
 */
ssize_t dpumap_receive_fd(int socket, void *buf, size_t len, int flags, int *fd);
/* As send(), which it repeats if a signal interrupts it, with a descriptor that stays the caller's; -1: with none. */
ssize_t dpumap_send_fd(int socket, const void *buf, size_t len, int flags, int fd);

#endif
