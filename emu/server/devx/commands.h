/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Firmware commands that have no file of an object, and the methods that carry all of them. */
#ifndef EMU_SERVER_DEVX_COMMANDS_H
#define EMU_SERVER_DEVX_COMMANDS_H

#include "emu/server/devx/mailbox.h"
#include "emu/server/uverbs/method.h"

/* QUERY_HCA_CAP (the capabilities of a function) and QUERY_ESW_FUNCTIONS (the functions it manages). */
int emu_devx_query_hca_cap(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_esw_functions(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);

/* Flow counters. Nothing steers flows here, so no rule refers to a counter, and all stay at 0. */
#define EMU_MAX_FLOW_COUNTERS 4096u /* of a function */

struct emu_devx_counter {
	struct emu_uobj obj;
	uint32_t id;
};

int emu_devx_alloc_counter(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_counter(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);

/* Queries without an object that drivers send when they open the device. */
int emu_devx_query_lag(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_issi(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_vport_state(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_nop(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);

/*
 * DEVX: firmware commands in mailboxes. What the kernel driver filters is refused with EINVAL; what
 * the firmware would refuse fails with EREMOTEIO and a status in the out mailbox.
 */
extern const struct emu_method emu_methods_devx[];

#endif
