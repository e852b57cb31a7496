/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Targets of DC that firmware commands create. */
#ifndef EMU_FIRMWARE_DCT_H
#define EMU_FIRMWARE_DCT_H

#include "emu/server/firmware/mailbox.h"
#include "emu/server/uverbs/uobj.h"

struct emu_devx_dct {
	struct emu_uobj obj;
	uint32_t dctn; /* 0: not created yet, and nothing is held */
	struct emu_pd *pd;
	struct emu_uobj *cq, *srq; /* of verbs or of DEVX */
};

/* Firmware commands; the query is also that of a target of verbs. */
int emu_devx_create_dct(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_dct(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_arm_dct(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_driver_drain_dct(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);

/* Is it a target that verbs have created? */
bool emu_is_verbs_dct(const struct emu_uobj *o);
int emu_devx_dct_undo(struct emu_uobj *o);

#endif
