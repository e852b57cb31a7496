/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The responder: requests in a QP's inbox that take a receive WQE or change memory atomically.
 */
#include "emu/engine/rq.h"

#include <string.h>

#include "emu/engine/count.h"
#include "emu/engine/cq.h"
#include "emu/engine/fault.h"
#include "emu/engine/memory/copy.h"
#include "emu/engine/memory/mkey.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/memory/wqe.h"
#include "emu/engine/notes.h"
#include "emu/engine/page_fault.h"
#include "emu/engine/qp.h"
#include "emu/engine/receive.h"
#include "emu/engine/srq.h"
#include "emu/engine/state.h"
#include "emu/engine/ud.h"
#include "emu/engine/umr.h"

/* Otherwise an answer (struct emu_msg.syndrome). */
#define SERVE_MORE   UINT32_MAX	      /* more work for the next pass */
#define SERVE_SILENT (UINT32_MAX - 1) /* the requester gets no answer, and retries */
#define SERVE_SOURCE (UINT32_MAX - 2) /* a page of the requester's is missing */
#define SERVE_PAGE   (UINT32_MAX - 3) /* a page is missing */

struct request {
	struct emu_receiver r;
	struct emu_msg *m;
	struct emu_domain src; /* the requester's keys */
	struct emu_domain own;
};

static bool can_receive(const struct emu_qp *q)
{
	uint32_t state = atomic_load(&q->state);

	return state >= EMU_QPS_RTR && state <= EMU_QPS_SQE;
}

/* The network header in front of a datagram's payload. */
static uint32_t header_bytes(const struct request *rq)
{
	return rq->r.q->type == EMU_QPT_UD ? EMU_GRH : 0;
}

static uint8_t received_opcode(uint32_t opcode)
{
	switch (opcode) {
	case EMU_WQE_SEND_IMM:
		return EMU_CQE_RESP_SEND_IMM;
	case EMU_WQE_SEND_INVAL:
		return EMU_CQE_RESP_SEND_INV;
	default:
		return EMU_CQE_RESP_WR_IMM;
	}
}

static void push_received(const struct request *rq)
{
	const struct emu_msg *m = rq->m;
	struct emu_cqe cqe = {
		.opcode = EMU_CQE_RESP_SEND,
		.solicited = m->flags & EMU_MSG_SOLICITED,
		.src_qpn = emu_ud_source(rq->r.e, rq->src.func, m->src_qpn),
		.net = rq->r.q->type == EMU_QPT_UD ? emu_ud_network(m->grh) : 0,
		.byte_cnt = (uint32_t)(m->len + header_bytes(rq)),
	};

	if (rq->r.q->type == EMU_QPT_UD)
		emu_count_datagram(rq->r.e, rq->r.q, m->len, emu_ud_to_group(m->grh));
	if (m->opcode != EMU_WQE_SEND) {
		cqe.opcode = received_opcode(m->opcode);
		cqe.imm = m->imm;
	} else if (emu_ud_source(rq->r.e, rq->r.q->func, rq->r.qpn) == EMU_GSI_QPN) {
		emu_put32((uint8_t *)&cqe.imm, atomic_load(&rq->r.q->pkey)); /* for the driver */
	}
	emu_receiver_push(&rq->r, &cqe);
}

/* A target of DC, which an error of one initiator does not end. */
static bool serves_others(const struct emu_qp *q)
{
	return q->type == EMU_QPT_DCT;
}

/* The receive WQE's owner learns of the error from its completion (IBA 9.9.3.1, classes A and C). */
static uint32_t fail_receive(const struct request *rq, enum emu_syndrome own, uint32_t answer)
{
	if (emu_page_fault_met(rq->r.e))
		return SERVE_PAGE;
	if (serves_others(rq->r.q) || emu_engine_qp_fail(rq->r.q))
		emu_receiver_push_error(&rq->r, own);
	return answer;
}

/* An unreliable QP drops the message and keeps the WQE (class D). */
static uint32_t refuse_length(const struct request *rq)
{
	if (emu_qp_reliable(rq->r.q))
		return fail_receive(rq, EMU_SYN_LOC_LEN, EMU_SYN_REM_INV_REQ);
	emu_receiver_put_back(&rq->r);
	return EMU_SYN_OK;
}

