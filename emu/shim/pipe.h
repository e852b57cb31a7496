/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waiting for what a pipe holds, without taking it. */
#ifndef EMU_SHIM_PIPE_H
#define EMU_SHIM_PIPE_H

#include <stddef.h>

/*
 * Wait until the pipe holds something; `*len` (if not NULL) is the length of its first packet, or of all of
 * it. This behaves as a read: a signal ends it or, with SA_RESTART, does not; a thread can be cancelled in
 * it; and O_NONBLOCK ends it with EAGAIN. 0 or an errno; EIO: nobody will write to it any more.
 */
int emu_pipe_wait(int fd, size_t *len);

#endif
