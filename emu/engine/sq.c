/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The requester: executes the WQEs of a send queue (send.c), in order and one at a time, and completes them. */
#include "emu/engine/sq.h"

#include "base/clock.h"
#include "emu/engine/cq.h"
#include "emu/engine/fault.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/memory/wqe.h"
#include "emu/engine/page_fault.h"
#include "emu/engine/qp.h"
#include "emu/engine/send.h"
#include "emu/engine/state.h"
#include "emu/engine/trace.h"
#include "emu/engine/transform.h"

#define LONG_COPY      4096u /* completions do not wait for a copy of this length */
#define CE_MASK	       0x0cu /* in fm_ce_se */
#define CE_FIRST_ERROR 0x04u
#define CE_ALWAYS      0x08u /* also with the bit below */
#define AHEAD	       4u    /* blocks of the send ring */

/* docs/emu/emulator.md has the table of completion modes. */
static bool is_reported(const struct emu_send *s, enum emu_syndrome syndrome)
{
	if (s->w.flags & CE_ALWAYS)
		return true;
	return syndrome != EMU_SYN_OK &&
	       (syndrome != EMU_SYN_FLUSH || (s->w.flags & CE_MASK) != CE_FIRST_ERROR);
}

/* The WQE is finished: write its completion and go to the next. */
static void retire(struct emu_send *s, enum emu_syndrome syndrome)
{
	struct emu_cqe cqe = {
		.opcode = syndrome ? EMU_CQE_REQ_ERR : EMU_CQE_REQ,
		.syndrome = (uint8_t)syndrome,
		.hw_syndrome = s->run->hw_syndrome,
		.wqe_opcode = s->w.opcode,
		.wqe_counter = s->run->sq_ci,
		.qpn = s->qpn,
		.uidx = s->q->uidx == EMU_NO_UIDX ? 0 : s->q->uidx,
		.byte_cnt = emu_wqe_transforms(&s->w) ? s->run->produced : (uint32_t)s->w.len,
	};

	if (emu_wqe_transforms(&s->w))
		emu_transform_end(s->e, s->qpn);
	emu_wr_finished(s->e, s->qpn, &s->w, syndrome);
	s->run->sq_ci = (uint16_t)(s->run->sq_ci + s->w.blocks);
	s->run->active = false;
	s->run->held_until = 0;
	s->run->done = 0;
	s->run->produced = 0;
	s->run->hw_syndrome = 0;
	s->run->rnr_count = 0;
	s->run->wrong_pkey = false;
	s->run->rnr_end = 0;
	s->run->retry_end = 0;
	s->run->member = 0;
	s->e->pass.worked = true;
	if (!is_reported(s, syndrome))
		return;
	if (!emu_cq_push(s->e, s->q->send_cqn, &cqe))
		emu_engine_qp_fail(s->q);
	if (s->w.len >= LONG_COPY)
		emu_cq_publish(s->e);
}

static void flush(struct emu_send *s)
{
	uint16_t avail;

	if (emu_send_acknowledged(s))
		retire(s, EMU_SYN_OK);
	if (!emu_send_withdraw(s))
		return;
	for (unsigned int i = 0; i < ENGINE_BUDGET; i++) {
		avail = emu_sq_posted(s->q, s->run);
		if (!avail)
			return;
		(void)emu_wqe_parse(s->q, s->qpn, s->run->sq_ci, avail, &s->w);
		retire(s, EMU_SYN_FLUSH);
	}
}

/* A fault on demand may delay the completion of a finished WQE, and all later ones. */
static bool is_held_back(struct emu_send *s)
{
	if (!s->e->pass.has_faults && !s->run->held_until)
		return false;
	if (s->e->pass.rule == EMU_CQE_DELAY && !s->run->held_until && is_reported(s, EMU_SYN_OK))
		s->run->held_until = emu_fault_delay(s->e, s->qpn);
	if (s->e->pass.qp_faults && !s->run->held_until)
		s->run->held_until = emu_fault_slow(s->q);
	return s->run->held_until && monotonic_ns() < s->run->held_until;
}

