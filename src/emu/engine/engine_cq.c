/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Completion queues: writing CQEs, overrun, completion events.
 */
#include "engine_int.h"

#define CI_MASK	      0xffffffu
#define ARM_SOLICITED (1u << 24)
#define TIMESTAMP     48 /* in a CQE */
#define OP_OWN	      63
#define AHEAD	      4 /* entries */

static struct emu_cq *find(struct engine *e, uint32_t cqn, struct emu_cq_run **run)
{
	struct emu_cq_run *r;
	struct emu_cq *cq;
	uint32_t serial;

	if (cqn >= EMU_MAX_CQS)
		return NULL;
	cq = &e->cfg.queues->cq[cqn];
	serial = atomic_load(&cq->serial);
	if (!serial || cq->engine != e->cfg.slot)
		return NULL;
	r = &e->cq_run[cqn];
	if (r->serial != serial) {
		memset(r, 0, sizeof(*r));
		r->serial = serial;
	}
	*run = r;
	return cq;
}

/* All but the time, which those that are published together share, and the last byte. */
static inline __attribute__((always_inline)) void fill(uint8_t *p, const struct emu_cqe *cqe)
{
	memset(p, 0, OP_OWN);
	emu_put32(p + 24, (uint32_t)cqe->net << 24 | (cqe->src_qpn & 0xffffff));
	emu_put32(p + 32, cqe->uidx & 0xffffff);
	memcpy(p + 36, &cqe->imm, 4);
	emu_put32(p + 44, cqe->byte_cnt);
	p[55] = cqe->syndrome;
	emu_put32(p + 56, (uint32_t)cqe->wqe_opcode << 24 | (cqe->qpn & 0xffffff));
	emu_put16(p + 60, cqe->wqe_counter);
}

bool emu_cq_frozen(const struct engine *e, uint32_t cqn)
{
	/* a server that ended in the middle thaws nothing any more */
	return !e->abandoned && cqn < EMU_MAX_CQS && atomic_load(&e->cfg.queues->cq[cqn].frozen);
}

static bool is_full(const struct emu_cq *cq, uint32_t ci)
{
	return !cq->overwrites && ((cq->pi - ci) & CI_MASK) >= cq->entries;
}

/* The one of the batch has been found in this pass. */
static struct emu_cq *find_quickly(struct engine *e, uint32_t cqn, struct emu_cq_run **run)
{
	if (!e->batch.n || e->batch.cqn != cqn)
		return find(e, cqn, run);
	*run = &e->cq_run[cqn];
	return e->batch.cq;
}

static uint8_t *entry(const struct emu_cq *cq, uint32_t index)
{
	return emu_own(cq->buf_addr) + (size_t)(index & (cq->entries - 1)) * cq->cqe_size;
}

/* The 64 bytes of an entry that are written. */
static uint8_t *blank_entry(const struct emu_cq *cq, uint32_t index)
{
	uint8_t *p = entry(cq, index);

	if (cq->padded)
		memset(p, 0, cq->cqe_size - 64u);
	return p + cq->cqe_size - 64;
}

void emu_cq_publish(struct engine *e)
{
	struct emu_cq_batch *b = &e->batch;
	const struct emu_cq *cq = b->cq;
	uint64_t now;
	uint32_t i;

	if (!b->n)
		return;
	now = emu_now_ns();
	e->now = now;
	e->timed = true;
	for (i = 0; i < b->n; i++) {
		uint8_t *p = entry(cq, cq->pi - b->n + i) + cq->cqe_size - 64;

		if (b->op_own[i] >> 4 < EMU_CQE_REQ_ERR)
			emu_put64(p + TIMESTAMP, now);
		__atomic_store_n(p + OP_OWN, b->op_own[i], __ATOMIC_RELEASE);
	}
	b->n = 0;
}

/* It will be written; the driver read it last, on another processor. */
static void claim(const uint8_t *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*p));
#else
	__builtin_prefetch(p, 1);
#endif
}

/*
 * False if it is full. The consumer's index, which another processor writes, is looked at only if
 * that seems so by what it was.
 */
static bool make_room(struct engine *e, struct emu_cq *cq, uint32_t cqn, struct emu_cq_run *r)
{
	struct emu_cq_batch *b = &e->batch;

	if (b->n == ENGINE_CQES || b->cq != cq)
		emu_cq_publish(e);
	b->cq = cq;
	b->cqn = cqn;
	if (!is_full(cq, r->ci))
		return true;
	r->ci = emu_dbr_word(cq->dbr_addr, 0);
	return !is_full(cq, r->ci);
}

/*
 * Compression. A session of n completions has n entries of the ring. The first is the title: the
 * CQE of the first completion, marked as compressed, with n where its length would be. The next one
 * is full of what is told of each, eight at a time, from the first completion on; every further
 * eight are at a multiple of 8 from the title. The other entries stay as they were: who polls gives
 * them its mark of a consumed entry. (Layout 0 of the CQ context, as the drivers of Linux'
 * mlx5_core and DPDK read it.) Devices compress when they please. This one does if nothing is left
 * to guess: plain sends without an event, from one sender, into WQEs of a QP's own ring, which
 * count up.
 */
