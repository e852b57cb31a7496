/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Shared receive queues. */
#ifndef EMU_SRQ_H
#define EMU_SRQ_H

#include "emu/server/mm/pin.h"
#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

struct emu_srq_obj {
	struct emu_uobj obj;
	uint32_t srqn;
	uint32_t type; /* enum ib_uverbs_srq_type */
	uint32_t max_wr, max_sge;
	uint64_t user_handle;
	struct emu_pd *pd;
	struct emu_xrcd *xrcd; /* of an XRC one, and where it completes; or NULL */
	struct emu_cq_obj *cq;
	struct emu_events *async;
	uint32_t async_events;
	struct emu_queue_pins pins;
};

extern const struct emu_method emu_methods_srq[];

/* Legacy commands. */
int emu_write_modify_srq(struct emu_cmd *c);
int emu_write_query_srq(struct emu_cmd *c);

#endif
