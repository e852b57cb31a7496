/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Page faults: an access to a page that its mkey does not have yet. The queue waits, and the engine serves others,
 * until the driver of the function has given the page and has resumed the queue.
 */
#ifndef EMU_ENGINE_PAGE_FAULT_H
#define EMU_ENGINE_PAGE_FAULT_H

#include "emu/engine/state.h"

/* Before an access whose failure may be such a fault. */
static inline void emu_page_fault_begin(struct engine *e)
{
	e->pass.lacks_page = false;
}

/* Has the access failed for a page that is missing? */
static inline bool emu_page_fault_met(const struct engine *e)
{
	return e->pass.lacks_page;
}

/* Tell the driver of it, and wait: `what` says where it is. */
void emu_page_fault_post(struct engine *e, uint32_t qpn, enum emu_page_fault_side side,
			 const struct emu_page_fault *what);

/* The state; a failure is none from now on. */
enum emu_page_fault_state emu_page_fault_take(struct emu_page_fault *f);

/* Does the queue wait? A failure is returned once. */
static inline enum emu_page_fault_state emu_page_fault_of(struct emu_qp *q,
							  enum emu_page_fault_side side)
{
	struct emu_page_fault *f = &q->page_fault[side];

	return atomic_load_explicit(&f->state, memory_order_relaxed) ? emu_page_fault_take(f)
								     : EMU_PAGE_FAULT_NONE;
}

#endif
