/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/uc.h"

#include "emu/wire/psn.h"
#include "emu/wire/qp.h"

/*
 * A message with a gap, without a receive or with a bad key is dropped silently (class D), and its receive
 * stays. Only memory of the receiver's own ends the queue pair (IBA 9.8.2, 9.9.3).
 */
static enum wire_drop drop(struct wire_qp *qp, const struct wire_verdict *v)
{
	if (v->own == EMU_SYN_OK || v->own == EMU_SYN_LOC_LEN) {
		wire_message_abandon(qp);
		return v->drop;
	}
	wire_message_fail(qp, v->own);
	qp->dead = true;
	qp->ops->event(qp->ctx, WIRE_EVENT_ERROR);
	wire_requester_flush(qp, EMU_SYN_FLUSH);
	return v->drop;
}

/* Any packet that begins a message is as good as the expected one: nobody sends a lost one again. */
enum wire_drop wire_uc_input(struct wire_qp *qp, const struct wire_packet *p)
{
	struct wire_responder *r = &qp->responder;
	struct wire_verdict v;

	if (p->psn != r->epsn || p->op.first)
		wire_message_abandon(qp);
	r->epsn = wire_psn_add(p->psn, 1);
	if (!p->op.first && r->message.kind == WIRE_KIND_NONE)
		return WIRE_DROP_NO_MESSAGE;
	v = wire_message_input(qp, p);
	return v.drop == WIRE_ACCEPTED ? WIRE_ACCEPTED : drop(qp, &v);
}
