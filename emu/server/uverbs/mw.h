/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory windows: mkeys without a meaning until a work request binds them (devx/umr.c). */
#ifndef EMU_MW_H
#define EMU_MW_H

#include <stdbool.h>

#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

struct emu_mw {
	struct emu_uobj obj;
	struct emu_pd *pd;
	uint32_t type;
	uint32_t key; /* the first one: the low byte changes with each bind */
};

extern const struct emu_method emu_methods_mw[];

/* Legacy command. */
int emu_write_alloc_mw(struct emu_cmd *c);
/* Is a window of this file bound to the region with that key? */
bool emu_mw_bound(const struct emu_file *f, uint32_t key);

#endif