void emu_rq_violation(struct engine *e, struct emu_qp *p, uint32_t event)
{
	struct emu_note note = {.type = EMU_NOTE_QP, .event = event};

	if (!emu_qp_reliable(p) || serves_others(p) || !emu_engine_qp_fail(p))
		return;
	note.number = (uint32_t)(p - e->cfg.queues->qp);
	note.serial = atomic_load(&p->serial);
	emu_engine_event(e, &note);
	emu_engine_wake(e, p->engine);
}

static uint32_t violate(const struct request *rq, enum emu_syndrome answer)
{
	if (emu_page_fault_met(rq->r.e))
		return SERVE_PAGE;
	emu_rq_violation(rq->r.e, rq->r.q,
			 answer == EMU_SYN_REM_ACCESS ? EMU_EVENT_QP_ACCESS_ERR
						      : EMU_EVENT_QP_REQ_ERR);
	return answer;
}

/* Translate the payload from rx_done on, for as many bytes as both sides have pieces. */
static bool gather_source(const struct request *rq, struct emu_seg_list *src)
{
	uint64_t left = rq->m->len - rq->r.run->rx_done;

	if (!emu_sge_check(&rq->r.e->memory, &rq->src, rq->m->sge, rq->m->nsge))
		return false;
	return emu_sge_translate(&rq->r.e->memory, &rq->src, rq->m->sge, rq->m->nsge,
				 rq->r.run->rx_done, left < ENGINE_CHUNK ? left : ENGINE_CHUNK,
				 src);
}

static uint32_t fail_source(const struct request *rq)
{
	return emu_page_fault_met(rq->r.e) ? SERVE_SOURCE : (uint32_t)EMU_SYN_LOC_PROT;
}

static enum emu_copy_fault move(const struct request *rq, const struct emu_seg_list *dst,
				const struct emu_seg_list *src)
{
	uint64_t n = dst->len < src->len ? dst->len : src->len;
	enum emu_copy_fault fault = emu_memory_copy(&rq->r.e->memory, dst, src, n);

	if (rq->r.e->pass.data_rule && fault == EMU_COPY_OK)
		emu_fault_data(rq->r.e, rq->src.func, dst, n);
	rq->r.run->rx_done += n;
	rq->r.e->pass.worked = true;
	return fault;
}

/*
 * The key is freed before the program can see the message (IBA 9.4.1.1.3). A key that cannot be
 * freed is an error of the receiver alone (class J): the sender gets neither an ACK nor a NAK, and ends by its retries.
 * Those to a target of DC, which lives on, would succeed.
 */
static uint32_t invalidate(const struct request *rq)
{
	struct emu_umr what = {.op = EMU_UMR_INVALIDATE};
	uint32_t answer;

	what.key = emu_get32((const uint8_t *)&rq->m->imm);
	what.srqn = rq->r.srqn;
	answer = emu_umr_step(rq->r.e, rq->r.qpn, EMU_UMR_RQ, &what);
	if (answer == ENGINE_UMR_WAIT)
		return SERVE_MORE;
	if (answer == EMU_SYN_OK)
		return answer;
	return fail_receive(rq, (enum emu_syndrome)answer,
			    serves_others(rq->r.q) ? (uint32_t)EMU_SYN_REM_OP : SERVE_SILENT);
}

static bool put_header(const struct request *rq, const struct emu_domain *own,
		       const struct emu_wqe *w)
{
	struct emu_domain here = {.pid = rq->r.e->memory.pid};
	uint8_t grh[EMU_GRH];
	struct emu_sge from = {.addr = (uintptr_t)grh, .len = sizeof(grh), .inl = 1};
	struct emu_seg_list src;
	struct emu_seg_list dst;

	memcpy(grh, rq->m->grh, sizeof(grh));
	if (!emu_sge_translate(&rq->r.e->memory, &here, &from, 1, 0, sizeof(grh), &src) ||
	    !emu_sge_check(&rq->r.e->memory, own, w->sge, w->nsge) ||
	    !emu_sge_translate(&rq->r.e->memory, own, w->sge, w->nsge, 0, sizeof(grh), &dst))
		return false;
	return emu_memory_copy(&rq->r.e->memory, &dst, &src, sizeof(grh)) == EMU_COPY_OK;
}

