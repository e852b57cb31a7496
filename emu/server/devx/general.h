/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Queries without an object that drivers send when they open the device. */
#ifndef EMU_DEVX_GENERAL_H
#define EMU_DEVX_GENERAL_H

#include "emu/server/devx/mailbox.h"

/* Firmware commands. */
int emu_devx_query_lag(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_issi(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_vport_state(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_nop(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);

#endif
