/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Data encryption keys. A key is in memory of the server alone until a queue pair of its protection domain needs it. */
#ifndef EMU_FIRMWARE_DEK_H
#define EMU_FIRMWARE_DEK_H

#include <stdint.h>

#include "emu/server/firmware/mailbox.h"
#include "emu/server/uverbs/pd.h"

struct emu_dek {
	struct emu_uobj obj;
	uint32_t number; /* 0: it does not exist yet */
	struct emu_pd *pd;
};

int emu_devx_create_dek(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
int emu_devx_query_dek(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);

int emu_devx_dek_undo(struct emu_uobj *o);

/* Give the key to the engine of a queue pair that asks for it, or refuse it. */
void emu_dek_serve(uint32_t qpn, uint32_t number);

#endif
