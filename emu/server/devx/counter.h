/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Flow counters. Nothing steers flows here, so no rule refers to a counter, and all stay at 0. */
#ifndef EMU_DEVX_COUNTER_H
#define EMU_DEVX_COUNTER_H

#include "emu/server/devx/mailbox.h"

#define EMU_MAX_FLOW_COUNTERS 4096u /* of a function */

struct emu_devx_counter {
	struct emu_uobj obj;
	uint32_t id;
};

/* Firmware commands. */
int emu_devx_alloc_counter(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_counter(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);

#endif
