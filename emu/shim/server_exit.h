/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What happens when the server ends. To the program its device was removed: commands fail, and it
 * frees the memory of what it destroys. But its engine runs on, to flush the completions that the
 * program waits for. So what the server did for a destroyed object is done here: no engine touches
 * its memory after the command has failed. All functions are called with the lock of the engine
 * held (kernel.c).
 */
#ifndef EMU_SHIM_SERVER_EXIT_H
#define EMU_SHIM_SERVER_EXIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emu/engine/engine.h"

/* The process that created the other end of a socket; 0 if that is not known. */
pid_t emu_server_exit_pid(int socket);
/* This process has started an engine for a server; config->notify_fd is -1 if the engine hides it. */
void emu_server_exit_watch(const struct emu_engine_config *config, pid_t server);
/* For a forked child, which has no engine. */
void emu_server_exit_forget(void);
/*
 * A command on the device `fd` was not answered; `head` is its ioctl header with the attributes, if
 * `len` is not 0. If a server has ended, no engine copies any more when this returns; if the
 * command was to destroy a queue, no engine uses it any more.
 */
void emu_server_exit_handle(int fd, const uint8_t *head, size_t len);

#endif
