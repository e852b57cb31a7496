/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* QUERY_HCA_CAP (the capabilities of a function) and QUERY_ESW_FUNCTIONS (the functions it manages). */
#ifndef EMU_DEVX_CAPS_H
#define EMU_DEVX_CAPS_H

#include "emu/server/devx/mailbox.h"

/* Firmware commands. */
int emu_devx_query_hca_cap(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_esw_functions(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);

#endif
