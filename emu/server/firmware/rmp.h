/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Receive memory pools: shared receive queues that firmware commands create. */
#ifndef EMU_FIRMWARE_RMP_H
#define EMU_FIRMWARE_RMP_H

#include "emu/server/firmware/mailbox.h"
#include "emu/server/firmware/umem.h"

struct emu_devx_rmp {
	struct emu_uobj obj;
	uint32_t srqn; /* 0: not created yet, and nothing is held */
	struct emu_pd *pd;
	struct emu_umem *buf, *dbr;
};

/* Firmware command. */
int emu_devx_create_rmp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);

int emu_devx_rmp_undo(struct emu_uobj *o);

#endif
