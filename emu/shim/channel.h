/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files of the emulated kernel, and this process's channels to them (proto.h). A file is a socket
 * that is connected to `name` in the directory of the role. It is recognised by the address of its
 * other end, so it may arrive by dup, fork, exec or SCM_RIGHTS. Threads use the same file side by
 * side: each takes a channel that is idle, or attaches another one. No lock is held while a request
 * waits for its reply, so the server must answer each request without waiting.
 *
 * Functions return 0 or an errno and may be called from any thread, also in a forked child.
 */
#ifndef EMU_SHIM_CHANNEL_H
#define EMU_SHIM_CHANNEL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "emu/ipc/proto.h"

#define EMU_NOT_OURS (-1) /* distinct from all errno values */

struct emu_server_call {
	struct emu_packet packet;
	size_t head_len; /* bytes of packet.head */
	/*
	 * Set it if only the shim uses the descriptors of the reply. It is called with a valid reply
	 * without an error, and returns 0 or an errno, the result of the call. The descriptors
	 * are closed afterwards, except those that it set to -1. No fork happens meanwhile, so that
	 * no child inherits them. It must not call the server.
	 */
	int (*take)(void *arg, const struct emu_reply *rep, int *fds);
	void *arg;
	const sigset_t
		*signals; /* the program's mask, if the caller has blocked signals, or NULL */
};

/* Begin a call: the header is set, everything else is 0. */
void emu_server_call_init(struct emu_server_call *q, enum emu_op op);

/*
 * Connect to the server by the socket `name` in the directory of the role; it is closed on exec. The
 * flags are SOCK_NONBLOCK or 0. If there is no server that this process may use, say why on stderr.
 */
int emu_channel_connect(const char *name, int flags, int *fd);

/*
 * Give a descriptor that only the shim uses one of the highest numbers, if there is a free one: programs count theirs
 * from the lowest. It is closed on exec. Returns the new number, or else `fd`.
 */
int emu_channel_raise(int fd);

/*
 * Open, or describe as stat() does, the file `name` in the directory of the role. `flags` as in
 * open(): O_CLOEXEC and O_NONBLOCK are honoured.
 */
int emu_channel_open(const char *name, int flags, int *fd);
int emu_channel_stat(const char *name, struct stat *st);

/*
 * Is `fd` a file of the emulated kernel whose name begins with `name`? `*number` is the number after
 * it, 0 if there is none; may be NULL. Keeps errno.
 */
bool emu_channel_is_file(int fd, const char *name, unsigned int *number);

/*
 * Send a request about the open file `fd`, whose name begins with `name` (a string that is not
 * freed), and wait for the reply. EMU_NOT_OURS: it is not such a file. Any other error: there was
 * no valid reply; rep->error is the server's result. `fds` has room for EMU_MAX_FDS, and receives
 * rep->nfds descriptors; may be NULL if there are none. Keeps errno. Meanwhile the thread cannot be
 * cancelled, and all signals are blocked, unless the server hangs (answer.h).
 */
int emu_channel_ask(int fd, const char *name, const struct emu_server_call *q,
		    struct emu_reply *rep, int *fds);

/* A file of which the program closes a descriptor. */
struct emu_closing {
	dev_t dev;
	ino_t ino;	 /* 0: not a file that has channels */
	uint64_t newest; /* of its channels */
};

/*
 * Call these before and after the close() of any descriptor. If it was the file's last one, the
 * server has destroyed all objects of the file when the second one returns, and no socket of its
 * channels is left. Both keep errno.
 */
struct emu_closing emu_channel_before_close(int fd);
void emu_channel_after_close(const struct emu_closing *file);

/*
 * Register what fork() needs, once; emu_channel_ask() does it too. A caller that holds a lock of its
 * own while it asks registers its own handlers after this, so that fork() takes that lock first.
 */
void emu_channel_init(void);

#endif
