/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/conn_ops.h"

#include "emu/engine/count.h"
#include "emu/engine/cq.h"
#include "emu/engine/fault.h"
#include "emu/engine/memory/access.h"
#include "emu/engine/memory/copy.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/rq.h"
#include "emu/engine/sq.h"
#include "emu/engine/srq.h"
#include "emu/engine/state.h"
#include "emu/engine/umr.h"

#define ALL UINT16_MAX

/* --- memory ----------------------------------------------------------------------------------- */

static struct emu_domain local(const struct emu_conn *c, uint32_t need)
{
	return (struct emu_domain){c->q->func, c->q->pdn, need, c->e->memory.pid, c->qpn};
}

/* With XRC the SRQ decides what a request may access (IBA A14.2). False: there is no such SRQ. */
static bool remote(const struct emu_conn *c, uint32_t srqn, uint32_t need, struct emu_domain *d)
{
	const struct emu_srq *srq;

	*d = local(c, need);
	if (c->q->type != EMU_QPT_XRC_TGT)
		return true;
	srq = emu_srq_of_xrc(c->e, c->q, srqn);
	if (srq)
		d->pdn = srq->pdn;
	return srq;
}

/* The WQE of a request in flight; the driver does not write it again before it is completed. */
static const struct emu_wqe *wqe_of(struct emu_conn *c, const struct wire_wr *wr)
{
	uint16_t ci = (uint16_t)wr->cookie;

	if (c->parsed && c->parsed_ci == ci)
		return &c->w;
	c->parsed = emu_wqe_parse(c->q, c->qpn, ci, ALL, &c->w) == EMU_SYN_OK;
	c->parsed_ci = ci;
	return c->parsed ? &c->w : NULL;
}

static enum emu_syndrome gather(void *ctx, const struct wire_wr *wr, uint32_t at, uint8_t *out,
				uint32_t len)
{
	struct emu_conn *c = ctx;
	const struct emu_wqe *w = wqe_of(c, wr);
	const struct emu_domain here = local(c, EMU_LR);

	if (!w || !emu_sge_read(&c->e->memory, &here, w->sge, w->nsge, at, out, len))
		return EMU_SYN_LOC_PROT;
	if (c->e->pass.data_rule)
		emu_fault_packet(c->e, c->q->func, out, len);
	return EMU_SYN_OK;
}

static enum emu_syndrome scatter(void *ctx, const struct wire_wr *wr, uint32_t at,
				 const uint8_t *in, uint32_t len)
{
	struct emu_conn *c = ctx;
	const struct emu_wqe *w = wqe_of(c, wr);
	const struct emu_domain here = local(c, EMU_LW);

	if (!w || !emu_sge_write(&c->e->memory, &here, w->sge, w->nsge, at, in, len))
		return EMU_SYN_LOC_PROT;
	return EMU_SYN_OK;
}

static enum wire_answer check_access(void *ctx, enum wire_access access,
				     const struct wire_remote *m)
{
	static const struct {
		uint32_t qp, key;
	} needs[] = {
		[WIRE_REMOTE_WRITE] = {EMU_QP_REMOTE_WRITE, EMU_RW},
		[WIRE_REMOTE_READ] = {EMU_QP_REMOTE_READ, EMU_RR},
		[WIRE_REMOTE_ATOMIC] = {EMU_QP_REMOTE_ATOMIC, EMU_RA},
	};
	const struct emu_conn *c = ctx;
	struct emu_domain d;

	if (!(c->q->access & needs[access].qp) || !remote(c, m->srqn, needs[access].key, &d))
		return WIRE_REFUSE_REQUEST;
	if (m->len && !emu_mkey_check(&c->e->memory, &d, m->rkey, m->va, m->len))
		return WIRE_REFUSE_ACCESS;
	return WIRE_DONE;
}

static enum wire_answer read_memory(void *ctx, const struct wire_remote *m, uint8_t *out)
{
	const struct emu_conn *c = ctx;
	struct emu_domain d;

	if (!remote(c, m->srqn, EMU_RR, &d) ||
	    !emu_key_read(&c->e->memory, &d, m->rkey, m->va, out, m->len))
		return WIRE_REFUSE_ACCESS;
	if (c->e->pass.data_rule)
		emu_fault_packet(c->e, c->q->func, out, m->len);
	return WIRE_DONE;
}

static enum wire_answer write_memory(void *ctx, const struct wire_remote *m, const uint8_t *in)
{
	const struct emu_conn *c = ctx;
	struct emu_domain d;

	if (!remote(c, m->srqn, EMU_RW, &d) ||
	    !emu_key_write(&c->e->memory, &d, m->rkey, m->va, in, m->len))
		return WIRE_REFUSE_ACCESS;
	return WIRE_DONE;
}

