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
	uint8_t rmpc[EMU_RMPC_BYTES]; /* what it was created with */
};

/* Firmware commands. */
int emu_devx_create_rmp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_modify_rmp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_rmp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
/* The number of receives below which a shared receive queue sends an event; 0: none. */
uint32_t emu_devx_srq_limit(const struct emu_devx_rmp *rmp);
void emu_devx_srq_set_limit(const struct emu_devx_rmp *rmp, uint32_t limit);

int emu_devx_rmp_undo(struct emu_uobj *o);

#endif
