/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* MODIFY_CQ: another ring, and the moderation of events. */
#include <errno.h>

#include "base/array.h"
#include "emu/prm/prm_cq.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/queue_context.h"
#include "emu/server/card/segments.h"
#include "emu/server/firmware/commands.h"
#include "emu/server/firmware/queue.h"
#include "emu/server/firmware/umem.h"
#include "emu/server/uverbs/cq.h"
#include "emu/server/uverbs/queue.h"

#define RESIZE_FIELDS (EMU_CQ_SELECT_LOG_SIZE | EMU_CQ_SELECT_PAGE_OFFSET | EMU_CQ_SELECT_PAGE_SIZE)
#define FIELDS	      (EMU_CQ_SELECT_PERIOD | EMU_CQ_SELECT_MAX_COUNT | EMU_CQ_SELECT_OI)

static int modify_fields(struct emu_mbox *m, uint8_t *own, struct emu_cq *q)
{
	static const struct {
		uint32_t select;
		int field;
	} fields[] = {
		{EMU_CQ_SELECT_PERIOD, EMU_CQC_CQ_PERIOD},
		{EMU_CQ_SELECT_MAX_COUNT, EMU_CQC_CQ_MAX_COUNT},
		{EMU_CQ_SELECT_OI, EMU_CQC_OI},
	};
	const uint8_t *cqc = emu_prm_at_const(m->in, EMU_MODIFY_CQ_IN_CQC);
	const uint64_t select = emu_prm_get(m->in, EMU_MODIFY_CQ_IN_FIELD_SELECT);

	if (!select || select & ~(uint64_t)FIELDS)
		return emu_refuse(m, EMU_CMD_SYN_MODIFY_CQ_SELECT);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (select & fields[i].select)
			emu_prm_copy(own, cqc, fields[i].field);
	atomic_store(&q->moderation, emu_cq_moderation(own));
	q->overwrites = (uint8_t)emu_prm_get(own, EMU_CQC_OI);
	emu_engine_wake(q->engine);
	return 0;
}

/* The memory of the new ring: its address, or 0 after a refusal. */
static uint64_t find_ring(struct emu_cmd *c, struct emu_mbox *m, struct emu_umem *buf, uint64_t len)
{
	uint64_t address;

	if (!buf) {
		emu_refuse(m, EMU_CMD_SYN_CQ_UMEM);
		return 0;
	}
	if (!(buf->access & IB_UVERBS_ACCESS_LOCAL_WRITE)) {
		emu_refuse(m, EMU_CMD_SYN_CQ_UMEM_ACCESS);
		return 0;
	}
	address = emu_devx_address(c, buf, emu_prm_get(m->in, EMU_MODIFY_CQ_IN_CQ_UMEM_OFFSET), len,
				   EMU_RING_LINE);
	if (!address)
		emu_refuse(m, EMU_CMD_SYN_CQ_UMEM_RANGE);
	return address;
}

static int resize(struct emu_cmd *c, struct emu_mbox *m, struct emu_devx_cq *cq, struct emu_cq *q)
{
	const uint8_t *cqc = emu_prm_at_const(m->in, EMU_MODIFY_CQ_IN_CQC);
	const uint64_t log = emu_prm_get(cqc, EMU_CQC_LOG_CQ_SIZE);
	uint8_t *own = emu_cq_context(cq->cqn);
	struct emu_umem *buf =
		emu_devx_umem_by_id(c->file, emu_prm_get(m->in, EMU_MODIFY_CQ_IN_CQ_UMEM_ID));
	uint64_t address;
	int err;

	if (emu_prm_get(m->in, EMU_MODIFY_CQ_IN_FIELD_SELECT) != RESIZE_FIELDS)
		return emu_refuse(m, EMU_CMD_SYN_MODIFY_CQ_SELECT);
	if (log > EMU_MAX_LOG_CQ ||
	    emu_prm_get(cqc, EMU_CQC_CQE_SZ) != emu_prm_get(own, EMU_CQC_CQE_SZ))
		return emu_refuse(m, EMU_CMD_SYN_MODIFY_CQ_CONTEXT);
	address = find_ring(c, m, buf, (uint64_t)q->cqe_size << log);
	if (!address)
		return -EREMOTEIO;
	err = emu_cq_resize(c->chan->pid, q, address, 1u << log);
	if (err)
		return err == -EINVAL ? emu_refuse(m, EMU_CMD_SYN_MODIFY_CQ_OUTSTANDING) : err;
	emu_uobj_hold(&buf->obj);
	emu_uobj_release(&cq->buf->obj);
	cq->buf = buf;
	emu_prm_copy(own, cqc, EMU_CQC_LOG_CQ_SIZE);
	emu_prm_copy(own, cqc, EMU_CQC_PAGE_OFFSET);
	emu_prm_copy(own, cqc, EMU_CQC_LOG_PAGE_SIZE);
	return 0;
}

int emu_devx_modify_cq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_MODIFY_CQ_IN);
	const uint32_t cqn = emu_cq_number(o);
	struct emu_cq *q = &emu_queues->cq[cqn];

	if (emu_prm_get(m->in, EMU_OBJECT_IN_NUMBER) != cqn)
		return -EINVAL; /* the kernel compares it with the handle's */
	if (m->in_len < EMU_MODIFY_CQ_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_MODIFY_CQ_IN_LEN);
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_MODIFY_CQ_RESERVED);
	switch (m->op_mod) {
	case EMU_MODIFY_CQ_FIELDS:
		return modify_fields(m, emu_cq_context(cqn), q);
	case EMU_MODIFY_CQ_RESIZE:
		if (o->type == EMU_T_CQ) /* its ring is no umem of the program */
			return emu_refuse(m, EMU_CMD_SYN_MODIFY_CQ_CONTEXT);
		return resize(c, m, (struct emu_devx_cq *)o, q);
	default:
		return emu_refuse(m, EMU_CMD_SYN_MODIFY_CQ_OP_MOD);
	}
}
