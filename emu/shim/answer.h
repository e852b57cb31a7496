/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Waiting for an answer of the server. All signals are blocked meanwhile, as a handler may use the device. But a server
 * that hangs must not make its programs immune to signals: after two seconds the program says what it waits for, and
 * its signals are open until the answer comes.
 */
#ifndef EMU_SHIM_ANSWER_H
#define EMU_SHIM_ANSWER_H

#include <signal.h>

/* Until a message or the end of the connection is there; `open` is the program's own mask. Keeps errno. */
void emu_answer_await(int fd, const sigset_t *open);

#endif
