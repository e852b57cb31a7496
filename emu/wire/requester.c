/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/requester.h"

#include <string.h>

#include "emu/wire/aeth.h"
#include "emu/wire/psn.h"
#include "emu/wire/qp.h"

/*
 * Every fourth packet asks for an ACK, as does the last one of a message. The window is never smaller, so
 * there is an answer on its way whenever the window is full.
 */
#define ACK_EVERY_MASK 3u
#define BURST	       16u /* packets of a READ's answer */
_Static_assert(WIRE_WINDOW_MIN > ACK_EVERY_MASK, "a full window has asked for an ACK");

static struct wire_entry *entry(struct wire_requester *r, uint32_t i)
{
	return &r->entry[i & (WIRE_ENTRIES - 1)];
}

/* Is it answered by a response of its own instead of an ACK? */
static bool has_response(const struct wire_entry *e)
{
	return e->wr.work >= WIRE_WORK_READ;
}

static bool is_atomic(const struct wire_entry *e)
{
	return e->wr.work > WIRE_WORK_READ;
}

/* End-to-end credits count receives (IBA 9.7.7.2). */
static bool takes_receive(const struct wire_entry *e)
{
	return e->wr.work <= WIRE_WORK_SEND_INV || e->wr.work == WIRE_WORK_WRITE_IMM;
}

static bool is_reliable(const struct wire_qp *qp)
{
	return qp->attr.service != WIRE_UC;
}

void wire_requester_open(struct wire_qp *qp)
{
	struct wire_requester *r = &qp->requester;

	memset(r, 0, sizeof(*r));
	r->una = r->next = r->top = r->end = qp->attr.sq_psn & WIRE_PSN_MASK;
	r->retries = qp->attr.retry_cnt;
	r->rnr_retries = qp->attr.rnr_retry;
	wire_window_open(&r->window, qp->attr.window);
}

/* At most half of all PSNs are outstanding (IBA 9.7.1). */
bool wire_requester_post(struct wire_qp *qp, const struct wire_wr *wr)
{
	struct wire_requester *r = &qp->requester;
	uint32_t packets = wr->work > WIRE_WORK_READ ? 1 : wire_qp_packets(qp, wr->len);
	struct wire_entry *e = entry(r, r->tail);

	if (r->failed || r->tail - r->head == WIRE_ENTRIES ||
	    wire_psn_after(r->end, r->una) + packets > WIRE_PSN_HALF)
		return false;
	*e = (struct wire_entry){.wr = *wr, .psn = r->end, .packets = packets};
	r->ssn = wire_psn_add(r->ssn, 1);
	e->ssn = r->ssn;
	r->end = wire_psn_add(r->end, packets);
	r->tail++;
	return true;
}

void wire_requester_flush(struct wire_qp *qp, enum emu_syndrome first)
{
	struct wire_requester *r = &qp->requester;
	enum emu_syndrome syndrome = first;

	r->failed = true;
	r->ack_at = 0;
	r->rnr_at = 0;
	while (r->head != r->tail) {
		struct wire_wr wr = entry(r, r->head)->wr;

		r->head++;
		qp->ops->finished(qp->ctx, &wr, syndrome);
		syndrome = EMU_SYN_FLUSH;
	}
	r->at = r->tail;
}

/* The first entry fails, and the queue pair with it; of a UC queue pair the send queue alone (IBA 10.3.1). */
static void fail(struct wire_qp *qp, enum emu_syndrome syndrome)
{
	qp->dead = is_reliable(qp);
	wire_requester_flush(qp, syndrome);
	qp->ops->event(qp->ctx, qp->dead ? WIRE_EVENT_ERROR : WIRE_EVENT_SEND_ERROR);
}

static bool is_finished(const struct wire_requester *r, const struct wire_entry *e)
{
	return wire_psn_after(r->una, e->psn) >= e->packets;
}

/* Complete what is acknowledged, in order (IBA 9.7.6.1). */
static void complete_acknowledged(struct wire_qp *qp)
{
	struct wire_requester *r = &qp->requester;

	while (r->head != r->tail && !r->failed) {
		struct wire_entry *e = entry(r, r->head);
		struct wire_wr wr = e->wr;

		if (e->failed && r->una == r->next) {
			fail(qp, (enum emu_syndrome)e->failed);
			return;
		}
		if (r->head == r->at || !is_finished(r, e))
			return;
		r->head++;
		qp->ops->finished(qp->ctx, &wr, EMU_SYN_OK);
	}
}

