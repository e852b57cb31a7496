/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How a process gets a channel to an open file of the emulated kernel (EMU_OP_ATTACH). */
#ifndef EMU_ATTACH_H
#define EMU_ATTACH_H

#include <stdint.h>
#include <sys/types.h>

struct emu_attach {
	int fd;	      /* the channel's end of the server */
	pid_t pid;    /* of the process, as the kernel vouches for it */
	uint64_t ino; /* of the file's socket in the process, as that states it */
};

/*
 * Receive a process's request for a channel from the file's socket, which has SO_PASSCRED. 0: `*a`
 * is to be answered. Negative errno: nothing is left to do; a process whose memory the server cannot
 * reach was answered.
 */
int emu_attach_receive(int file, struct emu_attach *a);

/*
 * Answer: 0, or a negative errno, which closes a->fd. Returns 0, or an errno if the process cannot
 * be answered; a->fd stays the caller's then.
 */
int emu_attach_answer(const struct emu_attach *a, int err);

#endif
