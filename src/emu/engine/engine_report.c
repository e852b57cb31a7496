/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What becomes known of the work: counts, the trace, and the faults on demand that completions
 * meet.
 */
#include "engine_int.h"

#include <sched.h>

#define TRACE_PATIENCE_NS 2000000u

/* --- faults on demand ----------------------------------------------------------------------------
 */

static uint32_t func_of(const struct engine *e, uint32_t qpn)
{
	return qpn < EMU_MAX_QPS ? e->cfg.queues->qp[qpn].func : EMU_ANY_FUNC;
}

/* Is a completion of this QP one that the rule is about, and is it its turn? */
static bool due(struct engine *e, uint32_t qpn)
{
	struct emu_cqe_rule *r = &e->cfg.queues->rule;
	uint64_t seen;

	if (r->func != EMU_ANY_FUNC && r->func != func_of(e, qpn))
		return false;
	seen = atomic_fetch_add(&r->seen, 1) + 1;
	if (seen < r->nth || seen - r->nth >= r->count)
		return false;
	atomic_fetch_add(&r->hit, 1);
	return true;
}

const struct emu_cqe *emu_rule_fate(struct engine *e, const struct emu_cqe *cqe,
				    struct emu_cqe *other)
{
	const struct emu_cqe_rule *r = &e->cfg.queues->rule;
	uint32_t action = e->rule;

	if ((action != EMU_CQE_LOSE && action != EMU_CQE_ERROR) || cqe->syndrome ||
	    !due(e, cqe->qpn))
		return cqe;
	if (action == EMU_CQE_LOSE)
		return NULL;
	*other = *cqe;
	other->opcode = cqe->opcode == EMU_CQE_REQ ? EMU_CQE_REQ_ERR : EMU_CQE_RESP_ERR;
	other->syndrome = (uint8_t)r->syndrome;
	return other;
}

uint64_t emu_rule_delay(struct engine *e, uint32_t qpn)
{
	const struct emu_cqe_rule *r = &e->cfg.queues->rule;

	if (!due(e, qpn))
		return 0;
	return emu_now_ns() + r->delay_us * 1000ull;
}

/* --- counts and the trace ------------------------------------------------------------------------
 */

/* Nobody else adds to it. */
static void add(_Atomic uint64_t *sum, uint64_t n)
{
	atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static void count(struct engine *e, const struct emu_wqe *w, uint32_t syndrome)
{
	if (syndrome == EMU_SYN_OK && w->len) {
		add(&e->slot->copies, 1);
		add(&e->slot->bytes, w->len);
	} else if (syndrome != EMU_SYN_OK && syndrome != EMU_SYN_FLUSH) {
		add(&e->slot->errors, 1);
	}
}

/* A reader that cannot keep up must not stop the engine for good: it learns what it missed. */
static void send_record(struct engine *e, struct emu_note_wr *n)
{
	uint64_t end = emu_now_ns() + TRACE_PATIENCE_NS;

	n->lost = e->trace_lost;
	while (!emu_engine_record(e, n, sizeof(*n))) {
		if (emu_now_ns() > end) {
			e->trace_lost++;
			return;
		}
		sched_yield();
	}
	e->trace_lost = 0;
}

static void trace(struct engine *e, uint32_t qpn, const struct emu_wqe *w, uint32_t syndrome)
{
	const struct emu_qp *q = &e->cfg.queues->qp[qpn];
	struct emu_note_wr n = {
		.note = {EMU_NOTE_WR, qpn, atomic_load(&q->serial), 0},
		.opcode = w->opcode,
		.flags = w->flags,
		.syndrome = (uint8_t)syndrome,
		.nsge = (uint8_t)w->nsge,
		.imm = emu_get32((const uint8_t *)&w->imm),
		.rkey = w->rkey,
		.raddr = w->raddr,
		.len = w->len,
		.operand = {w->operand[0], w->operand[1]},
	};
	uint32_t i;

	for (i = 0; i < w->nsge && i < EMU_TRACE_SGES; i++)
		n.sge[i] = w->sge[i];
	send_record(e, &n);
}

void emu_report(struct engine *e, uint32_t qpn, const struct emu_wqe *w, uint32_t syndrome)
{
	count(e, w, syndrome);
	if (atomic_load_explicit(&e->cfg.queues->tracing, memory_order_relaxed))
		trace(e, qpn, w, syndrome);
}
