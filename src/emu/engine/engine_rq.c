/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The responder: requests in a QP's inbox that take a receive WQE or change memory atomically.
 */
#include "engine_int.h"

/* More work for the next pass; otherwise an answer (struct emu_msg.syndrome). */
#define SERVE_MORE UINT32_MAX

struct request {
	struct engine *e;
	struct emu_qp *q;
	uint32_t qpn;
	struct emu_qp_run *run;
	struct emu_msg *m;
	struct emu_domain src; /* the requester's keys */
	struct emu_domain own;
};

static bool can_receive(const struct emu_qp *q)
{
	uint32_t state = atomic_load(&q->state);

	return state >= EMU_QPS_RTR && state <= EMU_QPS_SQE;
}

static uint16_t posted(const struct emu_qp *q, const struct emu_qp_run *r)
{
	if (!q->rq_wqe_count)
		return 0;
	return (uint16_t)(emu_dbr_word(q->dbr_addr, 0) - r->rq_ci);
}

static void push(const struct request *rq, const struct emu_cqe *cqe)
{
	if (!emu_cq_push(rq->e, rq->q->recv_cqn, cqe))
		emu_engine_qp_fail(rq->q);
	rq->run->rq_ci++;
}

static void push_error(const struct request *rq, enum emu_syndrome syndrome)
{
	struct emu_cqe cqe = {
		.opcode = EMU_CQE_RESP_ERR,
		.syndrome = (uint8_t)syndrome,
		.wqe_counter = rq->run->rq_ci,
		.qpn = rq->qpn,
		.uidx = rq->q->uidx,
	};

	push(rq, &cqe);
}

static void push_received(const struct request *rq)
{
	const struct emu_msg *m = rq->m;
	struct emu_cqe cqe = {
		.opcode = EMU_CQE_RESP_SEND,
		.solicited = m->flags & EMU_MSG_SOLICITED,
		.wqe_counter = rq->run->rq_ci,
		.qpn = rq->qpn,
		.src_qpn = m->src_qpn,
		.uidx = rq->q->uidx,
		.byte_cnt = (uint32_t)m->len,
	};

	if (m->opcode != EMU_WQE_SEND) {
		cqe.opcode =
			m->opcode == EMU_WQE_SEND_IMM ? EMU_CQE_RESP_SEND_IMM : EMU_CQE_RESP_WR_IMM;
		cqe.imm = m->imm;
	}
	push(rq, &cqe);
}

/* The receive WQE itself is at fault: its owner learns of it by the completion. */
static uint32_t fail_receive(const struct request *rq, enum emu_syndrome own,
			     enum emu_syndrome answer)
{
	if (rq->q->type != EMU_QPT_RC)
		return answer;
	if (emu_engine_qp_fail(rq->q))
		push_error(rq, own);
	return answer;
}

void emu_rq_violation(struct engine *e, struct emu_qp *p, uint32_t event)
{
	struct emu_note note = {.type = EMU_NOTE_QP, .event = event};

	if (p->type != EMU_QPT_RC || !emu_engine_qp_fail(p))
		return;
	note.number = (uint32_t)(p - e->cfg.queues->qp);
	note.serial = atomic_load(&p->serial);
	emu_engine_event(e, &note);
	emu_engine_kick(e, p->engine);
}

static uint32_t violate(const struct request *rq, enum emu_syndrome answer)
{
	emu_rq_violation(rq->e, rq->q,
			 answer == EMU_SYN_REM_ACCESS ? EMU_EVENT_QP_ACCESS_ERR
						      : EMU_EVENT_QP_REQ_ERR);
	return answer;
}

/* Pieces of the payload from rx_done on, and as many bytes as both sides have pieces for. */
static bool gather_source(const struct request *rq, struct emu_seg_list *src)
{
	uint64_t left = rq->m->len - rq->run->rx_done;

	if (!emu_sge_check(rq->e, &rq->src, rq->m->sge, rq->m->nsge))
		return false;
	return emu_sge_translate(rq->e, &rq->src, rq->m->sge, rq->m->nsge, rq->run->rx_done,
				 left < ENGINE_CHUNK ? left : ENGINE_CHUNK, src);
}

static enum emu_fault move(const struct request *rq, const struct emu_seg_list *dst,
			   const struct emu_seg_list *src)
{
	uint64_t n = dst->len < src->len ? dst->len : src->len;

	rq->run->rx_done += n;
	rq->e->worked = true;
	return emu_engine_copy(rq->e, dst, src, n);
}

static uint32_t serve_send(const struct request *rq)
{
	struct emu_seg_list src;
	struct emu_seg_list dst;
	struct emu_wqe w;

	if (!posted(rq->q, rq->run))
		return EMU_NAK_RNR;
	emu_rqe_parse(rq->q, rq->run->rq_ci, &w);
	if (rq->m->len > w.len)
		return fail_receive(rq, EMU_SYN_LOC_LEN, EMU_SYN_REM_INV_REQ);
	if (!gather_source(rq, &src))
		return EMU_SYN_LOC_PROT;
	if (rq->m->len &&
	    (!emu_sge_check(rq->e, &rq->own, w.sge, w.nsge) ||
	     !emu_sge_translate(rq->e, &rq->own, w.sge, w.nsge, rq->run->rx_done, src.len, &dst)))
		return fail_receive(rq, EMU_SYN_LOC_PROT, EMU_SYN_REM_OP);
	if (rq->m->len) {
		switch (move(rq, &dst, &src)) {
		case EMU_FAULT_SRC:
			return EMU_SYN_LOC_PROT;
		case EMU_FAULT_DST:
			return fail_receive(rq, EMU_SYN_LOC_PROT, EMU_SYN_REM_OP);
		default:
			break;
		}
	}
	if (rq->run->rx_done < rq->m->len)
		return SERVE_MORE;
	push_received(rq);
	return EMU_SYN_OK;
}

