/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/replies.h"

#include "emu/wire/psn.h"
#include "emu/wire/qp.h"

/* The i-th of those that are remembered, the oldest first. */
static uint32_t place(const struct wire_replies *all, uint32_t i)
{
	return (all->end - all->count + i) & (WIRE_REPLIES - 1);
}

/* Its place; WIRE_REPLIES: none. */
static uint32_t first_pending(const struct wire_replies *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		if (all->reply[place(all, i)].pending)
			return place(all, i);
	}
	return WIRE_REPLIES;
}

bool wire_replies_are_pending(const struct wire_qp *qp)
{
	return first_pending(&qp->responder.replies) < WIRE_REPLIES;
}

void wire_replies_cancel(struct wire_qp *qp)
{
	struct wire_replies *all = &qp->responder.replies;

	for (uint32_t i = 0; i < all->count; i++)
		all->reply[place(all, i)].pending = false;
}

static uint32_t room(const struct wire_qp *qp)
{
	return qp->attr.max_dest_rd_atomic < WIRE_REPLIES ? qp->attr.max_dest_rd_atomic
							  : WIRE_REPLIES;
}

/*
 * As many are remembered as may be outstanding (IBA 9.7.4.1): a requester that sends one more has the answer
 * to the oldest, which is forgotten even if it is being sent again.
 */
bool wire_replies_have_room(const struct wire_qp *qp)
{
	const struct wire_replies *all = &qp->responder.replies;

	return room(qp) && (all->count < room(qp) || !all->reply[place(all, 0)].fresh);
}

struct wire_reply *wire_replies_add(struct wire_qp *qp, const struct wire_packet *p)
{
	struct wire_replies *all = &qp->responder.replies;
	struct wire_reply *r;

	if (!wire_replies_have_room(qp))
		return NULL;
	all->count -= all->count == room(qp);
	r = &all->reply[all->end++ & (WIRE_REPLIES - 1)];
	all->count++;
	*r = (struct wire_reply){
		.kind = p->op.kind,
		.pending = true,
		.fresh = true,
		.psn = p->psn,
		.packets = p->op.kind == WIRE_KIND_READ ? wire_qp_packets(qp, p->dma_len) : 1,
		.remote = {p->va, p->rkey, p->op.kind == WIRE_KIND_READ ? p->dma_len : 8, p->srqn},
	};
	return r;
}

/* Does a duplicate ask for what was asked for, from its packet `at` on? */
static bool is_same(const struct wire_qp *qp, const struct wire_reply *r, uint32_t at,
		    const struct wire_packet *p)
{
	uint32_t skipped = at * qp->attr.mtu;

	if (r->kind != p->op.kind || r->remote.rkey != p->rkey || r->remote.srqn != p->srqn)
		return false;
	if (r->kind == WIRE_KIND_ATOMIC)
		return r->remote.va == p->va;
	return r->remote.va + skipped == p->va && r->remote.len - skipped == p->dma_len;
}

enum wire_drop wire_replies_repeat(struct wire_qp *qp, const struct wire_packet *p)
{
	struct wire_replies *all = &qp->responder.replies;

	for (uint32_t i = 0; i < all->count; i++) {
		struct wire_reply *r = &all->reply[place(all, i)];
		uint32_t at = wire_psn_after(p->psn, r->psn);

		if (at >= r->packets)
			continue;
		if (!is_same(qp, r, at, p))
			return WIRE_DROP_UNKNOWN;
		if (r->pending && r->at <= at)
			return WIRE_ACCEPTED; /* it will be sent anyway */
		r->pending = true;
		r->begun = false;
		r->at = at;
		return WIRE_ACCEPTED;
	}
	return WIRE_DROP_UNKNOWN;
}

static uint8_t operation_of(const struct wire_reply *r)
{
	bool last = r->at + 1 == r->packets;

	if (r->kind == WIRE_KIND_ATOMIC)
		return WIRE_ATOMIC_ACK;
	if (!r->begun)
		return last ? WIRE_READ_ONLY : WIRE_READ_FIRST;
	return last ? WIRE_READ_LAST : WIRE_READ_MIDDLE;
}

/* Reads are executed when their answer is sent: later requests may overtake them (IBA 10.8.3.3). */
size_t wire_replies_output(struct wire_qp *qp, uint8_t syndrome, uint8_t *out,
			   enum wire_answer *answer, uint32_t *psn)
{
	struct wire_replies *all = &qp->responder.replies;
	struct wire_reply *r = &all->reply[first_pending(all)];
	struct wire_remote part = r->remote;
	uint32_t skipped = r->at * qp->attr.mtu;
	struct wire_packet p;
	size_t head;

	*psn = wire_psn_add(r->psn, r->at);
	*answer = WIRE_DONE;
	p = wire_qp_packet(qp, operation_of(r), *psn);
	p.syndrome = syndrome;
	p.msn = r->msn;
	p.original = r->original;
	if (r->kind == WIRE_KIND_READ) {
		part.va += skipped;
		part.len -= skipped;
		part.len = part.len < qp->attr.mtu ? part.len : qp->attr.mtu;
		p.len = part.len;
	}
	head = wire_build(&p, out);
	if (p.len)
		*answer = qp->ops->read(qp->ctx, &part, out + head);
	if (*answer != WIRE_DONE)
		return 0;
	r->begun = true;
	r->at++;
	if (r->at == r->packets) {
		r->pending = false;
		r->fresh = false;
	}
	return head + p.len;
}
