/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Receive memory pools: shared receive queues that PRM commands make. */
#include <errno.h>
#include <string.h>

#include "devx.h"

#define CREATE_RMP_IN 0x110u
#define WQ	      0x50u /* of the RMP context in the mailbox */
#define MAX_LOG_WQ    15u
#define MIN_LOG_WQE   5u
#define MAX_LOG_WQE   10u
#define STATE_READY   1u
#define LINE	      64u
#define DBR_BYTES     8u

enum { LINKED_LIST = 0, CYCLIC = 1 };

static int fill(struct emu_cmd *c, struct emu_mbox *m, struct emu_devx_rmp *rmp, struct emu_srq *s)
{
	const uint8_t *wq = m->in + WQ;
	uint64_t type = emu_prm_get(wq, 0x0, 4), shift = emu_prm_get(wq, 0x10c, 4);
	uint64_t log = emu_prm_get(wq, 0x11b, 5);

	/* No multi-packet WQEs, no signatures. */
	if (type > CYCLIC || emu_prm_get(wq, 0x4, 1) || log > MAX_LOG_WQ || shift < MIN_LOG_WQE ||
	    shift > MAX_LOG_WQE || emu_prm_get(m->in + 0x20, 0x8, 4) != STATE_READY)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x90);
	rmp->pd = emu_pd_by_number(c->file, (uint32_t)emu_prm_get(wq, 0x48, 24));
	rmp->dbr = emu_devx_umem_by_id(c->file, emu_prm_get(wq, 0x140, 32));
	rmp->buf = emu_devx_umem_by_id(c->file, emu_prm_get(wq, 0x160, 32));
	if (!rmp->pd || !rmp->dbr || !rmp->buf)
		return emu_refuse(m, EMU_STATUS_BAD_RES, 0x91);
	s->func = c->file->func->index;
	s->type = EMU_SRQT_BASIC;
	s->pdn = rmp->pd->pdn;
	s->cyclic = type == CYCLIC;
	s->wqe_shift = (uint8_t)shift;
	s->wqe_count = 1u << log;
	s->buf_addr = emu_devx_place(c, rmp->buf, emu_prm_get(wq, 0x180, 64),
				     (uint64_t)s->wqe_count << shift, LINE);
	s->dbr_addr = emu_devx_place(c, rmp->dbr, emu_prm_get(wq, 0x80, 64), DBR_BYTES, DBR_BYTES);
	return s->buf_addr && s->dbr_addr ? 0 : emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x92);
}

static void publish(uint32_t srqn, const struct emu_srq *as)
{
	struct emu_srq *s = &emu.queues->srq[srqn];

	memcpy((char *)s + sizeof(s->serial), (const char *)as + sizeof(as->serial),
	       sizeof(*s) - sizeof(s->serial));
	atomic_store_explicit(&s->serial, emu_new_serial(), memory_order_release);
	if (atomic_load(&emu.queues->srq_high) <= srqn)
		atomic_store(&emu.queues->srq_high, srqn + 1);
	emu_engine_kick(s->engine);
}

int emu_devx_create_rmp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_devx_rmp *rmp = (struct emu_devx_rmp *)o;
	struct emu_srq s = {0};
	int err;

	if (m->in_len < CREATE_RMP_IN)
		return emu_refuse(m, EMU_STATUS_BAD_INP_LEN, 0x93);
	err = fill(c, m, rmp, &s);
	if (!err)
		err = emu_engine_of(c, &s.engine);
	if (err)
		return err;
	rmp->srqn = emu_srq_number();
	if (!rmp->srqn)
		return emu_refuse(m, EMU_STATUS_LIM, 0x94);
	s.file = o->file->ino;
	s.handle = o->handle;
	publish(rmp->srqn, &s);
	rmp->pd->obj.users++;
	rmp->buf->obj.users++;
	rmp->dbr->obj.users++;
	emu_prm_set(m->out, EMU_PRM_BYTE(9), 24, rmp->srqn);
	return 0;
}

int emu_devx_rmp_undo(struct emu_uobj *o)
{
	struct emu_devx_rmp *rmp = (struct emu_devx_rmp *)o;
	struct emu_srq *s = &emu.queues->srq[rmp->srqn];

	if (!rmp->srqn)
		return 0;
	atomic_store(&s->serial, 0);
	emu_grace();
	emu_engine_kick(s->engine);
	rmp->pd->obj.users--;
	rmp->buf->obj.users--;
	rmp->dbr->obj.users--;
	return 0;
}