/* Everything before `psn` is acknowledged. */
static void go_back(struct wire_qp *qp, uint32_t psn)
{
	struct wire_requester *r = &qp->requester;
	const struct wire_entry *e;

	r->next = psn;
	r->reads = 0;
	for (r->at = r->head; r->at != r->tail; r->at++) {
		e = entry(r, r->at);
		if (wire_psn_after(psn, e->psn) < e->packets)
			break;
	}
	if (r->at != r->tail)
		entry(r, r->at)->resent = true;
}

static void start_timer(struct wire_qp *qp, uint64_t now)
{
	uint64_t timeout = wire_qp_timeout(qp);

	qp->requester.ack_at = timeout && is_reliable(qp) ? now + timeout : 0;
}

/* Packets before `una` are acknowledged: the peer is alive (IBA 9.7.6.1, 9.9.2.1). */
static void progress(struct wire_qp *qp, uint64_t now, uint32_t una)
{
	struct wire_requester *r = &qp->requester;

	wire_window_grow(&r->window, wire_psn_after(una, r->una));
	r->una = una;
	r->retries = qp->attr.retry_cnt;
	r->rnr_retries = qp->attr.rnr_retry;
	r->went_back = false;
	r->ack_at = 0;
	if (wire_psn_before(r->next, r->una))
		go_back(qp, r->una); /* an answer to what was about to be sent again */
	complete_acknowledged(qp);
	if (!r->failed && r->una != r->next)
		start_timer(qp, now);
}

/*
 * Everything before `psn` is acknowledged. False: not so, a read or an atomic before it is not
 * answered, so its answer was lost (IBA 9.7.6.1, implied NAK).
 */
static bool acknowledge(struct wire_qp *qp, uint64_t now, uint32_t psn)
{
	struct wire_requester *r = &qp->requester;

	while (r->una != psn && r->head != r->tail) {
		const struct wire_entry *e = entry(r, r->head);
		uint32_t end = wire_psn_add(e->psn, e->packets);

		if (has_response(e))
			return false;
		progress(qp, now, wire_psn_before(end, psn) ? end : psn);
	}
	return true;
}

static bool use_retry(struct wire_qp *qp)
{
	struct wire_requester *r = &qp->requester;

	if (!r->retries) {
		fail(qp, EMU_SYN_RETRY);
		return false;
	}
	r->retries--;
	return true;
}

static void retry(struct wire_qp *qp, uint64_t now)
{
	if (!use_retry(qp))
		return;
	wire_window_lose(&qp->requester.window);
	go_back(qp, qp->requester.una);
	start_timer(qp, now);
}

/*
 * A packet from `una` on was lost. Go back once: more answers may follow to what was sent before, and the
 * network may repeat a NAK. If the packet is lost again, the timer finds it.
 */
static void go_back_once(struct wire_qp *qp, uint64_t now)
{
	struct wire_requester *r = &qp->requester;

	if (r->went_back)
		return;
	retry(qp, now);
	r->went_back = true;
}

static enum wire_drop imply_nak(struct wire_qp *qp, uint64_t now)
{
	if (!qp->requester.went_back)
		qp->ops->count(qp->ctx, WIRE_COUNT_IMPLIED_NAK);
	go_back_once(qp, now);
	return WIRE_DROP_GAP;
}

/* Is it a PSN that was sent and not yet acknowledged? */
static bool is_outstanding(const struct wire_requester *r, uint32_t psn)
{
	return wire_psn_after(psn, r->una) < wire_psn_after(r->top, r->una);
}

/* The responder's receives (IBA 9.7.7.2). An old packet says nothing new. */
static void update_credits(struct wire_requester *r, const struct wire_packet *p)
{
	uint8_t code = WIRE_SYNDROME_VALUE(p->syndrome);

	if (WIRE_SYNDROME_KIND(p->syndrome) != WIRE_ACK_CREDITS || wire_psn_before(p->msn, r->msn))
		return;
	r->msn = p->msn;
	r->limited = code != WIRE_ACK_UNLIMITED;
	r->lsn = wire_psn_add(p->msn, wire_credits(code));
}