#define COMPRESSED (3u << 2) /* format, in op_own */
#define MINIS	   8u	     /* in an entry */

static bool is_compressible(const struct engine *e, const struct emu_cqe *cqe)
{
	const struct emu_qp *q = &e->cfg.queues->qp[cqe->qpn];

	return cqe->opcode == EMU_CQE_RESP_SEND && !cqe->solicited && !q->srqn &&
	       q->type != EMU_QPT_XRC_TGT;
}

static bool continues(const struct emu_cq_session *s, const struct emu_cqe *cqe)
{
	return cqe->qpn == s->first.qpn && cqe->src_qpn == s->first.src_qpn &&
	       cqe->net == s->first.net && cqe->uidx == s->first.uidx &&
	       cqe->wqe_counter == (uint16_t)(s->first.wqe_counter + s->n);
}

/* What a completion says besides its length: RoCE has neither hash nor checksum to tell. */
static void put_mini(uint8_t *p, const struct emu_cq *cq, const struct emu_cq_session *s,
		     uint32_t i)
{
	memset(p, 0, 4);
	if (cq->mini == EMU_MINI_CSUM_STRIDX)
		emu_put16(p + 2, (uint16_t)(s->first.wqe_counter + i));
	emu_put32(p + 4, s->byte_cnt[i]);
}

static void put_minis(const struct emu_cq *cq, const struct emu_cq_session *s, uint32_t from,
		      uint32_t n)
{
	uint8_t *p = blank_entry(cq, cq->pi + (from ? from : 1));
	uint32_t i;

	memset(p, 0, 64);
	for (i = from; i < n && i < from + MINIS; i++)
		put_mini(p + (size_t)(i - from) * 8, cq, s, i);
}

static void write_session(struct engine *e, struct emu_cq *cq, uint32_t n)
{
	const struct emu_cq_session *s = &e->session;
	uint8_t *p = blank_entry(cq, cq->pi);
	uint8_t op_own = (uint8_t)(s->first.opcode << 4 | (cq->pi & cq->entries ? 1 : 0));
	uint32_t i;

	e->now = emu_now_ns();
	e->timed = true;
	fill(p, &s->first);
	emu_put64(p + TIMESTAMP, e->now);
	if (n > 1) {
		op_own |= COMPRESSED;
		emu_put32(p + 44, n);
		for (i = 0; i < n; i += MINIS)
			put_minis(cq, s, i, n);
	}
	__atomic_store_n(p + OP_OWN, op_own, __ATOMIC_RELEASE);
	cq->pi += n;
}

/* Of a QP that is gone or was reset since, nobody may hear any more: its CQ was cleaned of it. */
static bool is_current(const struct engine *e, const struct emu_cq_session *s)
{
	const struct emu_qp *q = &e->cfg.queues->qp[s->first.qpn];

	return atomic_load(&q->serial) == s->qp_serial && atomic_load(&q->resets) == s->qp_resets;
}

/* So many entries; what make_room() found out is not enough for a session. */
static bool has_room(const struct emu_cq *cq, uint32_t n)
{
	return cq->overwrites ||
	       ((cq->pi + n - emu_dbr_word(cq->dbr_addr, 0)) & CI_MASK) <= cq->entries;
}

static void fail_cq(struct engine *e, struct emu_cq *cq, uint32_t cqn, uint32_t serial)
{
	struct emu_note note = {.type = EMU_NOTE_CQ_ERR, .number = cqn, .serial = serial};

	atomic_store(&cq->error, 1);
	emu_engine_event(e, &note);
}

static void end_session(struct engine *e)
{
	struct emu_cq_session *s = &e->session;
	struct emu_cq_run *r;
	struct emu_cq *cq = find(e, s->cqn, &r);
	uint32_t n = s->n;

	emu_cq_publish(e);
	s->n = 0;
	e->worked = true;
	if (!cq || r->serial != s->cq_serial || !is_current(e, s))
		return;
	if (has_room(cq, n))
		write_session(e, cq, n);
	else
		fail_cq(e, cq, s->cqn, r->serial); /* its ring was changed for a smaller one */
}

void emu_cq_end_session(struct engine *e)
{
	if (e->session.n && !emu_cq_frozen(e, e->session.cqn))
		end_session(e);
}

void emu_cq_age_session(struct engine *e)
{
	const struct emu_cq_session *s = &e->session;

	if (!s->n)
		return;
	if (e->now - s->opened >= ENGINE_SESSION_NS ||
	    (!e->worked && e->now - s->grown >= ENGINE_QUIET_NS))
		emu_cq_end_session(e);
}

static void begin_session(struct engine *e, uint32_t cqn, const struct emu_cqe *cqe)
{
	const struct emu_qp *q = &e->cfg.queues->qp[cqe->qpn];
	struct emu_cq_session *s = &e->session;

	s->cqn = cqn;
	s->cq_serial = e->cq_run[cqn].serial;
	s->qp_serial = atomic_load(&q->serial);
	s->qp_resets = atomic_load(&q->resets);
	s->opened = e->now;
	s->first = *cqe;
}

