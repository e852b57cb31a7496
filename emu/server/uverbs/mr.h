/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory regions. */
#ifndef EMU_MR_H
#define EMU_MR_H

#include "emu/server/mm/dmabuf.h"
#include "emu/server/mm/pin.h"
#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

struct emu_mr {
	struct emu_uobj obj;
	struct emu_pd *pd;
	struct emu_dm *dm; /* or NULL: a dma-buf, or memory of a process */
	struct emu_dmabuf dmabuf;
	struct emu_dmah *dmah; /* or NULL */
	uint32_t key;
	uint64_t length, iova;
	uint64_t addr; /* in the process, or the offset in `dm` or `dmabuf` */
	uint32_t access;
	struct emu_pin pin;
};

extern const struct emu_method emu_methods_mr[];

/* Legacy commands. */
int emu_write_reg_mr(struct emu_cmd *c);
int emu_write_rereg_mr(struct emu_cmd *c);

#endif