static void not_ready(struct wire_qp *qp, uint64_t now, const struct wire_packet *p)
{
	struct wire_requester *r = &qp->requester;

	if (qp->attr.rnr_retry != WIRE_RNR_FOREVER) {
		if (!r->rnr_retries) {
			fail(qp, EMU_SYN_RNR_RETRY);
			return;
		}
		r->rnr_retries--;
	}
	qp->ops->count(qp->ctx, WIRE_COUNT_RNR_NAK);
	go_back(qp, p->psn);
	r->ack_at = 0;
	r->rnr_at = now + wire_rnr_ns(WIRE_SYNDROME_VALUE(p->syndrome));
}

static enum wire_drop refused(struct wire_qp *qp, uint64_t now, const struct wire_packet *p)
{
	switch (p->syndrome) {
	case WIRE_NAK_SEQUENCE:
		qp->ops->count(qp->ctx, WIRE_COUNT_SEQUENCE_NAK);
		go_back_once(qp, now);
		return WIRE_ACCEPTED;
	case WIRE_NAK_REQUEST:
		fail(qp, EMU_SYN_REM_INV_REQ);
		return WIRE_ACCEPTED;
	case WIRE_NAK_ACCESS:
		fail(qp, EMU_SYN_REM_ACCESS);
		return WIRE_ACCEPTED;
	case WIRE_NAK_OPERATION:
		fail(qp, EMU_SYN_REM_OP);
		return WIRE_ACCEPTED;
	default:
		return WIRE_DROP_AETH;
	}
}

static enum wire_drop take_ack(struct wire_qp *qp, uint64_t now, const struct wire_packet *p)
{
	struct wire_requester *r = &qp->requester;
	uint8_t kind = WIRE_SYNDROME_KIND(p->syndrome);

	if (kind != WIRE_ACK_CREDITS && kind != WIRE_RNR && kind != WIRE_SYNDROME_NAK)
		return WIRE_DROP_AETH;
	update_credits(r, p);
	if (!is_outstanding(r, p->psn))
		return WIRE_DROP_STALE;
	if (!acknowledge(qp, now, kind == WIRE_ACK_CREDITS ? wire_psn_add(p->psn, 1) : p->psn))
		return imply_nak(qp, now);
	if (kind == WIRE_ACK_CREDITS || r->failed)
		return WIRE_ACCEPTED;
	if (kind == WIRE_RNR) {
		not_ready(qp, now, p);
		return WIRE_ACCEPTED;
	}
	return refused(qp, now, p);
}

/*
 * A responder sends the answer to a READ at once, however long it is. So a long READ goes as several requests for
 * BURST packets each, which the window limits like those of a WRITE.
 */
static uint32_t burst_end(const struct wire_entry *e, uint32_t index)
{
	uint32_t end = (index / BURST + 1) * BURST;

	return end < e->packets ? end : e->packets;
}

/*
 * Is the packet of a READ response of the right kind and length (IBA 9.7.6.1)? After a retry the responder
 * begins anew at any packet, while packets of the earlier response may still arrive.
 */
static bool fits(const struct wire_qp *qp, const struct wire_entry *e, const struct wire_packet *p)
{
	uint32_t index = wire_psn_after(p->psn, e->psn);
	bool last = index + 1 == burst_end(e, index);
	uint32_t left = e->wr.len - index * qp->attr.mtu;

	if (p->op.last != last || p->len != (left < qp->attr.mtu ? left : qp->attr.mtu))
		return false;
	return index % BURST ? !p->op.first || e->resent : p->op.first;
}

static enum wire_drop take_response(struct wire_qp *qp, uint64_t now, const struct wire_packet *p)
{
	struct wire_requester *r = &qp->requester;
	const struct wire_entry *e;
	enum emu_syndrome syndrome;
	uint8_t value[8];
	const uint8_t *from = p->payload;
	uint32_t len = p->len;
	uint32_t at;

	if (p->op.headers & WIRE_H_AETH) {
		if (WIRE_SYNDROME_KIND(p->syndrome) != WIRE_ACK_CREDITS)
			return WIRE_DROP_AETH;
		update_credits(r, p);
	}
	if (!is_outstanding(r, p->psn))
		return WIRE_DROP_STALE;
	if (!acknowledge(qp, now, p->psn))
		return imply_nak(qp, now);
	if (r->failed || r->head == r->tail)
		return WIRE_DROP_STALE;
	e = entry(r, r->head);
	at = wire_psn_after(p->psn, e->psn) * qp->attr.mtu;
	if (!has_response(e) || is_atomic(e) != (p->op.kind == WIRE_KIND_ATOMIC_ACK) ||
	    (!is_atomic(e) && !fits(qp, e, p))) {
		fail(qp, EMU_SYN_BAD_RESP);
		return WIRE_ACCEPTED;
	}
	if (is_atomic(e)) {
		memcpy(value, &p->original, sizeof(value));
		from = value;
		len = sizeof(value);
	}
	syndrome = len ? qp->ops->scatter(qp->ctx, &e->wr, at, from, len) : EMU_SYN_OK;
	if (syndrome != EMU_SYN_OK) {
		fail(qp, syndrome);
		return WIRE_ACCEPTED;
	}
	if (p->op.last && r->reads)
		r->reads--;
	progress(qp, now, wire_psn_add(p->psn, 1));
	return WIRE_ACCEPTED;
}

