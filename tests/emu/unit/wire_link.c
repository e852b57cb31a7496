/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "wire_link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "emu/wire/aeth.h"
#include "emu/wire/icrc.h"
#include "wire_calls.h"

#define RKEY	  0x1234u
#define DELAY_NS  2000u
#define GAP	  16u /* bytes that nobody may touch, between two pieces of memory */
#define BASE	  0x7f0000000000ull
#define FIRST_QPN 0x11u
#define UNTOUCHED 0xe5

/* splitmix64 */
uint32_t link_random(struct link *l, uint32_t below)
{
	uint64_t z = l->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	return below ? (uint32_t)((z >> 32) % below) : 0;
}

static bool chance(struct link *l, uint32_t permille)
{
	return permille && link_random(l, 1000) < permille;
}

static struct link_end *peer_of(struct link_end *e)
{
	return &e->link->end[!e->side];
}

static enum emu_syndrome on_gather(void *ctx, const struct wire_wr *wr, uint32_t at, uint8_t *out,
				   uint32_t len)
{
	struct link_end *e = ctx;
	const struct link_work *w = &e->work[wr->cookie];

	assert_true(at + len <= wr->len);
	memcpy(out, e->memory + w->local + at, len);
	return EMU_SYN_OK;
}

static enum emu_syndrome on_scatter(void *ctx, const struct wire_wr *wr, uint32_t at,
				    const uint8_t *in, uint32_t len)
{
	struct link_end *e = ctx;
	const struct link_work *w = &e->work[wr->cookie];

	assert_true(at + len <= wr->len);
	memcpy(e->memory + w->local + at, in, len);
	return EMU_SYN_OK;
}

static void on_finished(void *ctx, const struct wire_wr *wr, enum emu_syndrome syndrome)
{
	struct link_end *e = ctx;

	assert_int_equal(syndrome, EMU_SYN_OK);
	assert_int_equal(wr->cookie, e->finished);
	assert_false(e->work[wr->cookie].finished);
	e->work[wr->cookie].finished = true;
	e->finished++;
}

static enum wire_answer on_check_access(void *ctx, enum wire_access access,
					const struct wire_remote *m)
{
	assert_int_equal(m->rkey, RKEY);
	assert_true(m->va >= BASE && m->va + m->len <= BASE + LINK_MEMORY);
	return WIRE_DONE;
}

static enum wire_answer on_read(void *ctx, const struct wire_remote *m, uint8_t *out)
{
	struct link_end *e = ctx;

	on_check_access(ctx, WIRE_REMOTE_READ, m);
	memcpy(out, e->memory + (m->va - BASE), m->len);
	return WIRE_DONE;
}

static enum wire_answer on_write(void *ctx, const struct wire_remote *m, const uint8_t *in)
{
	struct link_end *e = ctx;

	on_check_access(ctx, WIRE_REMOTE_WRITE, m);
	memcpy(e->memory + (m->va - BASE), in, m->len);
	return WIRE_DONE;
}

static void change(uint8_t *cell, enum wire_work work, uint64_t swap_add, uint64_t compare,
		   uint64_t *original)
{
	uint64_t value;

	memcpy(&value, cell, sizeof(value));
	*original = value;
	if (work == WIRE_WORK_FETCH_ADD)
		value += swap_add;
	else if (value == compare)
		value = swap_add;
	memcpy(cell, &value, sizeof(value));
}

static enum wire_answer on_atomic(void *ctx, const struct wire_remote *m, enum wire_work work,
				  uint64_t swap_add, uint64_t compare, uint64_t *original)
{
	struct link_end *e = ctx;

	if (chance(e->link, e->later))
		return WIRE_LATER;
	change(e->memory + (m->va - BASE), work, swap_add, compare, original);
	return WIRE_DONE;
}

static enum wire_answer on_take(void *ctx, uint32_t srqn, uint64_t *room)
{
	struct link_end *e = ctx;

	assert_false(e->holds);
	if (e->rx_taken == e->rx_posted)
		return WIRE_NOT_READY;
	*room = e->receive[e->rx_taken].room;
	e->rx_taken++;
	e->holds = true;
	return WIRE_DONE;
}

static enum wire_answer on_fill(void *ctx, uint32_t at, const uint8_t *in, uint32_t len)
{
	struct link_end *e = ctx;
	struct link_receive *r = &e->receive[e->rx_taken - 1];

