/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/trace.h"

#include <sched.h>

#include "base/clock.h"
#include "emu/engine/capture.h"
#include "emu/engine/count.h"
#include "emu/engine/local_packets.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/notes.h"
#include "emu/engine/state.h"

#define TRACE_TIMEOUT_NS 2000000u

/* Only this thread adds to it. */
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

/* A slow reader must not stop the engine for good: it gets the number of lost records. */
static void send_record(struct engine *e, struct emu_note_wr *n)
{
	uint64_t end = monotonic_ns() + TRACE_TIMEOUT_NS;

	n->lost = e->lost.trace;
	while (!emu_engine_record(e, n, sizeof(*n))) {
		if (monotonic_ns() > end) {
			e->lost.trace++;
			return;
		}
		sched_yield();
	}
	e->lost.trace = 0;
}

static void trace(struct engine *e, uint32_t qpn, const struct emu_wqe *w, uint32_t syndrome)
{
	const struct emu_qp *q = &e->cfg.queues->qp[qpn];
	struct emu_note_wr n = {
		.note = {EMU_NOTE_WR, qpn, atomic_load(&q->serial), 0},
		.opcode = w->opcode,
		.opmod = w->opmod,
		.flags = w->flags,
		.syndrome = (uint8_t)syndrome,
		.nsge = (uint8_t)w->nsge,
		.imm = emu_get32((const uint8_t *)&w->imm),
		.rkey = w->rkey,
		.raddr = w->raddr,
		.len = w->len,
		.operand = {w->operand[0], w->operand[1]},
	};

	for (uint32_t i = 0; i < w->nsge && i < EMU_TRACE_SGES; i++)
		n.sge[i] = w->sge[i];
	send_record(e, &n);
}

void emu_wr_finished(struct engine *e, uint32_t qpn, const struct emu_wqe *w, uint32_t syndrome)
{
	count(e, w, syndrome);
	emu_count_request(e, &e->cfg.queues->qp[qpn], w, syndrome);
	if (atomic_load_explicit(&e->cfg.queues->tracing, memory_order_relaxed))
		trace(e, qpn, w, syndrome);
	if (emu_captures(e, EMU_CAPTURE_LOCAL))
		emu_local_packets(e, qpn, w, syndrome);
}
