/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Completion queues: writing CQEs, overrun, completion events.
 */
#include "engine_int.h"

#define CI_MASK	      0xffffffu
#define ARM_SOLICITED (1u << 24)

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

static void fill(uint8_t *p, const struct emu_cqe *cqe)
{
	memset(p, 0, 63);
	emu_put32(p + 24, cqe->src_qpn & 0xffffff);
	emu_put32(p + 32, cqe->uidx & 0xffffff);
	memcpy(p + 36, &cqe->imm, 4);
	emu_put32(p + 44, cqe->byte_cnt);
	if (cqe->syndrome)
		p[55] = cqe->syndrome;
	else
		emu_put64(p + 48, emu_now_ns());
	emu_put32(p + 56, (uint32_t)cqe->wqe_opcode << 24 | (cqe->qpn & 0xffffff));
	emu_put16(p + 60, cqe->wqe_counter);
}

static bool is_full(const struct emu_cq *cq, const struct emu_cq_run *r)
{
	uint32_t ci = emu_dbr_word(cq->dbr_addr, 0);

	return ((r->pi - ci) & CI_MASK) >= cq->entries;
}

static void overrun(struct engine *e, uint32_t cqn, uint32_t serial)
{
	struct emu_note note = {.type = EMU_NOTE_CQ_ERR, .number = cqn, .serial = serial};

	emu_engine_event(e, &note);
}

bool emu_cq_push(struct engine *e, uint32_t cqn, const struct emu_cqe *cqe)
{
	struct emu_cq_run *r;
	struct emu_cq *cq = find(e, cqn, &r);
	uint8_t op_own;
	uint8_t *p;

	if (!cq)
		return true; /* destroyed: nobody is left to read it */
	if (atomic_load(&cq->error))
		return false;
	if (is_full(cq, r)) {
		atomic_store(&cq->error, 1);
		overrun(e, cqn, r->serial);
		return false;
	}
	p = emu_own(cq->buf_addr) + (size_t)(r->pi & (cq->entries - 1)) * cq->cqe_size;
	p += cq->cqe_size - 64;
	fill(p, cqe);
	op_own = (uint8_t)(cqe->opcode << 4 | (cqe->solicited ? 2 : 0) |
			   ((r->pi & cq->entries) ? 1 : 0));
	__atomic_store_n(p + 63, op_own, __ATOMIC_RELEASE);
	r->pi++;
	if (cqe->solicited || cqe->syndrome) {
		r->solicited = r->pi;
		r->any_solicited = true;
	}
	e->worked = true;
	return true;
}

/* Does a CQE with an index of at least ci exist, if `end` is the index after the last one? */
static bool reached(uint32_t end, uint32_t ci)
{
	uint32_t ahead = (end - ci) & CI_MASK;

	return ahead && ahead <= CI_MASK / 2;
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
				: !reached(r->pi, arm & CI_MASK))
		return;
	note.serial = r->serial;
	if (!emu_engine_note(e, &note))
		return;
	r->fired = true;
	r->fired_sn = sn;
	e->worked = true;
}
