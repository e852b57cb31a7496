/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory regions. */
#ifndef EMU_MR_H
#define EMU_MR_H

#include <stdbool.h>
#include <sys/queue.h>

#include "emu/server/mm/dmabuf.h"
#include "emu/server/mm/pin.h"
#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

struct emu_mr {
	struct emu_uobj obj;
	struct emu_pd *pd;
	struct emu_dm *dm; /* or NULL: a dma-buf, or memory of a process */
	struct emu_dmabuf dmabuf;
	struct emu_dmah *dmah;	   /* or NULL */
	struct emu_export *export; /* whose memory it has; or NULL */
	LIST_ENTRY(emu_mr) of_export;
	bool is_revoked; /* it had, and has no memory */
	uint32_t key;
	uint64_t length, iova;
	uint64_t addr; /* in the process, or the offset in `dm` or `dmabuf` */
	uint32_t access;
	struct emu_pin pin;
};

extern const struct emu_method emu_methods_mr[];

/* The memory of its export is freed: requests that use the region fail. */
void emu_mr_revoke(struct emu_mr *mr);

/* Legacy commands. */
int emu_write_reg_mr(struct emu_cmd *c);
int emu_write_rereg_mr(struct emu_cmd *c);

#endif
