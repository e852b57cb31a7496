/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shared receive queues. A WQE begins with a segment that names the next one. The driver links its
 * free WQEs and counts the posted ones in the doorbell record, without naming them. A cyclic SRQ,
 * which only firmware commands create, uses its WQEs in ring order.
 */
#include "emu/engine/srq.h"

#include <string.h>

#include "emu/engine/memory/segments.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/notes.h"
#include "emu/engine/qp.h"
#include "emu/engine/state.h"

#define NEXT_SEG 16u

struct emu_srq *emu_srq_find(struct engine *e, uint32_t srqn)
{
	struct emu_srq_run *r;
	struct emu_srq *s;
	uint32_t serial;

	if (!srqn || srqn >= EMU_MAX_SRQS)
		return NULL;
	s = &e->cfg.queues->srq[srqn];
	serial = atomic_load(&s->serial);
	if (!serial || s->engine != e->cfg.slot)
		return NULL;
	r = &e->srq_run[srqn];
	if (r->serial != serial) {
		memset(r, 0, sizeof(*r));
		r->serial = serial;
	}
	return s;
}

static uint8_t *wqe_at(const struct emu_srq *s, uint16_t index)
{
	return emu_own(s->buf_addr) + ((size_t)(index & (s->wqe_count - 1)) << s->wqe_shift);
}

static uint16_t left(const struct emu_srq *s, const struct emu_srq_run *r)
{
	return (uint16_t)(emu_dbr_word(s->dbr_addr, 0) - r->taken);
}

bool emu_srq_take(struct engine *e, uint32_t srqn, uint16_t *index)
{
	const struct emu_srq *s = &e->cfg.queues->srq[srqn];
	struct emu_srq_run *r = &e->srq_run[srqn];
	const struct emu_seg_srq_next *link;
	uint16_t next;

	if (!left(s, r))
		return false;
	*index = r->head;
	link = (const struct emu_seg_srq_next *)wqe_at(s, r->head);
	next = s->cyclic ? (uint16_t)(r->head + 1) : emu_get16(link->next_wqe_index);
	r->head = (uint16_t)(next & (s->wqe_count - 1));
	r->taken++;
	return true;
}

void emu_srq_put_back(struct engine *e, uint32_t srqn, uint16_t index)
{
	struct emu_srq_run *r = &e->srq_run[srqn];

	r->head = index;
	r->taken--;
}

void emu_srq_parse(const struct emu_srq *s, uint16_t index, struct emu_wqe *w)
{
	const uint8_t *p = wqe_at(s, index);

	emu_rqe_parse_segs(p + NEXT_SEG, p + ((size_t)1 << s->wqe_shift), w);
}

/* Send one event per arming, also if the queue was already that empty (IBA 10.2.9.3). */
void emu_srq_notify(struct engine *e, uint32_t srqn)
{
	struct emu_note note = {.type = EMU_NOTE_SRQ, .number = srqn, .event = EMU_EVENT_SRQ_LIMIT};
	struct emu_srq *s = emu_srq_find(e, srqn);
	uint32_t limit = s ? atomic_load(&s->limit) : 0;

	if (!limit || left(s, &e->srq_run[srqn]) >= limit)
		return;
	if (!atomic_compare_exchange_strong(&s->limit, &limit, 0))
		return; /* armed again in this moment */
	note.serial = e->srq_run[srqn].serial;
	emu_engine_event(e, &note);
	e->pass.worked = true;
}

const struct emu_srq *emu_srq_of_xrc(const struct engine *e, const struct emu_qp *tgt,
				     uint32_t srqn)
{
	const struct emu_srq *s;

	if (!srqn || srqn >= EMU_MAX_SRQS)
		return NULL;
	s = &e->cfg.queues->srq[srqn];
	if (!atomic_load(&s->serial) || s->type != EMU_SRQT_XRC || s->func != tgt->func ||
	    s->xrcdn != tgt->xrcdn || s->engine == EMU_NO_ENGINE)
		return NULL;
	return s;
}

uint32_t emu_xrc_engine(const struct engine *e, const struct emu_qp *tgt, uint32_t srqn)
{
	const struct emu_srq *s = emu_srq_of_xrc(e, tgt, srqn);

	return s ? s->engine : tgt->engine;
}