enum wire_drop wire_requester_input(struct wire_qp *qp, uint64_t now, const struct wire_packet *p)
{
	if (qp->requester.failed)
		return WIRE_DROP_STATE;
	return p->op.kind == WIRE_KIND_ACK ? take_ack(qp, now, p) : take_response(qp, now, p);
}

/*
 * A message beyond the responder's credits: its first packet may go as a probe, when nothing else is
 * outstanding, and the rest when that was accepted (IBA 9.7.7.2).
 */
static bool has_credit(const struct wire_requester *r, const struct wire_entry *e)
{
	if (!r->limited || !takes_receive(e) || !wire_psn_before(r->lsn, e->ssn))
		return true;
	return r->next == e->psn ? r->una == r->next : r->una != e->psn;
}

static bool may_send(const struct wire_qp *qp, const struct wire_entry *e)
{
	const struct wire_requester *r = &qp->requester;
	uint32_t depth = qp->attr.max_rd_atomic ? qp->attr.max_rd_atomic : 1;

	if (!is_reliable(qp))
		return true;
	if (r->una != r->next && wire_psn_after(r->next, r->una) >= r->window.size)
		return false;
	if (e->wr.fence && r->next == e->psn && r->reads)
		return false;
	if (has_response(e))
		return r->reads < depth;
	return has_credit(r, e);
}

/* Opcodes of a message's packets: only, first, middle, last. */
struct shape {
	uint8_t only, first, middle, last;
};

static const struct shape shapes[] = {
	[WIRE_WORK_SEND] = {WIRE_SEND_ONLY, WIRE_SEND_FIRST, WIRE_SEND_MIDDLE, WIRE_SEND_LAST},
	[WIRE_WORK_SEND_IMM] = {WIRE_SEND_ONLY_IMM, WIRE_SEND_FIRST, WIRE_SEND_MIDDLE,
				WIRE_SEND_LAST_IMM},
	[WIRE_WORK_SEND_INV] = {WIRE_SEND_ONLY_INV, WIRE_SEND_FIRST, WIRE_SEND_MIDDLE,
				WIRE_SEND_LAST_INV},
	[WIRE_WORK_WRITE] = {WIRE_WRITE_ONLY, WIRE_WRITE_FIRST, WIRE_WRITE_MIDDLE, WIRE_WRITE_LAST},
	[WIRE_WORK_WRITE_IMM] = {WIRE_WRITE_ONLY_IMM, WIRE_WRITE_FIRST, WIRE_WRITE_MIDDLE,
				 WIRE_WRITE_LAST_IMM},
	[WIRE_WORK_READ] = {.only = WIRE_READ_REQUEST},
	[WIRE_WORK_COMPARE_SWAP] = {.only = WIRE_COMPARE_SWAP},
	[WIRE_WORK_FETCH_ADD] = {.only = WIRE_FETCH_ADD},
};

uint8_t wire_operation_of(enum wire_work work, uint32_t index, uint32_t packets)
{
	const struct shape *s = &shapes[work];

	if (packets == 1 || !s->middle)
		return s->only;
	if (!index)
		return s->first;
	return index + 1 == packets ? s->last : s->middle;
}

const struct wire_wr *wire_requester_find(const struct wire_qp *qp, uint32_t psn)
{
	const struct wire_requester *r = &qp->requester;
	const struct wire_entry *e;

	for (uint32_t i = 1; i <= r->tail && i <= WIRE_ENTRIES; i++) {
		e = &r->entry[(r->tail - i) % WIRE_ENTRIES];
		if (wire_psn_after(psn, e->psn) < e->packets)
			return &e->wr;
	}
	return NULL;
}

