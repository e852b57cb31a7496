/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Firmware commands that have no file of an object. */
#ifndef EMU_SERVER_FIRMWARE_COMMANDS_H
#define EMU_SERVER_FIRMWARE_COMMANDS_H

#include "emu/server/firmware/mailbox.h"

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

#endif
