/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DMA handles: hints for the caches of the host's processors, which a registration may have (PCIe, "TLP Processing
 * Hints"). The emulated card moves no data through such caches, so it keeps them.
 */
#ifndef EMU_DMAH_H
#define EMU_DMAH_H

#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

struct emu_dmah {
	struct emu_uobj obj;
};

extern const struct emu_method emu_methods_dmah[];

#endif