struct change {
	enum wire_work work;
	uint64_t swap_add, compare, original;
};

/* Memory is in host order (atomic endianness mode 1). */
static void change_cell(uint64_t *cell, void *arg)
{
	struct change *x = arg;

	if (x->work == WIRE_WORK_FETCH_ADD) {
		x->original = __atomic_fetch_add(cell, x->swap_add, __ATOMIC_SEQ_CST);
		return;
	}
	x->original = x->compare;
	__atomic_compare_exchange_n(cell, &x->original, x->swap_add, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
}

static enum wire_answer change_memory(void *ctx, const struct wire_remote *m, enum wire_work work,
				      uint64_t swap_add, uint64_t compare, uint64_t *original)
{
	struct change x = {.work = work, .swap_add = swap_add, .compare = compare};
	const struct emu_conn *c = ctx;
	struct emu_seg_list cell = {0};
	struct emu_domain d;

	if (!remote(c, m->srqn, EMU_RA, &d) ||
	    !emu_mkey_translate(&c->e->memory, &d, m->rkey, m->va, sizeof(uint64_t), &cell))
		return WIRE_REFUSE_ACCESS;
	switch (emu_memory_atomic(&c->e->memory, &cell.seg[0], change_cell, &x)) {
	case EMU_ATOMIC_DONE:
		*original = x.original;
		return WIRE_DONE;
	case EMU_ATOMIC_BUSY:
		return WIRE_LATER;
	default:
		return WIRE_CANNOT;
	}
}

/* --- receives --------------------------------------------------------------------------------- */

static enum wire_answer take(void *ctx, uint32_t srqn, uint64_t *room)
{
	struct emu_conn *c = ctx;
	struct emu_wqe w;

	if (!emu_receiver_find(&c->rx, srqn))
		return WIRE_REFUSE_REQUEST;
	if ((c->e->pass.qp_faults && emu_fault_unready(c->q)) || emu_receiver_frozen(&c->rx) ||
	    !emu_receiver_take(&c->rx, &w)) {
		emu_count_violation(c->e, c->q, EMU_COUNTER_out_of_buffer);
		return WIRE_NOT_READY;
	}
	*room = w.len;
	return WIRE_DONE;
}

/* An SRQ may have ended since the receive was taken. */
static bool find_taken(struct emu_conn *c)
{
	return emu_receiver_find(&c->rx, c->run->rx_srqn);
}

static enum wire_answer fill(void *ctx, uint32_t at, const uint8_t *in, uint32_t len)
{
	struct emu_conn *c = ctx;
	struct emu_domain here = local(c, EMU_LW);
	struct emu_wqe w;

	if (!find_taken(c) || !emu_receiver_take(&c->rx, &w))
		return WIRE_CANNOT;
	if (c->rx.srq)
		here.pdn = c->rx.srq->pdn;
	if (!emu_sge_write(&c->e->memory, &here, w.sge, w.nsge, at, in, len))
		return WIRE_CANNOT;
	return WIRE_DONE;
}

static void put_back(void *ctx)
{
	struct emu_conn *c = ctx;

	if (find_taken(c))
		emu_receiver_put_back(&c->rx);
	else
		emu_receiver_let_go(&c->rx);
}

static enum wire_answer invalidate(void *ctx, uint32_t srqn, uint32_t rkey, enum emu_syndrome *why)
{
	const struct emu_umr what = {.op = EMU_UMR_INVALIDATE, .key = rkey, .srqn = srqn};
	const struct emu_conn *c = ctx;
	uint32_t answer = emu_umr_step(c->e, c->qpn, EMU_UMR_RQ, &what);

	if (answer == ENGINE_UMR_WAIT)
		return WIRE_LATER;
	*why = (enum emu_syndrome)answer;
	return answer ? WIRE_CANNOT : WIRE_DONE;
}

static uint8_t opcode_of(const struct wire_receipt *r)
{
	switch (r->work) {
	case WIRE_WORK_SEND_IMM:
		return EMU_CQE_RESP_SEND_IMM;
	case WIRE_WORK_SEND_INV:
		return EMU_CQE_RESP_SEND_INV;
	case WIRE_WORK_WRITE_IMM:
		return EMU_CQE_RESP_WR_IMM;
	default:
		return EMU_CQE_RESP_SEND;
	}
}

static void received(void *ctx, const struct wire_receipt *receipt)
{
	struct emu_conn *c = ctx;
	struct emu_cqe cqe = {
		.opcode = opcode_of(receipt),
		.solicited = receipt->solicited,
		.src_qpn = c->q->dest_qpn,
		.byte_cnt = receipt->len,
	};

	emu_put32((uint8_t *)&cqe.imm, receipt->imm);
	if (receipt->syndrome != EMU_SYN_OK)
		emu_engine_qp_fail(c->q);
	emu_cq_answered(c->e, c->q->recv_cqn);
	if (!find_taken(c))
		emu_receiver_let_go(&c->rx);
	else if (receipt->syndrome != EMU_SYN_OK)
		emu_receiver_push_error(&c->rx, receipt->syndrome);
	else
		emu_receiver_push(&c->rx, &cqe);
}

static int receives(void *ctx)
{
	const struct emu_conn *c = ctx;

	if (c->q->srqn || c->q->type == EMU_QPT_XRC_TGT)
		return -1;
	return emu_receives_posted(c->q, c->run);
}

/* --- ends ------------------------------------------------------------------------------------- */

void emu_conn_finish(struct emu_conn *c)
{
	while (c->done && emu_sq_finish(c->e, c->qpn))
		c->done--;
	if (c->done && c->run->held_until < c->e->pass.deadline)
		c->e->pass.deadline = c->run->held_until;
}

void emu_conn_finish_all(struct emu_conn *c)
{
	for (; c->done; c->done--)
		emu_sq_complete(c->e, c->qpn, EMU_SYN_OK);
}

static void succeed(struct emu_conn *c, const struct wire_wr *wr)
{
	uint32_t cqn = c->q->send_cqn, before = emu_cq_produced(c->e, cqn);

	c->done++;
	emu_conn_finish(c);
	if (wr->work <= WIRE_WORK_SEND_INV && cqn == c->q->recv_cqn &&
	    emu_cq_produced(c->e, cqn) != before)
		emu_cq_sent(c->e, cqn);
}

/* It is the oldest one. */
static void finished(void *ctx, const struct wire_wr *wr, enum emu_syndrome syndrome)
{
	struct emu_conn *c = ctx;

	if (syndrome == EMU_SYN_OK) {
		succeed(c, wr);
		return;
	}
	emu_conn_finish_all(c);
	emu_sq_complete(c->e, c->qpn, syndrome);
}

static void event(void *ctx, enum wire_event what)
{
	struct emu_conn *c = ctx;

	switch (what) {
	case WIRE_EVENT_ESTABLISHED:
		if (atomic_load(&c->q->state) == EMU_QPS_RTR)
			emu_engine_qp_established(c->e, c->q);
		break;
	case WIRE_EVENT_REQUEST_ERROR:
		emu_rq_violation(c->e, c->q, EMU_EVENT_QP_REQ_ERR);
		break;
	case WIRE_EVENT_ACCESS_ERROR:
		emu_count_violation(c->e, c->q, EMU_COUNTER_resp_remote_access_errors);
		emu_rq_violation(c->e, c->q, EMU_EVENT_QP_ACCESS_ERR);
		break;
	case WIRE_EVENT_ERROR:
		emu_engine_qp_fail(c->q);
		break;
	case WIRE_EVENT_SEND_ERROR:
		break; /* finished() has moved it to SQE */
	}
}

static void count(void *ctx, enum wire_count what)
{
	static const enum emu_counter counters[WIRE_COUNT_COUNT] = {
		[WIRE_COUNT_OUT_OF_SEQUENCE] = EMU_COUNTER_out_of_sequence,
		[WIRE_COUNT_DUPLICATE] = EMU_COUNTER_duplicate_request,
		[WIRE_COUNT_SEQUENCE_NAK] = EMU_COUNTER_packet_seq_err,
		[WIRE_COUNT_IMPLIED_NAK] = EMU_COUNTER_implied_nak_seq_err,
		[WIRE_COUNT_RNR_NAK] = EMU_COUNTER_rnr_nak_retry_err,
		[WIRE_COUNT_TIMEOUT] = EMU_COUNTER_local_ack_timeout_err,
		[WIRE_COUNT_MARKED] = EMU_COUNTER_np_ecn_marked_roce_packets,
		[WIRE_COUNT_CNP_SENT] = EMU_COUNTER_np_cnp_sent,
		[WIRE_COUNT_CNP_TAKEN] = EMU_COUNTER_rp_cnp_handled,
	};
	const struct emu_conn *c = ctx;

	emu_count_one(c->e, c->q->func, counters[what]);
}

const struct wire_ops emu_conn_ops = {
	.gather = gather,
	.scatter = scatter,
	.finished = finished,
	.check_access = check_access,
	.read = read_memory,
	.write = write_memory,
	.atomic = change_memory,
	.take = take,
	.fill = fill,
	.put_back = put_back,
	.invalidate = invalidate,
	.received = received,
	.receives = receives,
	.event = event,
	.count = count,
};
