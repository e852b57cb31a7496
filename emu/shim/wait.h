/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waiting for an answer of the server, and for what a pipe holds. */
#ifndef EMU_SHIM_WAIT_H
#define EMU_SHIM_WAIT_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Wait until the pipe holds something; `*len` (if not NULL) is the length of its first packet, or of all of
 * it. This behaves as a read: a signal ends it or, with SA_RESTART, does not; a thread can be cancelled in
 * it; and O_NONBLOCK ends it with EAGAIN. 0 or an errno; EIO: nobody will write to it any more.
 */
int emu_pipe_wait(int fd, size_t *len);

/*
 * Wait for a message of the server, or for the end of the connection. All signals are blocked meanwhile, as a
 * handler may use the device. But a server that hangs must not make its programs immune to signals: after two
 * seconds the program says what it waits for, and its signals are open until the answer comes. `open` is the
 * program's own mask. `server` is the process to name, 0: the socket's peer. Keeps errno.
 */
void emu_answer_await(int fd, pid_t server, const sigset_t *open);

#endif
