/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The execution of a command, with its faults on demand and its trace. */
#ifndef EMU_DISPATCH_H
#define EMU_DISPATCH_H

#include "emu/server/uverbs/cmd.h"

/* Execute the ioctl whose header is at `uhdr` in the client. Returns 0 or a negative errno. */
int emu_ioctl(struct emu_cmd *c, uint64_t uhdr);

#endif
