/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/message.h"

#include "emu/wire/aeth.h"
#include "emu/wire/qp.h"

static struct wire_verdict accept(void)
{
	return (struct wire_verdict){.drop = WIRE_ACCEPTED};
}

static struct wire_verdict refuse(enum wire_drop drop, uint8_t nak, enum emu_syndrome own)
{
	return (struct wire_verdict){drop, nak, own};
}

/* The requester did what it must not do (IBA 9.7.4.1). */
static struct wire_verdict invalid(enum wire_drop drop)
{
	return refuse(drop, WIRE_NAK_REQUEST, EMU_SYN_OK);
}

static struct wire_verdict not_ready(void)
{
	return refuse(WIRE_DROP_NO_RECEIVE, WIRE_RNR, EMU_SYN_OK);
}

void wire_message_abandon(struct wire_qp *qp)
{
	struct wire_message *m = &qp->responder.message;

	if (m->taken)
		qp->ops->put_back(qp->ctx);
	*m = (struct wire_message){.kind = WIRE_KIND_NONE};
}

void wire_message_fail(struct wire_qp *qp, enum emu_syndrome own)
{
	struct wire_message *m = &qp->responder.message;
	struct wire_receipt receipt = {.syndrome = own, .srqn = m->srqn};

	if (m->taken)
		qp->ops->received(qp->ctx, &receipt);
	*m = (struct wire_message){.kind = WIRE_KIND_NONE};
}

/* WIRE_NOT_READY: no receive is posted. */
static enum wire_answer take(struct wire_qp *qp)
{
	struct wire_message *m = &qp->responder.message;
	enum wire_answer answer;

	if (m->taken)
		return WIRE_DONE;
	answer = qp->ops->take(qp->ctx, m->srqn, &m->room);
	m->taken = answer == WIRE_DONE;
	return answer;
}

/* Where a packet may stand in a message, and how long it is (IBA 9.7.4.1). */
static bool is_next(const struct wire_message *m, const struct wire_packet *p)
{
	if (p->op.first)
		return m->kind == WIRE_KIND_NONE;
	return m->kind == p->op.kind && (WIRE_SERVICE(p->opcode) != WIRE_XRC || m->srqn == p->srqn);
}

static bool has_length(const struct wire_qp *qp, const struct wire_packet *p)
{
	return p->op.last ? p->len <= qp->attr.mtu : p->len == qp->attr.mtu;
}

static uint8_t work_of(const struct wire_packet *p)
{
	if (p->op.kind == WIRE_KIND_WRITE)
		return WIRE_WORK_WRITE_IMM;
	if (p->op.headers & WIRE_H_IETH)
		return WIRE_WORK_SEND_INV;
	return p->op.headers & WIRE_H_IMM ? WIRE_WORK_SEND_IMM : WIRE_WORK_SEND;
}

/*
 * The key is freed before the program can see the message (IBA 9.4.1.1.3). A key that cannot be freed is an
 * error of the receiver alone (class J): the sender gets neither an ACK nor a NAK.
 */
static struct wire_verdict invalidate(struct wire_qp *qp, const struct wire_packet *p)
{
	struct wire_message *m = &qp->responder.message;
	enum emu_syndrome why = EMU_SYN_MW_BIND;

	switch (qp->ops->invalidate(qp->ctx, m->srqn, p->invalidate, &why)) {
	case WIRE_DONE:
		return accept();
	case WIRE_LATER:
		return refuse(WIRE_DROP_BUSY, 0, EMU_SYN_OK);
	default:
		return refuse(WIRE_DROP_REFUSED, 0, why);
	}
}

struct wire_verdict wire_message_end(struct wire_qp *qp, const struct wire_packet *p)
{
	struct wire_message *m = &qp->responder.message;
	struct wire_receipt receipt = {
		.work = work_of(p),
		.solicited = p->solicited,
		.len = m->at,
		.imm = p->op.headers & WIRE_H_IETH ? p->invalidate : p->imm,
		.srqn = m->srqn,
	};
	struct wire_verdict v;

	if (p->op.headers & WIRE_H_IETH) {
		v = invalidate(qp, p);
		if (v.drop != WIRE_ACCEPTED)
			return v;
	}
	if (m->taken)
		qp->ops->received(qp->ctx, &receipt);
	*m = (struct wire_message){.kind = WIRE_KIND_NONE};
	qp->responder.msn++;
	return accept();
}

/* The first packet takes a receive; all packets fill it (IBA 9.4.1). */
static struct wire_verdict take_send(struct wire_qp *qp, const struct wire_packet *p)
{
	struct wire_message *m = &qp->responder.message;