static uint32_t serve_send(const struct request *rq)
{
	struct emu_seg_list src;
	struct emu_seg_list dst;
	struct emu_domain own = rq->own;
	uint32_t header = header_bytes(rq);
	struct emu_wqe w;

	if (!emu_receiver_take(&rq->r, &w))
		return EMU_NAK_RNR;
	if (rq->r.srq)
		own.pdn = rq->r.srq->pdn;
	if (rq->m->len + header > w.len)
		return refuse_length(rq);
	if (header && !put_header(rq, &own, &w))
		return fail_receive(rq, EMU_SYN_LOC_PROT, EMU_SYN_REM_OP);
	if (!gather_source(rq, &src))
		return fail_source(rq);
	if (rq->m->len && (!emu_sge_check(&rq->r.e->memory, &own, w.sge, w.nsge) ||
			   !emu_sge_translate(&rq->r.e->memory, &own, w.sge, w.nsge,
					      header + rq->r.run->rx_done, src.len, &dst)))
		return fail_receive(rq, EMU_SYN_LOC_PROT, EMU_SYN_REM_OP);
	if (rq->m->len) {
		switch (move(rq, &dst, &src)) {
		case EMU_COPY_SRC:
			return EMU_SYN_LOC_PROT;
		case EMU_COPY_DST:
			return fail_receive(rq, EMU_SYN_LOC_PROT, EMU_SYN_REM_OP);
		default:
			break;
		}
	}
	if (rq->r.run->rx_done < rq->m->len)
		return SERVE_MORE;
	if (rq->m->opcode == EMU_WQE_SEND_INVAL) {
		uint32_t answer = invalidate(rq);

		if (answer != EMU_SYN_OK)
			return answer;
	}
	push_received(rq);
	return EMU_SYN_OK;
}

/* The WQE that the immediate would have consumed reports the error (IBA 11.6.2). */
static uint32_t refuse_write(const struct request *rq)
{
	struct emu_wqe w;

	if (emu_page_fault_met(rq->r.e))
		return SERVE_PAGE;
	if (!emu_qp_reliable(rq->r.q) || !emu_receiver_take(&rq->r, &w))
		return violate(rq, EMU_SYN_REM_ACCESS);
	return fail_receive(rq, EMU_SYN_LOC_ACCESS, EMU_SYN_REM_ACCESS);
}

static uint32_t serve_write_imm(const struct request *rq)
{
	struct emu_seg_list src;
	struct emu_seg_list dst = {0};
	const struct emu_msg *m = rq->m;
	struct emu_wqe w;

	if (!(rq->r.q->access & EMU_QP_REMOTE_WRITE))
		return violate(rq, EMU_SYN_REM_INV_REQ);
	if (m->len && !emu_mkey_check(&rq->r.e->memory, &rq->own, m->rkey, m->raddr, m->len))
		return refuse_write(rq);
	if (!emu_receiver_take(&rq->r, &w))
		return EMU_NAK_RNR;
	if (!gather_source(rq, &src))
		return fail_source(rq);
	if (m->len && !emu_mkey_translate(&rq->r.e->memory, &rq->own, m->rkey,
					  m->raddr + rq->r.run->rx_done, src.len, &dst))
		return refuse_write(rq);
	if (m->len) {
		switch (move(rq, &dst, &src)) {
		case EMU_COPY_SRC:
			return EMU_SYN_LOC_PROT;
		case EMU_COPY_DST:
			return refuse_write(rq);
		default:
			break;
		}
	}
	if (rq->r.run->rx_done < m->len)
		return SERVE_MORE;
	push_received(rq);
	return EMU_SYN_OK;
}

