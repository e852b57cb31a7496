/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Receive memory pools: shared receive queues that firmware commands create. */
#ifndef EMU_FIRMWARE_RMP_H
#define EMU_FIRMWARE_RMP_H

#include "emu/prm/prm_rmp.h"
#include "emu/server/firmware/mailbox.h"
#include "emu/server/firmware/umem.h"

struct emu_devx_rmp {
	struct emu_uobj obj;
	uint32_t srqn; /* 0: not created yet, and nothing is held */
	struct emu_pd *pd;
	struct emu_umem *buf, *dbr;
};

/* Firmware commands. */
int emu_devx_create_rmp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_modify_rmp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_rmp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);

/* The number of a shared receive queue of verbs or of a command; 0: it is another object. */
uint32_t emu_srq_number(const struct emu_uobj *o);
/* The same if it is of a type (enum emu_srq_type) and if the command names it; else 0. */
uint32_t emu_srq_named(const struct emu_mbox *m, const struct emu_uobj *o, uint8_t type);
/* Send an event when fewer receives are left; 0: never. */
void emu_srq_set_limit(uint32_t srqn, uint32_t limit);

int emu_devx_rmp_undo(struct emu_uobj *o);

#endif