	assert_true(e->holds && at + len <= r->room);
	memcpy(e->memory + r->at + at, in, len);
	return WIRE_DONE;
}

static void on_put_back(void *ctx)
{
	struct link_end *e = ctx;

	assert_true(e->holds);
	e->holds = false;
	e->rx_taken--;
}

static enum wire_answer on_invalidate(void *ctx, uint32_t srqn, uint32_t rkey,
				      enum emu_syndrome *why)
{
	struct link_end *e = ctx;

	return chance(e->link, e->later) ? WIRE_LATER : WIRE_DONE;
}

static void on_received(void *ctx, const struct wire_receipt *receipt)
{
	struct link_end *e = ctx;
	struct link_receive *r = &e->receive[e->rx_done];

	assert_true(e->holds && e->rx_taken == e->rx_done + 1);
	e->holds = false;
	r->done = true;
	r->receipt = *receipt;
	e->rx_done++;
}

static int on_receives(void *ctx)
{
	struct link_end *e = ctx;

	return e->shared ? -1 : (int)(e->rx_posted - e->rx_taken);
}

static void on_event(void *ctx, enum wire_event event)
{
	struct link_end *e = ctx;

	e->events[event]++;
}

static void on_count(void *ctx, enum wire_count what)
{
	struct link_end *e = ctx;

	e->counts[what]++;
}

static const struct wire_ops ops = WIRE_CALLS;

static void open_end(struct link *l, unsigned int side, const struct wire_attr *attr)
{
	struct link_end *e = &l->end[side];
	struct wire_attr own = *attr;
	uint32_t psn[2] = {attr->sq_psn, attr->rq_psn};

	memset(e, 0, sizeof(*e));
	e->link = l;
	e->side = side;
	own.qpn = FIRST_QPN + side;
	own.dest_qpn = FIRST_QPN + !side;
	own.sq_psn = psn[side];
	own.rq_psn = psn[!side];
	own.path.src[15] = (uint8_t)(1 + side);
	own.path.dst[15] = (uint8_t)(1 + !side);
	own.path.hop_limit = 64;
	own.path.dport = WIRE_PORT;
	own.path.sport = wire_path_sport(0, own.qpn, own.dest_qpn);
	wire_qp_open(&e->qp, &own, &ops, e);
}

void link_open(struct link *l, uint64_t seed, const struct wire_attr *attr)
{
	memset(l, 0, sizeof(*l));
	l->now = 1;
	l->random = seed;
	open_end(l, 0, attr);
	open_end(l, 1, attr);
	link_recycle(l);
}

void link_recycle(struct link *l)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct link_end *e = &l->end[i];

		memset(e->memory, UNTOUCHED, LINK_MEMORY);
		memset(e->model, UNTOUCHED, LINK_MEMORY);
		e->used = e->posted = e->finished = 0;
		e->rx_posted = e->rx_taken = e->rx_done = e->rx_expected = 0;
	}
}

/* A piece of memory, at an address of 8 bytes; UINT32_MAX: there is no room. */
static uint32_t allot(struct link_end *e, uint32_t len)
{
	uint32_t at = e->used;
	uint32_t end = (at + len + GAP + 7) & ~7u;

	if (end > LINK_MEMORY)
		return UINT32_MAX;
	e->used = end;
	return at;
}

static void scribble(struct link_end *e, uint32_t at, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		e->memory[at + i] = (uint8_t)link_random(e->link, 256);
	memcpy(e->model + at, e->memory + at, len);
}

bool link_receive(struct link_end *e, uint32_t room)
{
	uint32_t at = e->rx_posted < LINK_RECEIVES ? allot(e, room) : UINT32_MAX;

	if (at == UINT32_MAX)
		return false;
	e->receive[e->rx_posted] = (struct link_receive){.at = at, .room = room};
	e->rx_posted++;
	return true;
}

/* Every message of the model arrives in the receive that was posted for it before. */
static void expect(struct link_end *to, const struct wire_wr *wr, const uint8_t *bytes)
{
	const struct link_receive *r = &to->receive[to->rx_expected];

	assert_true(to->rx_expected < to->rx_posted);
	to->expected[to->rx_expected++] = (struct wire_receipt){
		.work = wr->work, .solicited = wr->solicited, .len = wr->len, .imm = wr->imm};
	if (wr->work <= WIRE_WORK_SEND_INV)
		memcpy(to->model + r->at, bytes, wr->len);
}

