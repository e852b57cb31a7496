/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/responder.h"

#include <string.h>

#include "emu/wire/aeth.h"
#include "emu/wire/psn.h"
#include "emu/wire/qp.h"

#define STALL_NS 10000u /* between two attempts to end a request */

void wire_responder_open(struct wire_qp *qp)
{
	struct wire_responder *r = &qp->responder;

	memset(r, 0, sizeof(*r));
	r->epsn = qp->attr.rq_psn & WIRE_PSN_MASK;
	r->ack_psn = wire_psn_add(r->epsn, WIRE_PSN_MASK);
}

static void send_nak(struct wire_responder *r, uint8_t syndrome, uint32_t psn)
{
	r->nak_due = true;
	r->nak = syndrome;
	r->nak_psn = psn;
}

/*
 * A queue pair that is connected to itself would not hear its own NAK, because it fails first. Its requester
 * learns of it at once.
 */
static void report_to_itself(struct wire_qp *qp, uint64_t now)
{
	const struct wire_responder *r = &qp->responder;
	struct wire_packet nak = wire_qp_packet(qp, WIRE_ACK, r->nak_psn);

	if (!r->nak_due || qp->attr.dest_qpn != qp->attr.qpn ||
	    memcmp(qp->attr.path.src, qp->attr.path.dst, sizeof(qp->attr.path.src)) != 0)
		return;
	nak.op = wire_opcode(nak.opcode);
	nak.syndrome = r->nak;
	nak.msn = r->msn;
	(void)wire_requester_input(qp, now, &nak);
}

static void enter_error(struct wire_qp *qp, uint64_t now, enum wire_event event)
{
	report_to_itself(qp, now);
	qp->dead = true;
	qp->ops->event(qp->ctx, event);
	if (event != WIRE_EVENT_ERROR)
		qp->ops->event(qp->ctx, WIRE_EVENT_ERROR);
	wire_requester_flush(qp, EMU_SYN_FLUSH);
}

/*
 * A request ends the connection (IBA 9.9.3). The receive of its message reports it, or else an event. A requester
 * that gets no NAK (class J) retries until it gives up.
 */
static void refuse(struct wire_qp *qp, uint64_t now, const struct wire_verdict *v, uint32_t psn)
{
	enum wire_event event = WIRE_EVENT_ERROR;

	if (v->nak)
		send_nak(&qp->responder, v->nak, psn);
	if (v->own == EMU_SYN_OK && v->nak)
		event = v->nak == WIRE_NAK_ACCESS ? WIRE_EVENT_ACCESS_ERROR
						  : WIRE_EVENT_REQUEST_ERROR;
	wire_message_fail(qp, v->own != EMU_SYN_OK ? v->own : EMU_SYN_FLUSH);
	enter_error(qp, now, event);
}

/* Is it answered by a response of its own instead of an ACK? */
static bool has_response(const struct wire_packet *p)
{
	return p->op.kind == WIRE_KIND_READ || p->op.kind == WIRE_KIND_ATOMIC;
}

/*
 * The request `p` is executed: later ones may follow (IBA 9.7.5.1). A response also acknowledges what was before
 * it, and no ACK may have its PSN: if the response is lost, the requester finds the wrong opcode in its place, and
 * ends the connection or takes the ACK for the answer.
 */
static void executed(struct wire_responder *r, const struct wire_packet *p, uint32_t packets)
{
	r->epsn = wire_psn_add(r->epsn, packets);
	r->stalled = false;
	if (has_response(p)) {
		r->ack_due = false;
		return;
	}
	r->ack_due |= p->ack_req;
	r->ack_psn = p->psn;
}

static void stall(struct wire_responder *r, uint64_t now, const struct wire_packet *p)
{
	r->stalled = true;
	r->stalled_at = now + STALL_NS;
	r->last = *p;
	r->last.payload = NULL;
}

static enum wire_drop apply_verdict(struct wire_qp *qp, uint64_t now, const struct wire_packet *p,
				    struct wire_verdict v)
{
	struct wire_responder *r = &qp->responder;

	switch (v.drop) {
	case WIRE_ACCEPTED:
		executed(r, p, 1);
		break;
	case WIRE_DROP_BUSY:
		stall(r, now, p);
		return WIRE_ACCEPTED;
	case WIRE_DROP_NO_RECEIVE:
		send_nak(r, (uint8_t)(WIRE_RNR | (qp->attr.min_rnr_timer & 31u)), r->epsn);
		r->nak_sent = true;
		r->unready = true;
		break;
	default:
		refuse(qp, now, &v, r->epsn);
		break;
	}
	return v.drop;
}

