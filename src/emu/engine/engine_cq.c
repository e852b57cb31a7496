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
static void fill(uint8_t *p, const struct emu_cqe *cqe)
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

static void overrun(struct engine *e, uint32_t cqn, uint32_t serial)
{
	struct emu_note note = {.type = EMU_NOTE_CQ_ERR, .number = cqn, .serial = serial};

	emu_engine_event(e, &note);
}

bool emu_cq_push(struct engine *e, uint32_t cqn, const struct emu_cqe *cqe)
{
	struct emu_cq_run *r;
	struct emu_cq *cq = find_quickly(e, cqn, &r);
	struct emu_cqe other;
	uint8_t *p;

	if (!cq)
		return true; /* destroyed: nobody is left to read it */
	if (e->rule != EMU_CQE_NORMAL)
		cqe = emu_rule_fate(e, cqe, &other);
	if (!cqe)
		return true;
	if (atomic_load(&cq->error))
		return false;
	if (!make_room(e, cq, cqn, r)) {
		atomic_store(&cq->error, 1);
		overrun(e, cqn, r->serial);
		return false;
	}
	p = entry(cq, cq->pi);
	claim(entry(cq, cq->pi + AHEAD) + cq->cqe_size - 64);
	if (cq->padded)
		memset(p, 0, cq->cqe_size - 64u);
	fill(p + cq->cqe_size - 64, cqe);
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

/* One event per arm sequence number: the driver counts it up when it has received the event. */
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
	if (arm & ARM_SOLICITED ? !r->any_solicited || !reached(r->solicited, arm & CI_MASK)
				: !reached(cq->pi, arm & CI_MASK))
		return;
	if (moderated(e, cq, r, arm & CI_MASK))
		return;
	note.serial = r->serial;
	if (!emu_engine_note(e, &note))
		return;
	r->held_since = 0;
	r->fired = true;
	r->fired_sn = sn;
	e->worked = true;
}
