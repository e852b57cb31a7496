/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Doorbell pages (UARs). */
#ifndef EMU_UAR_H
#define EMU_UAR_H

#include <stdbool.h>

#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

#define EMU_NUM_UARS 65536u

struct emu_uar {
	struct emu_uobj obj;
	uint32_t page;
	struct emu_export *export; /* NULL: it has none */
};

extern const struct emu_method emu_methods_uar[];

/* Take a free page of [first, end); 0: there is none. It is free again when its object is undone. */
uint32_t emu_uar_take(uint32_t first, uint32_t end);
int emu_uar_undo(struct emu_uobj *o);
/* The file's object of this doorbell page, or NULL. */
struct emu_uar *emu_uar_of(const struct emu_file *f, uint64_t page);
/* Does the file have this doorbell page? */
bool emu_has_uar(const struct emu_file *f, uint64_t page);

#endif
