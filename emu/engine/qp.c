/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/qp.h"

#include "emu/engine/notes.h"
#include "emu/engine/state.h"

void emu_engine_qp_note_rest(const struct engine *e, struct emu_qp *q)
{
	/* last_work.pml: rests */
	atomic_store_explicit(&q->at_rest,
			      atomic_load_explicit(&e->slot->epoch, memory_order_relaxed),
			      memory_order_release);
}

void emu_engine_qp_established(struct engine *e, struct emu_qp *q)
{
	struct emu_note note = {.type = EMU_NOTE_QP, .event = EMU_EVENT_QP_COMM_EST};

	if (atomic_exchange(&q->established_reported, 1))
		return;
	note.number = (uint32_t)(q - e->cfg.queues->qp);
	note.serial = atomic_load(&q->serial); /* notes.pml: note_serial */
	emu_engine_event(e, &note);
}

bool emu_engine_qp_fail(struct emu_qp *q)
{
	uint32_t state = atomic_load(&q->state);

	while (state != EMU_QPS_ERR) {
		if (state < EMU_QPS_RTR)
			return false;
		if (atomic_compare_exchange_weak(&q->state, &state, EMU_QPS_ERR))
			return true;
	}
	return true;
}

bool emu_engine_sq_fail(struct emu_qp *q)
{
	uint32_t state = EMU_QPS_RTS;

	if (emu_qp_reliable(q))
		return emu_engine_qp_fail(q);
	return atomic_compare_exchange_strong(&q->state, &state, EMU_QPS_SQE) ||
	       emu_engine_qp_fail(q);
}