static uint32_t serve_write_imm(const struct request *rq)
{
	struct emu_seg_list src;
	struct emu_seg_list dst = {0};
	const struct emu_msg *m = rq->m;

	if (!(rq->q->access & EMU_QP_REMOTE_WRITE))
		return violate(rq, EMU_SYN_REM_INV_REQ);
	if (m->len && !emu_mkey_check(rq->e, &rq->own, m->rkey, m->raddr, m->len))
		return violate(rq, EMU_SYN_REM_ACCESS);
	if (!posted(rq->q, rq->run))
		return EMU_NAK_RNR;
	if (!gather_source(rq, &src))
		return EMU_SYN_LOC_PROT;
	if (m->len && !emu_mkey_translate(rq->e, &rq->own, m->rkey, m->raddr + rq->run->rx_done,
					  src.len, &dst))
		return violate(rq, EMU_SYN_REM_ACCESS);
	if (m->len) {
		switch (move(rq, &dst, &src)) {
		case EMU_FAULT_SRC:
			return EMU_SYN_LOC_PROT;
		case EMU_FAULT_DST:
			return violate(rq, EMU_SYN_REM_ACCESS);
		default:
			break;
		}
	}
	if (rq->run->rx_done < m->len)
		return SERVE_MORE;
	push_received(rq);
	return EMU_SYN_OK;
}

/* Operands and memory are in host order (atomic endianness mode 1). */
static void change_cell(struct emu_msg *m, uint64_t *cell)
{
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
	uint64_t *cell;

	if (!(rq->q->access & EMU_QP_REMOTE_ATOMIC) || rq->m->raddr % 8)
		return violate(rq, EMU_SYN_REM_INV_REQ);
	if (!emu_mkey_translate(rq->e, &rq->own, rq->m->rkey, rq->m->raddr, 8, &dst))
		return violate(rq, EMU_SYN_REM_ACCESS);
	cell = emu_engine_atomic_cell(rq->e, &dst.seg[0]);
	if (!cell)
		return violate(rq, EMU_SYN_REM_OP);
	change_cell(rq->m, cell);
	return EMU_SYN_OK;
}

static uint32_t serve(struct request *rq)
{
	switch (rq->m->opcode) {
	case EMU_WQE_SEND:
	case EMU_WQE_SEND_IMM:
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

/* The QP that a message came from; NULL if that one is gone or was reset since. */
static const struct emu_qp *source(const struct engine *e, const struct emu_msg *m)
{
	const struct emu_qp *s;

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
	rq->src.pid = rq->e->cfg.queues->engine[rq->m->src_engine].pid;
	rq->own.func = rq->q->func;
	rq->own.pdn = rq->q->pdn;
}

/* An answer that nobody fetches, as its source is gone, must not block the inbox. */
static void reap_answer(const struct engine *e, struct emu_msg *m)
{
	uint32_t state = EMU_MSG_DONE;

	if (atomic_compare_exchange_strong(&m->state, &state, EMU_MSG_BUSY))
		atomic_store(&m->state, source(e, m) ? EMU_MSG_DONE : EMU_MSG_FREE);
}

/* Only the owner of a message, who made it BUSY, may look at more than its state. */
static bool own_message(struct emu_msg *m, struct emu_qp_run *run)
{
	uint32_t state = EMU_MSG_POSTED;

	if (atomic_compare_exchange_strong(&m->state, &state, EMU_MSG_BUSY)) {
		run->rx_done = 0;
		return true;
	}
	return state == EMU_MSG_BUSY;
}

void emu_rq_serve(struct engine *e, uint32_t qpn)
{
	struct emu_qp *q = &e->cfg.queues->qp[qpn];
	struct request rq = {.e = e, .q = q, .qpn = qpn, .run = &e->qp_run[qpn], .m = &q->inbox};
	struct emu_msg *m = &q->inbox;
	const struct emu_qp *s;
	uint32_t requester;
	uint32_t answer;

	if (atomic_load(&m->state) == EMU_MSG_DONE)
		reap_answer(e, m);
	if (!can_receive(q) || !own_message(m, rq.run))
		return;
	e->worked = true;
	s = source(e, m);
	if (!s) {
		atomic_store(&m->state, EMU_MSG_FREE);
		return;
	}
	set_domains(&rq, s);
	answer = serve(&rq);
	if (answer == SERVE_MORE)
		return;
	requester = m->src_engine;
	m->syndrome = answer;
	atomic_store(&m->state, EMU_MSG_DONE);
	emu_engine_kick(e, requester);
}

/* A request in execution when the QP failed is refused; receive WQEs are returned. */
void emu_rq_flush(struct engine *e, uint32_t qpn)
{
	struct emu_qp *q = &e->cfg.queues->qp[qpn];
	struct request rq = {.e = e, .q = q, .qpn = qpn, .run = &e->qp_run[qpn], .m = &q->inbox};
	uint32_t busy = EMU_MSG_BUSY;
	unsigned int budget;

	atomic_compare_exchange_strong(&q->inbox.state, &busy, EMU_MSG_FREE);
	for (budget = 0; budget < ENGINE_BUDGET && posted(q, rq.run); budget++)
		push_error(&rq, EMU_SYN_FLUSH);
}