/* The packet `index` of an entry; of a read, the request for its burst from there on (IBA 9.7.5.1). */
static struct wire_packet describe(const struct wire_qp *qp, const struct wire_entry *e,
				   uint32_t index)
{
	const struct wire_wr *wr = &e->wr;
	uint32_t at = index * qp->attr.mtu;
	bool last = index + 1 == e->packets;
	struct wire_packet p = wire_qp_packet(qp, wire_operation_of(wr->work, index, e->packets),
					      wire_psn_add(e->psn, index));

	p.srqn = wr->srqn;
	p.va = wr->raddr;
	p.rkey = wr->rkey;
	p.dma_len = wr->len;
	if (wr->work == WIRE_WORK_READ) {
		uint32_t most = (burst_end(e, index) - index) * qp->attr.mtu;

		p.va += at;
		p.dma_len = wr->len - at < most ? wr->len - at : most;
	}
	p.swap_add = wr->swap_add;
	p.compare = wr->compare;
	p.imm = wr->imm;
	p.invalidate = wr->imm;
	if (has_response(e))
		return p;
	p.len = last ? wr->len - at : qp->attr.mtu;
	p.solicited = last && wr->solicited;
	return p;
}

static bool asks_for_ack(const struct wire_qp *qp, const struct wire_entry *e, uint32_t index)
{
	const struct wire_requester *r = &qp->requester;

	if (!is_reliable(qp) || has_response(e))
		return false;
	return index + 1 == e->packets ||
	       (wire_psn_add(e->psn, index) & ACK_EVERY_MASK) == ACK_EVERY_MASK ||
	       (r->limited && takes_receive(e) && wire_psn_before(r->lsn, e->ssn));
}

static void sent(struct wire_qp *qp, uint64_t now, struct wire_entry *e)
{
	struct wire_requester *r = &qp->requester;
	uint32_t end = wire_psn_add(e->psn, e->packets);

	r->reads += has_response(e);
	r->next = has_response(e)
			  ? wire_psn_add(e->psn, burst_end(e, wire_psn_after(r->next, e->psn)))
			  : wire_psn_add(r->next, 1);
	if (wire_psn_before(r->top, r->next) || wire_psn_after(r->next, r->top) == WIRE_PSN_HALF)
		r->top = r->next;
	if (r->next == end) {
		r->at++;
		if (r->at != r->tail)
			entry(r, r->at)->resent |= r->next != r->top;
	}
	if (!r->ack_at)
		start_timer(qp, now);
	if (!is_reliable(qp)) {
		r->una = r->next;
		complete_acknowledged(qp);
	}
}

size_t wire_requester_output(struct wire_qp *qp, uint64_t now, uint8_t *out)
{
	struct wire_requester *r = &qp->requester;
	struct wire_entry *e = entry(r, r->at);
	enum emu_syndrome syndrome = EMU_SYN_OK;
	struct wire_packet p;
	uint32_t index;
	size_t head;

	if (r->failed || r->at == r->tail || r->rnr_at)
		return 0;
	if (e->failed) {
		complete_acknowledged(qp);
		return 0;
	}
	if (!may_send(qp, e))
		return 0;
	index = wire_psn_after(r->next, e->psn);
	p = describe(qp, e, index);
	p.ack_req = asks_for_ack(qp, e, index);
	head = wire_build(&p, out);
	if (p.len)
		syndrome =
			qp->ops->gather(qp->ctx, &e->wr, index * qp->attr.mtu, out + head, p.len);
	if (syndrome != EMU_SYN_OK) {
		e->failed = (uint8_t)syndrome;
		complete_acknowledged(qp);
		return 0;
	}
	sent(qp, now, e);
	return head + p.len;
}

void wire_requester_expire(struct wire_qp *qp, uint64_t now)
{
	struct wire_requester *r = &qp->requester;

	if (r->rnr_at && now >= r->rnr_at)
		r->rnr_at = 0;
	if (r->ack_at && now >= r->ack_at) {
		r->went_back = false;
		qp->ops->count(qp->ctx, WIRE_COUNT_TIMEOUT);
		retry(qp, now);
	}
}

uint64_t wire_requester_deadline(const struct wire_qp *qp)
{
	const struct wire_requester *r = &qp->requester;
	uint64_t ack = r->ack_at ? r->ack_at : UINT64_MAX;
	uint64_t rnr = r->rnr_at ? r->rnr_at : UINT64_MAX;

	return ack < rnr ? ack : rnr;
}
