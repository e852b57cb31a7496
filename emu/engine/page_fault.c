/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/page_fault.h"

#include "emu/engine/notes.h"

enum emu_page_fault_state emu_page_fault_take(struct emu_page_fault *f)
{
	uint32_t failed = EMU_PAGE_FAULT_FAILED;

	if (atomic_compare_exchange_strong(&f->state, &failed, EMU_PAGE_FAULT_NONE))
		return EMU_PAGE_FAULT_FAILED;
	return failed == EMU_PAGE_FAULT_POSTED ? EMU_PAGE_FAULT_POSTED : EMU_PAGE_FAULT_NONE;
}

/* If the note cannot be sent, the next pass meets the fault again. */
void emu_page_fault_post(struct engine *e, uint32_t qpn, enum emu_page_fault_side side,
			 const struct emu_page_fault *what)
{
	struct emu_qp *q = &e->cfg.queues->qp[qpn];
	struct emu_page_fault *f = &q->page_fault[side];
	struct emu_note note = {.type = EMU_NOTE_PAGE_FAULT,
				.number = qpn,
				.serial = atomic_load(&q->serial),
				.event = side};

	f->engine = e->cfg.slot;
	f->wq = what->wq;
	f->wqe = what->wqe;
	f->type = what->type;
	f->by_key = what->by_key;
	f->key = what->key;
	f->len = what->len;
	f->address = what->address;
	atomic_store(&f->state, EMU_PAGE_FAULT_POSTED);
	if (!emu_engine_note(e, &note))
		atomic_store(&f->state, EMU_PAGE_FAULT_NONE);
}