/* Operands and memory are in host order (atomic endianness mode 1). */
static void change_cell(uint64_t *cell, void *arg)
{
	struct emu_msg *m = arg;
	uint64_t old = m->operand[1];

	if (m->opcode == EMU_WQE_ATOMIC_FA) {
		m->result = __atomic_fetch_add(cell, m->operand[0], __ATOMIC_SEQ_CST);
		return;
	}
	__atomic_compare_exchange_n(cell, &old, m->operand[0], false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	m->result = old;
}

static uint32_t serve_atomic(const struct request *rq)
{
	struct emu_seg_list dst = {0};

	if (!(rq->r.q->access & EMU_QP_REMOTE_ATOMIC) || rq->m->raddr % 8)
		return violate(rq, EMU_SYN_REM_INV_REQ);
	if (!emu_mkey_translate(&rq->r.e->memory, &rq->own, rq->m->rkey, rq->m->raddr, 8, &dst))
		return violate(rq, EMU_SYN_REM_ACCESS);
	switch (emu_memory_atomic(&rq->r.e->memory, &dst.seg[0], change_cell, rq->m)) {
	case EMU_ATOMIC_DONE:
		return EMU_SYN_OK;
	case EMU_ATOMIC_BUSY:
		return SERVE_MORE;
	default:
		return violate(rq, EMU_SYN_REM_OP);
	}
}

static uint32_t serve(struct request *rq)
{
	if (rq->r.q->type == EMU_QPT_UD && rq->m->qkey != rq->r.q->qkey) {
		emu_count_violation(rq->r.e, rq->r.q, EMU_COUNTER_qkey_viol_cntr);
		return EMU_SYN_OK; /* dropped silently (IBA 10.2.5) */
	}
	if (!emu_receiver_find(&rq->r, rq->m->srqn))
		return violate(rq, EMU_SYN_REM_INV_REQ);
	if (emu_receiver_frozen(&rq->r))
		return SERVE_MORE;
	if (rq->r.srq && rq->r.q->type == EMU_QPT_XRC_TGT)
		rq->own.pdn = rq->r.srq->pdn;
	switch (rq->m->opcode) {
	case EMU_WQE_SEND:
	case EMU_WQE_SEND_IMM:
	case EMU_WQE_SEND_INVAL:
		rq->own.need = EMU_LW;
		return serve_send(rq);
	case EMU_WQE_RDMA_WRITE_IMM:
		rq->own.need = EMU_RW;
		return serve_write_imm(rq);
	case EMU_WQE_ATOMIC_CS:
	case EMU_WQE_ATOMIC_FA:
		rq->own.need = EMU_RA;
		return serve_atomic(rq);
	default:
		return violate(rq, EMU_SYN_REM_INV_REQ);
	}
}

/* The QP that sent a message; NULL if it no longer exists or was reset since. */
static struct emu_qp *source(const struct engine *e, const struct emu_msg *m)
{
	struct emu_qp *s;

	if (m->src_qpn >= EMU_MAX_QPS || m->src_engine >= EMU_MAX_ENGINES)
		return NULL;
	s = &e->cfg.queues->qp[m->src_qpn];
	if (atomic_load(&s->serial) != m->src_serial || atomic_load(&s->resets) != m->src_resets ||
	    s->engine != m->src_engine)
		return NULL;
	return s;
}

static void set_domains(struct request *rq, const struct emu_qp *s)
{
	rq->src.func = s->func;
	rq->src.pdn = s->pdn;
	rq->src.need = EMU_LR;
	rq->src.pid = rq->r.e->cfg.queues->engine[rq->m->src_engine].pid;
	rq->src.qpn = rq->m->src_qpn;
	rq->own.qpn = rq->r.qpn;
	rq->own.func = rq->r.q->func;
	rq->own.pdn = rq->r.q->pdn;
}

static uint32_t mine(const struct engine *e, enum emu_msg_state state)
{
	return EMU_MSG_FOR(e->cfg.slot, state);
}

static bool is_awaited(const struct engine *e, const struct emu_qp_run *run)
{
	const struct emu_qp *s = &e->cfg.queues->qp[run->src_qpn];

	return atomic_load(&s->serial) == run->src_serial &&
	       atomic_load(&s->resets) == run->src_resets;
}

/*
 * An answer whose source no longer exists must not block the inbox. While the source exists, the
 * answer stays visible to it.
 */
static void reap_answer(const struct engine *e, struct emu_msg *m, const struct emu_qp_run *run)
{
	uint32_t state = mine(e, EMU_MSG_DONE);

	if (atomic_load(&m->state) == state && !is_awaited(e, run))
		atomic_compare_exchange_strong(&m->state, &state, EMU_MSG_FREE);
}

static void remember_source(struct emu_qp_run *run, const struct emu_msg *m)
{
	run->src_qpn = m->src_qpn;
	run->src_serial = m->src_serial;
	run->src_resets = m->src_resets;
}

/* Only the engine that made a message BUSY may read more than its state. */
static bool own_message(const struct engine *e, struct emu_msg *m, struct emu_qp_run *run)
{
	uint32_t state = mine(e, EMU_MSG_POSTED);

	if (atomic_compare_exchange_strong(&m->state, &state, mine(e, EMU_MSG_BUSY))) {
		run->rx_done = 0;
		run->umr[EMU_UMR_RQ] = false; /* of a message whose sender has ended */
		return true;
	}
	return state == mine(e, EMU_MSG_BUSY);
}

/* Unless the server took it back: this engine was stopped for longer than the server waits. */
static void answer_with(const struct engine *e, struct emu_msg *m, uint32_t to)
{
	uint32_t state = mine(e, EMU_MSG_BUSY);

	atomic_compare_exchange_strong(&m->state, &state, to);
}

bool emu_rq_pending(const struct engine *e, uint32_t qpn)
{
	uint32_t state = atomic_load(&e->cfg.queues->qp[qpn].inbox.state);

	return state == mine(e, EMU_MSG_POSTED) || state == mine(e, EMU_MSG_BUSY);
}

void emu_rq_reap(const struct engine *e, uint32_t qpn)
{
	reap_answer(e, &e->cfg.queues->qp[qpn].inbox, &e->qp_run[qpn]);
}

static bool has_wqe(const struct emu_msg *m)
{
	return m->opcode == EMU_WQE_SEND || m->opcode == EMU_WQE_SEND_IMM ||
	       m->opcode == EMU_WQE_SEND_INVAL;
}

/* A message of its peer lacks a page: that of a receive, or that of an address which the message names. */
static void post_own_fault(const struct request *rq)
{
	struct emu_page_fault what = {
		.wq = rq->r.srq ? rq->r.srqn : rq->r.qpn,
		.wqe = rq->r.srq ? rq->r.run->rx_index : rq->r.run->rq_ci,
		.type = rq->r.srq ? EMU_PAGE_FAULT_SHARED_RECEIVE : EMU_PAGE_FAULT_RECEIVE,
	};

	if (!has_wqe(rq->m)) {
		what.wq = rq->r.qpn;
		what.type = EMU_PAGE_FAULT_WRITE;
		what.by_key = true;
		what.key = rq->m->rkey;
		what.address = rq->m->raddr + rq->r.run->rx_done;
		what.len = (uint32_t)(rq->m->len - rq->r.run->rx_done);
	}
	emu_page_fault_post(rq->r.e, rq->r.qpn, EMU_PAGE_FAULT_RESPONDER, &what);
}

/* Its send queue does not go on before it has the answer. */
static void post_source_fault(const struct request *rq)
{
	const struct emu_page_fault what = {
		.wq = rq->m->src_qpn,
		.wqe = (uint16_t)atomic_load(&rq->r.e->cfg.queues->qp[rq->m->src_qpn].done),
		.type = EMU_PAGE_FAULT_REQUEST_OUT,
	};

	emu_page_fault_post(rq->r.e, rq->m->src_qpn, EMU_PAGE_FAULT_REQUESTER, &what);
}

static uint32_t fail_page(struct request *rq)
{
	if (!has_wqe(rq->m) || !emu_receiver_find(&rq->r, rq->m->srqn))
		return violate(rq, EMU_SYN_REM_ACCESS);
	return fail_receive(rq, EMU_SYN_LOC_PROT, EMU_SYN_REM_OP);
}

/* The answer to a message, unless a page is missing that it needs. */
static uint32_t serve_with_pages(struct request *rq, struct emu_qp *s)
{
	enum emu_page_fault_state own, source = EMU_PAGE_FAULT_NONE;
	uint32_t answer;

	own = emu_page_fault_of(rq->r.q, EMU_PAGE_FAULT_RESPONDER);
	if (!own)
		source = emu_page_fault_of(s, EMU_PAGE_FAULT_REQUESTER);
	if (own == EMU_PAGE_FAULT_POSTED || source == EMU_PAGE_FAULT_POSTED)
		return SERVE_PAGE;
	emu_page_fault_begin(rq->r.e);
	rq->r.e->pass.worked = true;
	if (source == EMU_PAGE_FAULT_FAILED)
		return EMU_SYN_LOC_PROT;
	answer = own == EMU_PAGE_FAULT_FAILED ? fail_page(rq) : serve(rq);
	if (answer == SERVE_PAGE)
		post_own_fault(rq);
	if (answer != SERVE_SOURCE)
		return answer;
	post_source_fault(rq);
	return SERVE_PAGE;
}

void emu_rq_serve(struct engine *e, uint32_t qpn)
{
	struct emu_qp *q = &e->cfg.queues->qp[qpn];
	struct request rq = {.r = {.e = e, .q = q, .qpn = qpn, .run = &e->qp_run[qpn]},
			     .m = &q->inbox};
	struct emu_msg *m = &q->inbox;
	struct emu_qp *s;
	uint32_t requester;
	uint32_t answer;

	reap_answer(e, m, rq.r.run);
	/* check again: the owner of a failed XRC target relies on no message being begun */
	if (!can_receive(q) || !own_message(e, m, rq.r.run) || !can_receive(q))
		return;
	s = source(e, m);
	if (!s) {
		e->pass.worked = true;
		answer_with(e, m, EMU_MSG_FREE);
		return;
	}
	set_domains(&rq, s);
	answer = serve_with_pages(&rq, s);
	if (answer == SERVE_PAGE) /* it begins again, unless its requester withdraws it */
		answer_with(e, m, mine(e, EMU_MSG_POSTED));
	if (answer == SERVE_PAGE || answer == SERVE_MORE)
		return;
	requester = m->src_engine;
	remember_source(rq.r.run, m);
	emu_cq_publish(e);
	m->syndrome = answer;
	answer_with(e, m, answer == SERVE_SILENT ? EMU_MSG_FREE : mine(e, EMU_MSG_DONE));
	emu_engine_wake(e, requester);
}

/* This QP will complete no more WQEs of the SRQ: its owner may drain it. */
static void report_last_wqe(const struct request *rq)
{
	struct emu_note note = {.type = EMU_NOTE_QP, .event = EMU_EVENT_QP_LAST_WQE};

	if (rq->r.run->last_wqe)
		return;
	rq->r.run->last_wqe = true;
	note.number = rq->r.qpn;
	note.serial = rq->r.run->serial;
	emu_engine_event(rq->r.e, &note);
}

/*
 * Each engine that executes messages to an XRC target returns the WQE that it took; the target's
 * own engine sends the event after the last one.
 */
static void flush_target(struct request *rq)
{
	uint32_t state;
	uint32_t taker;

	rq->r.srqn = rq->r.run->rx_srqn;
	rq->r.srq = emu_srq_find(rq->r.e, rq->r.srqn);
	if (emu_receiver_frozen(&rq->r))
		return;
	if (rq->r.srq)
		emu_receiver_push_error(&rq->r, EMU_SYN_FLUSH);
	else
		emu_receiver_let_go(&rq->r);
	answer_with(rq->r.e, rq->m, EMU_MSG_FREE);
	if (rq->r.q->engine != rq->r.e->cfg.slot) {
		if (rq->r.srq)
			emu_engine_wake(rq->r.e, rq->r.q->engine);
		return;
	}
	state = atomic_load(
		&rq->m->state); /* first: an engine that holds no WQE takes none any more */
	taker = atomic_load(&rq->r.q->taker);
	if (EMU_MSG_STATE(state) == EMU_MSG_BUSY)
		emu_engine_wake(rq->r.e, EMU_MSG_SLOT(state));
	else if (taker)
		emu_engine_wake(rq->r.e, taker - 1);
	else
		report_last_wqe(rq);
}

/* Refuse the request that was in execution when the QP failed, and return the receive WQEs. */
void emu_rq_flush(struct engine *e, uint32_t qpn)
{
	struct emu_qp *q = &e->cfg.queues->qp[qpn];
	struct request rq = {.r = {.e = e, .q = q, .qpn = qpn, .run = &e->qp_run[qpn]},
			     .m = &q->inbox};

	if (q->type == EMU_QPT_XRC_TGT) {
		flush_target(&rq);
		return;
	}
	answer_with(e, &q->inbox, EMU_MSG_FREE);
	if (q->srqn) {
		rq.r.srqn = rq.r.run->rx_srqn;
		rq.r.srq = emu_srq_find(e, rq.r.srqn);
		if (rq.r.srq)
			emu_receiver_push_error(&rq.r, EMU_SYN_FLUSH);
		report_last_wqe(&rq);
		return;
	}
	for (unsigned int budget = 0; budget < ENGINE_BUDGET && emu_receives_posted(q, rq.r.run);
	     budget++)
		emu_receiver_push_error(&rq.r, EMU_SYN_FLUSH);
}
