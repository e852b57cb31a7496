/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Device memory (MEMIC). As in the kernel driver, an allocation takes whole pages of the BAR, and
 * of the on-chip memory its length rounded up to 64 bytes.
 */
#ifndef EMU_DM_H
#define EMU_DM_H

#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

struct emu_dm {
	struct emu_uobj obj;
	uint64_t length; /* as requested */
	uint64_t offset; /* of its first page in the dm segment */
	uint32_t npages;
	struct emu_export *export; /* NULL: it has none */
};

/* Pages of a card's memory. */
struct emu_dm_range {
	uint32_t first, end;
};

/* Take memory for a new object, in the range. -ENOMEM: there is not enough. */
int emu_dm_take(struct emu_dm *dm, const struct emu_dm_range *in, uint64_t len, uint64_t log_align);
int emu_dm_undo(struct emu_uobj *o);

extern const struct emu_method emu_methods_dm[];

#endif