	switch (take(qp)) {
	case WIRE_DONE:
		break;
	case WIRE_NOT_READY:
		return not_ready();
	case WIRE_REFUSE_REQUEST:
		return invalid(WIRE_DROP_REFUSED);
	default:
		return refuse(WIRE_DROP_REFUSED, WIRE_NAK_OPERATION, EMU_SYN_OK);
	}
	if ((uint64_t)m->at + p->len > m->room)
		return refuse(WIRE_DROP_LENGTH, WIRE_NAK_REQUEST, EMU_SYN_LOC_LEN);
	if (p->len && qp->ops->fill(qp->ctx, m->at, p->payload, p->len) != WIRE_DONE)
		return refuse(WIRE_DROP_REFUSED, WIRE_NAK_OPERATION, EMU_SYN_LOC_PROT);
	return accept();
}

/* The memory is not the requester's to write. A receive that waits for the immediate reports it (IBA 11.6.2). */
static struct wire_verdict refuse_write(struct wire_qp *qp, const struct wire_packet *p,
					enum wire_answer answer)
{
	if (answer == WIRE_REFUSE_REQUEST)
		return invalid(WIRE_DROP_REFUSED);
	if (answer == WIRE_CANNOT)
		return refuse(WIRE_DROP_REFUSED, WIRE_NAK_OPERATION, EMU_SYN_OK);
	if (p->op.headers & WIRE_H_IMM && qp->attr.service != WIRE_UC)
		(void)take(qp);
	return refuse(WIRE_DROP_REFUSED, WIRE_NAK_ACCESS,
		      qp->responder.message.taken ? EMU_SYN_LOC_ACCESS : EMU_SYN_OK);
}

/* The RETH says how long the whole message is (IBA 9.4.3, 9.7.4.1). */
static bool fits_write(const struct wire_message *m, const struct wire_packet *p)
{
	uint32_t left = m->len - m->at;

	return p->op.last ? p->len == left : p->len < left;
}

static struct wire_verdict begin_write(struct wire_qp *qp, const struct wire_packet *p)
{
	struct wire_message *m = &qp->responder.message;
	struct wire_remote remote = {p->va, p->rkey, p->dma_len, p->srqn};
	enum wire_answer answer;

	m->va = p->va;
	m->rkey = p->rkey;
	m->len = p->dma_len;
	if (m->len > WIRE_MAX_MESSAGE || !fits_write(m, p))
		return invalid(WIRE_DROP_LENGTH);
	answer = qp->ops->check_access(qp->ctx, WIRE_REMOTE_WRITE, &remote);
	return answer == WIRE_DONE ? accept() : refuse_write(qp, p, answer);
}

static struct wire_verdict take_write(struct wire_qp *qp, const struct wire_packet *p)
{
	struct wire_message *m = &qp->responder.message;
	struct wire_remote part = {m->va + m->at, m->rkey, p->len, m->srqn};
	enum wire_answer answer = WIRE_DONE;

	if (!fits_write(m, p))
		return invalid(WIRE_DROP_LENGTH);
	if (p->op.headers & WIRE_H_IMM)
		answer = take(qp);
	if (answer == WIRE_NOT_READY)
		return not_ready();
	if (answer == WIRE_DONE && p->len)
		answer = qp->ops->write(qp->ctx, &part, p->payload);
	return answer == WIRE_DONE ? accept() : refuse_write(qp, p, answer);
}

static struct wire_verdict execute(struct wire_qp *qp, const struct wire_packet *p)
{
	struct wire_verdict v = accept();

	if (p->op.kind == WIRE_KIND_SEND)
		return take_send(qp, p);
	if (p->op.first)
		v = begin_write(qp, p);
	return v.drop == WIRE_ACCEPTED ? take_write(qp, p) : v;
}

struct wire_verdict wire_message_input(struct wire_qp *qp, const struct wire_packet *p)
{
	struct wire_message *m = &qp->responder.message;
	struct wire_verdict v;

	if (!is_next(m, p))
		return invalid(WIRE_DROP_NO_MESSAGE);
	if (!has_length(qp, p))
		return refuse(WIRE_DROP_LENGTH, WIRE_NAK_REQUEST,
			      m->taken ? EMU_SYN_LOC_LEN : EMU_SYN_OK);
	if (p->op.first)
		*m = (struct wire_message){.kind = p->op.kind, .srqn = p->srqn};
	v = execute(qp, p);
	if (v.drop == WIRE_DROP_NO_RECEIVE && p->op.first)
		m->kind = WIRE_KIND_NONE; /* it begins again when the packet comes again */
	if (v.drop != WIRE_ACCEPTED)
		return v;
	m->at += p->len;
	return p->op.last ? wire_message_end(qp, p) : v;
}