static void predict(struct link_end *e, struct link_work *w, uint32_t remote)
{
	struct link_end *to = peer_of(e);
	uint64_t original;

	switch (w->wr.work) {
	case WIRE_WORK_READ:
		memcpy(e->model + w->local, to->model + remote, w->wr.len);
		break;
	case WIRE_WORK_COMPARE_SWAP:
	case WIRE_WORK_FETCH_ADD:
		change(to->model + remote, (enum wire_work)w->wr.work, w->wr.swap_add,
		       w->wr.compare, &original);
		memcpy(e->model + w->local, &original, sizeof(original));
		break;
	case WIRE_WORK_WRITE:
	case WIRE_WORK_WRITE_IMM:
		memcpy(to->model + remote, e->model + w->local, w->wr.len);
		break;
	default:
		break;
	}
	if (w->wr.work <= WIRE_WORK_SEND_INV || w->wr.work == WIRE_WORK_WRITE_IMM)
		expect(to, &w->wr, e->model + w->local);
}

bool link_post(struct link_end *e, enum wire_work work, uint32_t len)
{
	struct link_end *to = peer_of(e);
	struct link_work *w = &e->work[e->posted];
	bool takes = work <= WIRE_WORK_SEND_INV || work == WIRE_WORK_WRITE_IMM;
	bool remote = work >= WIRE_WORK_WRITE;
	uint32_t local;
	uint32_t there = 0;

	if (e->posted == LINK_WORK || (takes && to->rx_posted == LINK_RECEIVES))
		return false;
	local = allot(e, len);
	if (local != UINT32_MAX && remote)
		there = allot(to, len);
	if (local == UINT32_MAX || there == UINT32_MAX)
		return false;
	*w = (struct link_work){
		.local = local,
		.wr = {.cookie = e->posted,
		       .work = (uint8_t)work,
		       .solicited = takes && link_random(e->link, 2),
		       .fence = link_random(e->link, 4) == 0,
		       .len = len,
		       .raddr = BASE + there,
		       .rkey = RKEY,
		       .imm = work == WIRE_WORK_SEND ? 0 : link_random(e->link, UINT32_MAX),
		       .swap_add = link_random(e->link, UINT32_MAX),
		       .compare = link_random(e->link, 2)},
	};
	scribble(work == WIRE_WORK_READ || work > WIRE_WORK_READ ? to : e,
		 work >= WIRE_WORK_READ ? there : local, len);
	if (work == WIRE_WORK_COMPARE_SWAP && link_random(e->link, 2))
		memcpy(&w->wr.compare, to->model + there, sizeof(w->wr.compare));
	predict(e, w, there);
	assert_true(wire_qp_post(&e->qp, &w->wr));
	e->posted++;
	return true;
}

static struct link_packet *place(struct link *l)
{
	for (unsigned int i = 0; i < LINK_PACKETS; i++) {
		if (!l->packet[i].due)
			return &l->packet[i];
	}
	return NULL;
}