/* False: it must be written at once. */
static bool hold(struct engine *e, const struct emu_cq *cq, uint32_t cqn, const struct emu_cqe *cqe)
{
	struct emu_cq_session *s = &e->session;
	bool compressible = is_compressible(e, cqe);

	/* A CQ that we write to may be frozen meanwhile: that counts from the next pass on. */
	if (s->n && s->cqn != cqn)
		emu_cq_end_session(e);
	else if (s->n && (!compressible || !continues(s, cqe) || !is_current(e, s)))
		end_session(e);
	if (!compressible || (s->n && s->cqn != cqn))
		return false;
	if (!s->n)
		begin_session(e, cqn, cqe);
	s->grown = e->now;
	s->byte_cnt[s->n++] = cqe->byte_cnt;
	if (s->n >= cq->session || s->n >= cq->entries)
		end_session(e);
	return true;
}

/* For one more, besides what is held back. */
static bool has_room_beside(const struct engine *e, const struct emu_cq *cq, uint32_t cqn)
{
	return !e->session.n || e->session.cqn != cqn || has_room(cq, e->session.n + 1);
}

bool emu_cq_push(struct engine *e, uint32_t cqn, const struct emu_cqe *cqe)
{
	struct emu_cq_run *r;
	struct emu_cq *cq = find_quickly(e, cqn, &r);
	struct emu_cqe other;

	if (!cq)
		return true; /* destroyed: nobody is left to read it */
	if (e->rule != EMU_CQE_NORMAL)
		cqe = emu_rule_fate(e, cqe, &other);
	if (!cqe)
		return true;
	if (atomic_load(&cq->error))
		return false;
	if (!make_room(e, cq, cqn, r) || (cq->session && !has_room_beside(e, cq, cqn))) {
		emu_cq_end_session(e);
		fail_cq(e, cq, cqn, r->serial);
		return false;
	}
	if (cq->session && hold(e, cq, cqn, cqe))
		return cqe != &other;
	claim(entry(cq, cq->pi + AHEAD) + cq->cqe_size - 64);
	fill(blank_entry(cq, cq->pi), cqe);
	e->batch.op_own[e->batch.n++] = (uint8_t)(cqe->opcode << 4 | (cqe->solicited ? 2 : 0) |
						  ((cq->pi & cq->entries) ? 1 : 0));
	cq->pi++;
	if (cqe->solicited || cqe->syndrome) {
		r->solicited = cq->pi;
		r->any_solicited = true;
	}
	e->worked = true;
	return cqe != &other;
}

/* Does a CQE with an index of at least ci exist, if `end` is the index after the last one? */
static bool reached(uint32_t end, uint32_t ci)
{
	uint32_t ahead = (end - ci) & CI_MASK;

	return ahead && ahead <= CI_MASK / 2;
}

/*
 * Is the event held back (MODIFY_CQ)? Until there are as many CQEs as asked for, or the first has
 * waited for the whole period; a count of 0 or a period of 0 is no condition.
 */
static bool moderated(struct engine *e, const struct emu_cq *cq, struct emu_cq_run *r, uint32_t ci)
{
	uint32_t moderation = atomic_load(&cq->moderation);
	uint32_t count = moderation & 0xffff;
	uint64_t now;

	if (!count || !(moderation >> 16) || ((cq->pi - ci) & CI_MASK) >= count)
		return false;
	now = emu_now_ns();
	if (!r->held_since)
		r->held_since = now;
	if (now - r->held_since >= (uint64_t)(moderation >> 16) * 1000)
		return false;
	e->worked = true; /* no nap before it went out */
	return true;
}

/*
 * One event per arm sequence number: the driver counts it up when it has received the event. The
 * CQEs that an event told of are not told of again, also if they are still there when the CQ is
 * armed anew (IBA 11.4.2.2: only those that are added afterwards count; perftest hung on a
 * ConnectX-5 that way, its issue 137).
 */
void emu_cq_notify(struct engine *e, uint32_t cqn)
{
	struct emu_cq_run *r;
	struct emu_cq *cq = find(e, cqn, &r);
	struct emu_note note = {.type = EMU_NOTE_COMP, .number = cqn};
	uint32_t arm;
	uint8_t sn;

	if (!cq || !cq->has_channel)
		return;
	arm = emu_dbr_word(cq->dbr_addr, 1);
	sn = arm >> 28 & 3;
	if (arm == EMU_CQ_UNARMED || (r->fired && r->fired_sn == sn))
		return;
	if (arm & ARM_SOLICITED ? !r->any_solicited : r->fired && r->fired_pi == cq->pi)
		return;
	if (!reached(arm & ARM_SOLICITED ? r->solicited : cq->pi, arm & CI_MASK))
		return;
	if (moderated(e, cq, r, arm & CI_MASK))
		return;
	note.serial = r->serial;
	if (!emu_engine_note(e, &note))
		return;
	r->held_since = 0;
	r->fired = true;
	r->fired_sn = sn;
	r->fired_pi = cq->pi;
	r->any_solicited = false;
	e->worked = true;
}