/*
 * Prefetch what the driver has written on another processor: a block of the ring, or the doorbell
 * record.
 */
static void fetch_ahead(const struct emu_send *s, uint16_t avail)
{
	const struct emu_qp *q = s->q;
	uint64_t ring = q->buf_addr + ((uint64_t)q->rq_wqe_count << q->rq_wqe_shift);
	uint64_t block = (s->run->sq_ci + AHEAD) & (q->sq_wqe_count - 1u);

	__builtin_prefetch(emu_own(avail > AHEAD ? ring + block * 64 : q->dbr_addr));
}

static bool is_atomic(const struct emu_send *s)
{
	return s->w.opcode == EMU_WQE_ATOMIC_CS || s->w.opcode == EMU_WQE_ATOMIC_FA;
}

/* Of the memory that the WQE names. */
static int wait_for_page(struct emu_send *s)
{
	const struct emu_page_fault what = {
		.wq = s->qpn,
		.wqe = s->run->sq_ci,
		.type = s->w.opcode == EMU_WQE_RDMA_READ || is_atomic(s)
				? EMU_PAGE_FAULT_REQUEST_IN
				: EMU_PAGE_FAULT_REQUEST_OUT,
	};

	emu_page_fault_post(s->e, s->qpn, EMU_PAGE_FAULT_REQUESTER, &what);
	s->run->barred = true;
	return EMU_STEP_WAIT;
}

/* A message is read by its receiver, who then meets the fault. */
static enum emu_page_fault_state own_fault(const struct emu_send *s)
{
	return s->run->posted && !is_atomic(s) ? EMU_PAGE_FAULT_NONE
					       : emu_page_fault_of(s->q, EMU_PAGE_FAULT_REQUESTER);
}

static int step(struct emu_send *s)
{
	int result;

	switch (own_fault(s)) {
	case EMU_PAGE_FAULT_POSTED:
		s->run->barred = true;
		return EMU_STEP_WAIT;
	case EMU_PAGE_FAULT_FAILED:
		return EMU_SYN_LOC_PROT;
	default:
		break;
	}
	emu_page_fault_begin(s->e);
	result = emu_send_step(s);
	return result == EMU_SYN_LOC_PROT && emu_page_fault_met(s->e) ? wait_for_page(s) : result;
}

/* --- streams of a DC initiator ----------------------------------------------------------------- */

static uint32_t tolerated(const struct emu_qp *q)
{
	return q->tolerated < EMU_DCI_TOLERATED ? q->tolerated : EMU_DCI_TOLERATED;
}

static bool has_stream_failed(const struct emu_send *s)
{
	for (uint32_t i = 0; i < tolerated(s->q); i++)
		if (atomic_load(&s->q->failed[i]) == s->w.stream + 1u)
			return true;
	return false;
}

/* Let only the request's stream fail; false: as many have failed as the queue tolerates. */
static bool fail_stream(const struct emu_send *s)
{
	uint32_t none;

	for (uint32_t i = 0; i < tolerated(s->q); i++) {
		none = 0;
		if (atomic_compare_exchange_strong(&s->q->failed[i], &none, s->w.stream + 1u))
			return true;
	}
	return false;
}

/* A malformed request may not even name its stream. */
static bool fail(const struct emu_send *s, enum emu_syndrome syndrome)
{
	return (syndrome != EMU_SYN_LOC_QP_OP && fail_stream(s)) || emu_engine_sq_fail(s->q);
}