/* A copy of a packet enters the network. */
static void travel(struct link *l, unsigned int to, const uint8_t *bytes, size_t len)
{
	struct link_packet *p = place(l);
	uint32_t bit;

	if (!p || chance(l, l->faults.lost))
		return;
	memcpy(p->bytes, bytes, len);
	p->len = len;
	p->to = to;
	p->due = l->now + DELAY_NS;
	p->order = l->orders++;
	p->congested = chance(l, l->faults.congested);
	p->falsified = chance(l, l->faults.falsified);
	if (chance(l, l->faults.late))
		p->due += link_random(l, l->faults.late_ns);
	if (p->falsified) {
		do {
			bit = link_random(l, (uint32_t)len * 8);
		} while (bit / 8 == 4); /* the BTH's byte that the CRC does not cover */
		p->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	l->packets++;
}

/* An ACK in the place of a response would end the connection, or be taken for it, if the response is lost. */
static void check_ack(struct link_end *e, const uint8_t *bytes, size_t len)
{
	const struct wire_wr *wr;
	struct wire_packet p;

	assert_int_equal(wire_parse(bytes, len, &p), WIRE_ACCEPTED);
	if (WIRE_OPERATION(p.opcode) != WIRE_ACK ||
	    WIRE_SYNDROME_KIND(p.syndrome) != WIRE_ACK_CREDITS)
		return;
	wr = wire_requester_find(&peer_of(e)->qp, p.psn);
	assert_false(wr && wr->work >= WIRE_WORK_READ);
}

static void transmit(struct link *l, struct link_end *e)
{
	uint8_t bytes[WIRE_MAX_PACKET];
	size_t len;

	for (unsigned int burst = 0; burst < 16; burst++) {
		len = wire_qp_output(&e->qp, l->now, bytes);
		if (!len)
			return;
		len = wire_seal(&e->qp.attr.path, bytes, len);
		assert_true(len <= WIRE_MAX_PACKET);
		check_ack(e, bytes, len);
		e->sent++;
		travel(l, !e->side, bytes, len);
		if (chance(l, l->faults.repeated))
			travel(l, !e->side, bytes, len);
	}
}

static void deliver(struct link *l, struct link_packet *p)
{
	struct link_end *e = &l->end[p->to];
	struct wire_path from = peer_of(e)->qp.attr.path;
	struct wire_packet packet;
	enum wire_drop drop = WIRE_DROP_ICRC;

	from.tclass = p->congested ? WIRE_ECN_CONGESTED : WIRE_ECN_CAPABLE;
	if (wire_icrc_is_right(&from, p->bytes, p->len)) {
		assert_false(p->falsified);
		drop = wire_parse(p->bytes, p->len, &packet);
		assert_int_equal(drop, WIRE_ACCEPTED);
		drop = wire_qp_input(&e->qp, l->now, &from, &packet);
	}
	e->drops[drop]++;
	p->due = 0;
	l->packets--;
}

static bool is_before(const struct link_packet *a, const struct link_packet *b)
{
	return a->due < b->due || (a->due == b->due && a->order < b->order);
}

/* The packet that arrives next; NULL: there is none. */
static struct link_packet *next_packet(struct link *l)
{
	struct link_packet *next = NULL;
	uint32_t left = l->packets;

	for (unsigned int i = 0; left && i < LINK_PACKETS; i++) {
		if (!l->packet[i].due)
			continue;
		left--;
		if (!next || is_before(&l->packet[i], next))
			next = &l->packet[i];
	}
	return next;
}

static bool is_idle(const struct link *l)
{
	return l->end[0].finished == l->end[0].posted && l->end[1].finished == l->end[1].posted;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* When something happens next. While packets travel, both ends send again soon: a burst is limited. */
static uint64_t next_event(const struct link *l, const struct link_packet *p)
{
	uint64_t due = earlier(wire_qp_deadline(&l->end[0].qp), wire_qp_deadline(&l->end[1].qp));

	return p ? earlier(earlier(p->due, l->now + DELAY_NS / 2), due) : due;
}

bool link_run(struct link *l, uint64_t ns)
{
	uint64_t end = l->now + ns;
	struct link_packet *p;
	uint64_t due;

	for (;;) {
		transmit(l, &l->end[0]);
		transmit(l, &l->end[1]);
		p = next_packet(l);
		due = next_event(l, p);
		if ((is_idle(l) && !p) || due == UINT64_MAX || due > end)
			return is_idle(l) && !p;
		l->now = due > l->now ? due : l->now;
		if (p && p->due <= l->now)
			deliver(l, p);
	}
}

static void check_receipts(const struct link_end *e)
{
	assert_int_equal(e->rx_done, e->rx_expected);
	for (uint32_t i = 0; i < e->rx_done; i++) {
		const struct wire_receipt *got = &e->receive[i].receipt;
		const struct wire_receipt *want = &e->expected[i];

		assert_int_equal(got->syndrome, EMU_SYN_OK);
		assert_int_equal(got->work, want->work);
		assert_int_equal(got->len, want->len);
		assert_int_equal(got->imm, want->imm);
		assert_int_equal(got->solicited, want->solicited);
	}
}

void link_check(struct link *l)
{
	for (unsigned int i = 0; i < 2; i++) {
		const struct link_end *e = &l->end[i];

		assert_int_equal(e->finished, e->posted);
		check_receipts(e);
		assert_false(e->holds);
		assert_false(e->qp.dead);
		assert_memory_equal(e->memory, e->model, LINK_MEMORY);
	}
}