static uint8_t nak_of(enum wire_answer answer)
{
	switch (answer) {
	case WIRE_REFUSE_REQUEST:
		return WIRE_NAK_REQUEST;
	case WIRE_REFUSE_ACCESS:
		return WIRE_NAK_ACCESS;
	default:
		return WIRE_NAK_OPERATION;
	}
}

static enum wire_drop refuse_with(struct wire_qp *qp, uint64_t now, uint8_t nak, uint32_t psn)
{
	struct wire_verdict v = {.drop = WIRE_DROP_REFUSED, .nak = nak};

	refuse(qp, now, &v, psn);
	return v.drop;
}

/* IBA 9.4.4, 9.7.4.1. The MSN counts a read when it begins (9.7.7.1). */
static enum wire_drop take_read(struct wire_qp *qp, uint64_t now, const struct wire_packet *p)
{
	struct wire_responder *r = &qp->responder;
	struct wire_remote remote = {p->va, p->rkey, p->dma_len, p->srqn};
	enum wire_answer answer;
	struct wire_reply *reply;

	if (r->message.kind != WIRE_KIND_NONE || p->dma_len > WIRE_MAX_MESSAGE)
		return refuse_with(qp, now, WIRE_NAK_REQUEST, r->epsn);
	answer = qp->ops->check_access(qp->ctx, WIRE_REMOTE_READ, &remote);
	if (answer != WIRE_DONE)
		return refuse_with(qp, now, nak_of(answer), r->epsn);
	reply = wire_replies_add(qp, p);
	if (!reply)
		return refuse_with(qp, now, WIRE_NAK_REQUEST, r->epsn);
	r->msn++;
	reply->msn = r->msn;
	executed(r, p, reply->packets);
	return WIRE_ACCEPTED;
}

/* IBA 9.4.5: the answer is remembered, because the change must not happen twice. */
static enum wire_drop take_atomic(struct wire_qp *qp, uint64_t now, const struct wire_packet *p)
{
	struct wire_responder *r = &qp->responder;
	struct wire_remote remote = {p->va, p->rkey, 8, p->srqn};
	enum wire_work work = WIRE_OPERATION(p->opcode) == WIRE_FETCH_ADD ? WIRE_WORK_FETCH_ADD
									  : WIRE_WORK_COMPARE_SWAP;
	enum wire_answer answer;
	struct wire_reply *reply;
	uint64_t original = 0;

	if (r->message.kind != WIRE_KIND_NONE || p->va % 8 || !wire_replies_have_room(qp))
		return refuse_with(qp, now, WIRE_NAK_REQUEST, r->epsn);
	answer = qp->ops->check_access(qp->ctx, WIRE_REMOTE_ATOMIC, &remote);
	if (answer == WIRE_DONE)
		answer =
			qp->ops->atomic(qp->ctx, &remote, work, p->swap_add, p->compare, &original);
	if (answer == WIRE_LATER) {
		stall(r, now, p);
		return WIRE_ACCEPTED;
	}
	if (answer != WIRE_DONE)
		return refuse_with(qp, now, nak_of(answer), r->epsn);
	reply = wire_replies_add(qp, p);
	r->msn++;
	reply->msn = r->msn;
	reply->original = original;
	executed(r, p, 1);
	return WIRE_ACCEPTED;
}

/* A duplicate changes nothing: it is acknowledged or answered again (IBA 9.7.5.1). */
static enum wire_drop repeat(struct wire_qp *qp, const struct wire_packet *p)
{
	qp->ops->count(qp->ctx, WIRE_COUNT_DUPLICATE);
	if (has_response(p))
		return wire_replies_repeat(qp, p);
	qp->responder.ack_due |= p->ack_req || p->op.last;
	return WIRE_ACCEPTED;
}

/* One NAK for each gap (IBA 9.7.5.2). What follows a message without a receive is dropped, but not out of sequence. */
static enum wire_drop miss(struct wire_qp *qp)
{
	struct wire_responder *r = &qp->responder;

	if (!r->unready)
		qp->ops->count(qp->ctx, WIRE_COUNT_OUT_OF_SEQUENCE);
	if (r->nak_sent)
		return WIRE_DROP_WAITS;
	send_nak(r, WIRE_NAK_SEQUENCE, r->epsn);
	r->nak_sent = true;
	return WIRE_DROP_AHEAD;
}

