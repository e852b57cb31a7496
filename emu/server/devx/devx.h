/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DEVX: firmware commands in mailboxes. What the kernel driver filters is refused with EINVAL; what
 * the firmware would refuse fails with EREMOTEIO and a status in the out mailbox.
 */
#ifndef EMU_DEVX_H
#define EMU_DEVX_H

#include "emu/server/uverbs/method.h"

extern const struct emu_method emu_methods_devx[];

#endif
