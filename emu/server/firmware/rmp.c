/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/rmp.h"

#include <errno.h>
#include <string.h>

#include "emu/prm/prm_rmp.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/queue_context.h"
#include "emu/server/card/queue_table.h"
#include "emu/server/card/segments.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/firmware/queue.h"
#include "emu/server/uverbs/pd.h"
#include "emu/server/uverbs/queue.h"
#include "emu/server/uverbs/srq.h"

#define MAX_LOG_WQ  15u
#define MIN_LOG_WQE 5u
#define MAX_LOG_WQE 10u

uint32_t emu_srq_number(const struct emu_uobj *o)
{
	if (o->type == EMU_T_SRQ)
		return ((const struct emu_srq_obj *)o)->srqn;
	return o->type == EMU_T_DEVX_RMP || o->type == EMU_T_XRC_SRQ
		       ? ((const struct emu_devx_rmp *)o)->srqn
		       : 0;
}

static int fill(struct emu_cmd *c, struct emu_mbox *m, struct emu_devx_rmp *rmp, struct emu_srq *s)
{
	const uint8_t *rmpc = emu_prm_at_const(m->in, EMU_CREATE_RMP_IN_RMPC);
	const uint8_t *wq = emu_prm_at_const(rmpc, EMU_RMPC_WQ);
	uint64_t shift = emu_prm_get(wq, EMU_WQ_LOG_STRIDE);

	/* Multi-packet WQEs and signatures are not supported. */
	if (emu_prm_get(wq, EMU_WQ_TYPE) > EMU_WQ_TYPE_CYCLIC ||
	    emu_prm_get(wq, EMU_WQ_SIGNATURE) || emu_prm_get(wq, EMU_WQ_LOG_SIZE) > MAX_LOG_WQ ||
	    shift < MIN_LOG_WQE || shift > MAX_LOG_WQE ||
	    emu_prm_get(rmpc, EMU_RMPC_STATE) != EMU_RMPC_STATE_RDY)
		return emu_refuse(m, EMU_CMD_SYN_RMP_CONTEXT);
	rmp->pd = emu_pd_by_number(c->file, (uint32_t)emu_prm_get(wq, EMU_WQ_PD));
	rmp->dbr = emu_devx_umem_by_id(c->file, emu_prm_get(wq, EMU_WQ_DBR_UMEM_ID));
	rmp->buf = emu_devx_umem_by_id(c->file, emu_prm_get(wq, EMU_WQ_UMEM_ID));
	if (!rmp->pd || !rmp->dbr || !rmp->buf)
		return emu_refuse(m, EMU_CMD_SYN_RMP_RESOURCE);
	emu_rmp_read_context(rmpc, s);
	s->func = c->file->func->index;
	s->buf_addr = emu_devx_address(c, rmp->buf, emu_prm_get(wq, EMU_WQ_UMEM_OFFSET),
				       (uint64_t)s->wqe_count << shift, EMU_RING_LINE);
	s->dbr_addr = emu_devx_address(c, rmp->dbr, emu_prm_get(wq, EMU_WQ_DBR_ADDR), EMU_DBR_BYTES,
				       EMU_DBR_BYTES);
	return s->buf_addr && s->dbr_addr ? 0 : emu_refuse(m, EMU_CMD_SYN_RMP_UMEM_RANGE);
}

int emu_devx_create_rmp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_devx_rmp *rmp = (struct emu_devx_rmp *)o;
	struct emu_srq s = {0};
	int err;

	if (m->in_len < EMU_CREATE_RMP_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_RMP_IN_LEN);
	err = fill(c, m, rmp, &s);
	if (!err)
		err = emu_engine_of(c, &s.engine);
	if (err)
		return err;
	s.file = o->file->ino;
	s.handle = o->handle;
	rmp->srqn = emu_srq_publish(&s);
	if (!rmp->srqn)
		return emu_refuse(m, EMU_CMD_SYN_RMP_LIMIT);
	emu_uobj_hold(&rmp->pd->obj);
	emu_uobj_hold(&rmp->buf->obj);
	emu_uobj_hold(&rmp->dbr->obj);
	emu_rmp_begin_context(rmp->srqn, emu_prm_at_const(m->in, EMU_CREATE_RMP_IN_RMPC));
	emu_prm_set(m->out, EMU_CMD_OUT_NUMBER, rmp->srqn);
	return 0;
}

/* The kernel compares kind and number with those of the handle's object. */
uint32_t emu_srq_named(const struct emu_mbox *m, const struct emu_uobj *o, uint8_t type)
{
	const uint32_t srqn = emu_srq_number(o);

	return emu_prm_get(m->in, EMU_OBJECT_IN_NUMBER) == srqn &&
			       emu_queues->srq[srqn].type == type
		       ? srqn
		       : 0;
}

void emu_srq_set_limit(uint32_t srqn, uint32_t limit)
{
	struct emu_srq *q = &emu_queues->srq[srqn];

	atomic_store(&q->limit, limit);
	emu_engine_wake(q->engine);
}

/* A queue stays ready; its limit can change. */
int emu_devx_modify_rmp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const uint32_t srqn = emu_srq_named(m, o, EMU_SRQT_BASIC);
	const uint8_t *wq;

	(void)c;
	if (!srqn)
		return -EINVAL;
	if (m->in_len < EMU_MODIFY_RMP_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_RMP_IN_LEN);
	wq = emu_prm_at_const(emu_prm_at_const(m->in, EMU_MODIFY_RMP_IN_RMPC), EMU_RMPC_WQ);
	if (emu_prm_get(m->in, EMU_MODIFY_RMP_IN_STATE) != EMU_RMPC_STATE_RDY)
		return emu_refuse(m, EMU_CMD_SYN_RMP_CONTEXT);
	if (emu_prm_get(m->in, EMU_MODIFY_RMP_IN_SETS_LWM))
		emu_srq_set_limit(srqn, (uint32_t)emu_prm_get(wq, EMU_WQ_LWM));
	return 0;
}

int emu_devx_query_rmp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const uint32_t srqn = emu_srq_named(m, o, EMU_SRQT_BASIC);
	uint8_t *rmpc;
	int err;

	(void)c;
	if (!srqn)
		return -EINVAL;
	err = emu_driver_check(m, EMU_CMD_IN_BYTES, EMU_QUERY_RMP_OUT_BYTES);
	if (err)
		return err;
	rmpc = emu_prm_at(m->out, EMU_QUERY_RMP_OUT_RMPC);
	memcpy(rmpc, emu_srq_context(srqn), EMU_RMPC_BYTES);
	emu_prm_set(emu_prm_at(rmpc, EMU_RMPC_WQ), EMU_WQ_LWM,
		    atomic_load(&emu_queues->srq[srqn].limit));
	return 0;
}

int emu_devx_rmp_undo(struct emu_uobj *o)
{
	struct emu_devx_rmp *rmp = (struct emu_devx_rmp *)o;

	if (!rmp->srqn)
		return 0;
	emu_srq_withdraw(rmp->srqn);
	emu_uobj_release(&rmp->pd->obj);
	emu_uobj_release(&rmp->buf->obj);
	emu_uobj_release(&rmp->dbr->obj);
	return 0;
}
