/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Queries of the device, its port and its GIDs. */
#ifndef EMU_DEVICE_H
#define EMU_DEVICE_H

#include "emu/server/uverbs/method.h"

extern const struct emu_method emu_methods_device[];

/* Legacy commands. */
int emu_write_query_device(struct emu_cmd *c);
int emu_write_query_device_ex(struct emu_cmd *c);

#endif
