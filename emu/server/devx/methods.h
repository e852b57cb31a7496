/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The two doors to the firmware (emu/server/firmware/). DEVX: commands of programs in mailboxes. What the kernel driver
 * filters is refused with EINVAL; what the firmware would refuse fails with EREMOTEIO and a status in the out mailbox.
 * The driver of a PCI function: its file executes commands as the kernel, without the kernel's checks before them
 * (emu/ipc/firmware.h).
 */
#ifndef EMU_SERVER_DEVX_METHODS_H
#define EMU_SERVER_DEVX_METHODS_H

#include "emu/ipc/note.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/method.h"

extern const struct emu_method emu_methods_devx[];
extern const struct emu_method emu_methods_function[];

/* Methods of a program's umems (umem.c). */
int emu_devx_umem_reg(struct emu_cmd *c);
int emu_devx_umem_dereg(struct emu_cmd *c);

/* Deliver an engine's note to the event queues of functions. */
void emu_driver_note(const struct emu_note *n);
/* The file has gone. */
void emu_driver_free(struct emu_file *f);

#endif
