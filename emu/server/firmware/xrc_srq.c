/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/prm/prm_srq.h"

#include <errno.h>
#include <string.h>

#include "emu/server/card/queue_context.h"
#include "emu/server/card/queue_table.h"
#include "emu/server/card/segments.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/firmware/queue.h"
#include "emu/server/firmware/rmp.h"
#include "emu/server/uverbs/pd.h"
#include "emu/server/uverbs/queue.h"
#include "emu/server/uverbs/xrc.h"

#define MAX_LOG_SRQ 15u

/* No public document says where such a command names the memory of a program, which the kernel marks as valid. */
static bool is_of_program(const struct emu_cmd *c, const struct emu_mbox *m, const uint8_t *ctx)
{
	return !c->file->driver || emu_prm_get(m->in, EMU_CREATE_XRC_SRQ_IN_UMEM_VALID) ||
	       emu_prm_get(ctx, EMU_XRC_SRQC_DBR_UMEM_VALID);
}

static int fill(struct emu_cmd *c, struct emu_mbox *m, struct emu_xrc_srq *x, struct emu_srq *s)
{
	const uint8_t *ctx = emu_prm_at_const(m->in, EMU_CREATE_XRC_SRQ_IN_CTX);

	if (is_of_program(c, m, ctx) || emu_prm_get(ctx, EMU_XRC_SRQC_LOG_SRQ_SIZE) > MAX_LOG_SRQ ||
	    emu_prm_get(ctx, EMU_XRC_SRQC_WQ_SIGNATURE))
		return emu_refuse(m, EMU_CMD_SYN_RMP_CONTEXT);
	x->rmp.pd = emu_pd_by_number(c->file, (uint32_t)emu_prm_get(ctx, EMU_XRC_SRQC_PD));
	x->rmp.buf =
		emu_devx_umem_by_id(c->file, emu_prm_get(m->in, EMU_CREATE_XRC_SRQ_IN_UMEM_ID));
	x->rmp.dbr =
		emu_devx_umem_by_id(c->file, emu_prm_get(m->in, EMU_CREATE_XRC_SRQ_IN_DBR_UMEM_ID));
	x->xrcd = emu_xrcd_by_number(c->file, emu_prm_get(ctx, EMU_XRC_SRQC_XRCD));
	x->cq = emu_devx_cq_by_number(c->file, emu_prm_get(ctx, EMU_XRC_SRQC_CQN));
	if (!x->rmp.pd || !x->rmp.buf || !x->rmp.dbr || !x->xrcd || !x->cq)
		return emu_refuse(m, EMU_CMD_SYN_RMP_RESOURCE);
	emu_xrc_srq_read_context(ctx, s);
	s->func = c->file->func->index;
	s->buf_addr = emu_devx_address(c, x->rmp.buf,
				       emu_prm_get(m->in, EMU_CREATE_XRC_SRQ_IN_UMEM_OFFSET),
				       (uint64_t)s->wqe_count << s->wqe_shift, EMU_RING_LINE);
	s->dbr_addr = emu_devx_address(c, x->rmp.dbr, emu_prm_get(ctx, EMU_XRC_SRQC_DB_RECORD_ADDR),
				       EMU_DBR_BYTES, EMU_DBR_BYTES);
	return s->buf_addr && s->dbr_addr ? 0 : emu_refuse(m, EMU_CMD_SYN_RMP_UMEM_RANGE);
}

int emu_driver_create_xrc_srq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_xrc_srq *x = (struct emu_xrc_srq *)o;
	struct emu_srq s = {0};
	int err;

	err = emu_driver_check(m, EMU_CREATE_XRC_SRQ_IN_BYTES, EMU_CMD_OUT_BYTES);
	if (!err)
		err = fill(c, m, x, &s);
	if (!err)
		err = emu_engine_of(c, &s.engine);
	if (err)
		return err;
	s.file = o->file->ino;
	s.handle = o->handle;
	x->rmp.srqn = emu_srq_publish(&s);
	if (!x->rmp.srqn)
		return emu_refuse(m, EMU_CMD_SYN_RMP_LIMIT);
	emu_uobj_hold(&x->rmp.pd->obj);
	emu_uobj_hold(&x->rmp.buf->obj);
	emu_uobj_hold(&x->rmp.dbr->obj);
	emu_uobj_hold(&x->xrcd->obj);
	emu_uobj_hold(&x->cq->obj);
	emu_xrc_srq_begin_context(x->rmp.srqn, emu_prm_at_const(m->in, EMU_CREATE_XRC_SRQ_IN_CTX));
	emu_prm_set(m->out, EMU_CMD_OUT_NUMBER, x->rmp.srqn);
	return 0;
}

#define OP_MOD_XRC_SRQ 1u

int emu_driver_arm_xrc_srq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const uint32_t srqn = emu_srq_named(m, o, EMU_SRQT_XRC);

	(void)c;
	if (!srqn)
		return -EINVAL;
	if (m->op_mod != OP_MOD_XRC_SRQ)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_OP_MOD);
	emu_srq_set_limit(srqn, (uint32_t)emu_prm_get(m->in, EMU_ARM_XRC_SRQ_IN_LWM));
	return 0;
}

int emu_driver_query_xrc_srq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const uint32_t srqn = emu_srq_named(m, o, EMU_SRQT_XRC);
	uint8_t *ctx;
	int err;

	(void)c;
	if (!srqn)
		return -EINVAL;
	err = emu_driver_check(m, EMU_CMD_IN_BYTES, EMU_QUERY_XRC_SRQ_OUT_BYTES);
	if (err)
		return err;
	ctx = emu_prm_at(m->out, EMU_QUERY_XRC_SRQ_OUT_CTX);
	memcpy(ctx, emu_srq_context(srqn), EMU_XRC_SRQC_BYTES);
	emu_prm_set(ctx, EMU_XRC_SRQC_LWM, atomic_load(&emu_queues->srq[srqn].limit));
	return 0;
}

int emu_driver_xrc_srq_undo(struct emu_uobj *o)
{
	struct emu_xrc_srq *x = (struct emu_xrc_srq *)o;

	if (!x->rmp.srqn)
		return 0;
	emu_uobj_release(&x->xrcd->obj);
	emu_uobj_release(&x->cq->obj);
	return emu_devx_rmp_undo(o);
}
