/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/qp.h"

#include <string.h>

#include "emu/ipc/pkey.h"
#include "emu/wire/uc.h"

#define TIMEOUT_UNIT_NS 4096u

void wire_qp_open(struct wire_qp *qp, const struct wire_attr *attr, const struct wire_ops *ops,
		  void *ctx)
{
	qp->attr = *attr;
	qp->ops = ops;
	qp->ctx = ctx;
	qp->dead = false;
	wire_requester_open(qp);
	wire_responder_open(qp);
}

uint64_t wire_qp_timeout(const struct wire_qp *qp)
{
	return qp->attr.timeout ? (uint64_t)TIMEOUT_UNIT_NS << (qp->attr.timeout & 31) : 0;
}

/* There is no alternate path, so all packets are in the state "migrated" (IBA 17.2.8). */
struct wire_packet wire_qp_packet(const struct wire_qp *qp, uint8_t operation, uint32_t psn)
{
	return (struct wire_packet){
		.opcode = (uint8_t)((uint8_t)qp->attr.service | operation),
		.migrated = true,
		.pkey = qp->attr.pkey,
		.dest_qpn = qp->attr.dest_qpn,
		.psn = psn,
	};
}

/* A message without bytes is one packet (IBA 9.4.1). */
uint32_t wire_qp_packets(const struct wire_qp *qp, uint32_t len)
{
	return len ? (len - 1) / qp->attr.mtu + 1 : 1;
}

bool wire_qp_post(struct wire_qp *qp, const struct wire_wr *wr)
{
	return wire_requester_post(qp, wr);
}

/* IBA 9.6.1: the checks that all packets of a connection must pass. */
static enum wire_drop check(const struct wire_qp *qp, const struct wire_path *from,
			    const struct wire_packet *p)
{
	if (p->dest_qpn != qp->attr.qpn)
		return WIRE_DROP_QPN;
	if (memcmp(from->src, qp->attr.path.dst, sizeof(from->src)) != 0 ||
	    memcmp(from->dst, qp->attr.path.src, sizeof(from->dst)) != 0)
		return WIRE_DROP_ADDRESS;
	if (p->op.kind != WIRE_KIND_CNP && WIRE_SERVICE(p->opcode) != qp->attr.service)
		return WIRE_DROP_SERVICE;
	if (!emu_pkey_matches(p->pkey, qp->attr.pkey))
		return WIRE_DROP_PKEY;
	return qp->dead ? WIRE_DROP_STATE : WIRE_ACCEPTED;
}

static void establish(struct wire_qp *qp)
{
	if (qp->responder.established)
		return;
	qp->responder.established = true;
	qp->ops->event(qp->ctx, WIRE_EVENT_ESTABLISHED);
}

enum wire_drop wire_qp_input(struct wire_qp *qp, uint64_t now, const struct wire_path *from,
			     const struct wire_packet *p)
{
	enum wire_drop drop = check(qp, from, p);

	if (drop != WIRE_ACCEPTED)
		return drop;
	if ((from->tclass & WIRE_ECN_MASK) == WIRE_ECN_CONGESTED) {
		qp->ops->count(qp->ctx, WIRE_COUNT_MARKED);
		wire_responder_congested(qp, now);
	}
	if (p->op.kind == WIRE_KIND_CNP) {
		qp->ops->count(qp->ctx, WIRE_COUNT_CNP_TAKEN);
		wire_window_congest(&qp->requester.window, now);
		return WIRE_ACCEPTED;
	}
	if (!wire_kind_is_request(p->op.kind))
		return wire_requester_input(qp, now, p);
	establish(qp);
	if (qp->attr.service == WIRE_UC)
		return wire_uc_input(qp, p);
	return wire_responder_input(qp, now, p);
}

size_t wire_qp_output(struct wire_qp *qp, uint64_t now, uint8_t *out)
{
	size_t len = wire_responder_output(qp, now, out);

	if (len)
		return len;
	wire_requester_expire(qp, now);
	return wire_requester_output(qp, now, out);
}

uint64_t wire_qp_deadline(const struct wire_qp *qp)
{
	uint64_t requester = wire_requester_deadline(qp);

	if (!qp->responder.stalled || qp->dead || requester < qp->responder.stalled_at)
		return requester;
	return qp->responder.stalled_at;
}

void wire_qp_fail(struct wire_qp *qp)
{
	qp->dead = true;
	wire_message_fail(qp, EMU_SYN_FLUSH);
	wire_requester_flush(qp, EMU_SYN_FLUSH);
}