static enum wire_drop execute(struct wire_qp *qp, uint64_t now, const struct wire_packet *p)
{
	switch (p->op.kind) {
	case WIRE_KIND_READ:
		return take_read(qp, now, p);
	case WIRE_KIND_ATOMIC:
		return take_atomic(qp, now, p);
	default:
		return apply_verdict(qp, now, p, wire_message_input(qp, p));
	}
}

enum wire_drop wire_responder_input(struct wire_qp *qp, uint64_t now, const struct wire_packet *p)
{
	struct wire_responder *r = &qp->responder;
	uint32_t ahead = wire_psn_after(p->psn, r->epsn);

	if (ahead >= WIRE_PSN_HALF)
		return repeat(qp, p);
	if (r->stalled)
		return WIRE_DROP_BUSY;
	if (ahead)
		return miss(qp);
	r->nak_sent = false;
	r->unready = false;
	r->nak_due = false;
	return execute(qp, now, p);
}

/* The request whose end had to wait. */
static void resume(struct wire_qp *qp, uint64_t now)
{
	struct wire_responder *r = &qp->responder;
	struct wire_packet p = r->last;

	if (p.op.kind == WIRE_KIND_ATOMIC)
		(void)take_atomic(qp, now, &p);
	else
		(void)apply_verdict(qp, now, &p, wire_message_end(qp, &p));
}

/* The credits of an ACK: a message that has begun has its receive already (IBA 9.7.7.2). */
static uint8_t credits(const struct wire_qp *qp)
{
	int receives = qp->ops->receives(qp->ctx);

	if (receives < 0)
		return WIRE_ACK_UNLIMITED;
	return (uint8_t)(WIRE_ACK_CREDITS |
			 wire_credit_code((uint32_t)receives + qp->responder.message.taken));
}

static size_t put_ack(const struct wire_qp *qp, uint8_t syndrome, uint32_t psn, uint8_t *out)
{
	struct wire_packet p = wire_qp_packet(qp, WIRE_ACK, psn);

	p.syndrome = syndrome;
	p.msn = qp->responder.msn;
	return wire_build(&p, out);
}

static size_t put_cnp(const struct wire_qp *qp, uint8_t *out)
{
	struct wire_packet p = {
		.opcode = WIRE_CNP,
		.migrated = true,
		.becn = true,
		.pkey = qp->attr.pkey,
		.dest_qpn = qp->attr.dest_qpn,
		.len = WIRE_CNP_BYTES,
	};
	size_t head = wire_build(&p, out);

	memset(out + head, 0, WIRE_CNP_BYTES);
	return head + WIRE_CNP_BYTES;
}

static size_t put_reply(struct wire_qp *qp, uint64_t now, uint8_t *out)
{
	enum wire_answer answer;
	uint32_t psn;
	size_t len = wire_replies_output(qp, credits(qp), out, &answer, &psn);

	if (answer == WIRE_DONE)
		return len;
	wire_replies_cancel(qp);
	(void)refuse_with(qp, now, nak_of(answer), psn);
	qp->responder.nak_due = false;
	return put_ack(qp, nak_of(answer), psn, out);
}

/*
 * Answers go in the order of their requests, because each one also acknowledges all requests before it (IBA
 * 9.7.5.1): first those to reads and atomics, then one ACK or NAK for the rest.
 */
size_t wire_responder_output(struct wire_qp *qp, uint64_t now, uint8_t *out)
{
	struct wire_responder *r = &qp->responder;

	if (r->cnp_due) {
		r->cnp_due = false;
		qp->ops->count(qp->ctx, WIRE_COUNT_CNP_SENT);
		return put_cnp(qp, out);
	}
	if (r->stalled && !qp->dead && now >= r->stalled_at)
		resume(qp, now);
	if (wire_replies_are_pending(qp))
		return put_reply(qp, now, out);
	if (r->nak_due) {
		r->nak_due = false;
		r->ack_due = false;
		return put_ack(qp, r->nak, r->nak_psn, out);
	}
	if (r->ack_due && !qp->dead) {
		r->ack_due = false;
		return put_ack(qp, credits(qp), r->ack_psn, out);
	}
	return 0;
}

void wire_responder_congested(struct wire_qp *qp, uint64_t now)
{
	struct wire_responder *r = &qp->responder;

	if (r->cnp_at && now - r->cnp_at < WIRE_CONGESTION_NS)
		return;
	r->cnp_at = now;
	r->cnp_due = true;
}