/* Execute one WQE or a chunk of it; false if nothing is left to do in this pass. */
static bool execute(struct emu_send *s, uint16_t avail)
{
	enum emu_syndrome refused = emu_wqe_parse(s->q, s->qpn, s->run->sq_ci, avail, &s->w);
	int result = refused;

	s->run->barred = false;
	if (!refused && has_stream_failed(s)) {
		retire(s, EMU_SYN_FLUSH);
		return true;
	}
	if (s->w.len >= LONG_COPY)
		emu_cq_publish(s->e);
	if (!refused && s->run->done > s->w.len)
		result = EMU_SYN_LOC_QP_OP; /* rewritten while it was executed */
	else if (!refused && !s->run->held_until)
		result = step(s);
	s->run->active = true;
	if (result == EMU_STEP_WAIT)
		return false;
	if (result == EMU_STEP_MORE)
		return s->moved < ENGINE_CHUNK;
	if (result == EMU_STEP_BAD) {
		retire(s, EMU_SYN_LOC_QP_OP);
		return s->moved < ENGINE_CHUNK;
	}
	if (result == EMU_SYN_OK) {
		if (is_held_back(s)) {
			s->run->barred = true;
			return false;
		}
		if (s->w.len >= LONG_COPY)
			fetch_ahead(s, avail); /* the time has passed */
		retire(s, EMU_SYN_OK);
		return s->moved < ENGINE_CHUNK;
	}
	if (emu_send_withdraw(s) && fail(s, (enum emu_syndrome)result))
		retire(s, (enum emu_syndrome)result);
	return false;
}

static void open_send(struct emu_send *s, struct engine *e, uint32_t qpn)
{
	s->e = e;
	s->q = &e->cfg.queues->qp[qpn];
	s->qpn = qpn;
	s->run = &e->qp_run[qpn];
	s->moved = 0;
	s->here = (struct emu_domain){s->q->func, s->q->pdn, 0, e->memory.pid, qpn};
	s->nknown = 0;
}

bool emu_sq_step(struct engine *e, uint32_t qpn)
{
	struct emu_send s;
	uint16_t at;

	open_send(&s, e, qpn);
	at = s.run->sq_ci;
	(void)execute(&s, emu_sq_posted(s.q, s.run));
	return s.run->sq_ci != at;
}

bool emu_sq_finish(struct engine *e, uint32_t qpn)
{
	struct emu_send s;

	open_send(&s, e, qpn);
	(void)emu_wqe_parse(s.q, qpn, s.run->sq_ci, emu_sq_posted(s.q, s.run), &s.w);
	if (is_held_back(&s))
		return false;
	retire(&s, EMU_SYN_OK);
	return true;
}

void emu_sq_complete(struct engine *e, uint32_t qpn, enum emu_syndrome syndrome)
{
	struct emu_send s;

	open_send(&s, e, qpn);
	(void)emu_wqe_parse(s.q, qpn, s.run->sq_ci, emu_sq_posted(s.q, s.run), &s.w);
	if (syndrome != EMU_SYN_OK && syndrome != EMU_SYN_FLUSH)
		emu_engine_sq_fail(s.q);
	retire(&s, syndrome);
}

void emu_sq_flush(struct engine *e, uint32_t qpn)
{
	struct emu_send s;

	open_send(&s, e, qpn);
	flush(&s);
}

void emu_sq_advance(struct engine *e, uint32_t qpn)
{
	struct emu_send s;
	uint16_t avail = 0;

	open_send(&s, e, qpn);
	for (unsigned int i = 0; i < ENGINE_BUDGET; i++) {
		uint32_t state = atomic_load(&s.q->state);
		uint16_t at = s.run->sq_ci;

		if (state != EMU_QPS_RTS && !(state == EMU_QPS_SQD && s.run->active))
			break;
		if (!avail)
			avail = emu_sq_posted(s.q, s.run);
		fetch_ahead(&s, avail);
		if (!avail || !execute(&s, avail))
			break;
		avail = (uint16_t)(avail - (uint16_t)(s.run->sq_ci - at));
	}
	if (!avail || s.run->barred)
		emu_engine_qp_note_rest(e, s.q);
	if (atomic_load(&s.q->state) >= EMU_QPS_SQE)
		flush(&s);
	if (atomic_load_explicit(&s.q->done, memory_order_relaxed) != s.run->sq_ci)
		atomic_store(&s.q->done, s.run->sq_ci);
}
