/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/dct.h"

#include <errno.h>
#include <string.h>

#include "emu/prm/prm_eqe.h"
#include "emu/server/card/dct_context.h"
#include "emu/server/card/queue_table.h"
#include "emu/server/card/segments.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/firmware/queue.h"
#include "emu/server/firmware/rmp.h"
#include "emu/server/uverbs/pd.h"
#include "emu/server/uverbs/qp.h"
#include "emu/server/uverbs/queue.h"
#include "emu/server/wire/endpoints.h"

static int find_parts(const struct emu_file *f, struct emu_mbox *m, const uint8_t *dctc,
		      struct emu_devx_dct *dct)
{
	const uint64_t srqn = emu_prm_get(dctc, EMU_DCTC_SRQN);

	dct->pd = emu_pd_by_number(f, (uint32_t)emu_prm_get(dctc, EMU_DCTC_PD));
	dct->cq = emu_queue_by_number(f, emu_prm_get(dctc, EMU_DCTC_CQN), emu_cq_number);
	dct->srq = emu_queue_by_number(f, srqn, emu_srq_number);
	if (!dct->pd || !dct->cq || !dct->srq || emu_queues->srq[srqn].type != EMU_SRQT_BASIC)
		return emu_refuse(m, EMU_CMD_SYN_DCT_RESOURCE);
	return emu_dct_is_valid(f->func, dctc) ? 0 : emu_refuse(m, EMU_CMD_SYN_DCT_CONTEXT);
}

int emu_devx_create_dct(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const uint8_t *dctc = emu_prm_at_const(m->in, EMU_CREATE_DCT_IN_DCTC);
	struct emu_devx_dct *dct = (struct emu_devx_dct *)o;
	struct emu_qp q = {.file = o->file->ino, .handle = o->handle};
	int err;

	if (m->in_len < EMU_CREATE_DCT_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_DCT_IN_LEN);
	err = find_parts(c->file, m, dctc, dct);
	if (!err)
		err = emu_engine_of(c, &q.engine);
	if (!err)
		err = emu_wire_admit(c->file->func, q.engine);
	if (err)
		return err;
	dct->dctn = emu_dct_publish(c->file->func, dctc, &q);
	if (!dct->dctn)
		return emu_refuse(m, EMU_CMD_SYN_DCT_LIMIT);
	emu_uobj_hold(&dct->pd->obj);
	emu_uobj_hold(dct->cq);
	emu_uobj_hold(dct->srq);
	emu_prm_set(m->out, EMU_CMD_OUT_NUMBER, dct->dctn);
	emu_prm_set(m->out, EMU_CREATE_DCT_OUT_ECE, emu_prm_get(dctc, EMU_DCTC_ECE) & EMU_ECE);
	return 0;
}

int emu_devx_dct_undo(struct emu_uobj *o)
{
	struct emu_devx_dct *dct = (struct emu_devx_dct *)o;

	if (!dct->dctn)
		return 0;
	emu_qp_withdraw(dct->dctn);
	emu_uobj_release(&dct->pd->obj);
	emu_uobj_release(dct->cq);
	emu_uobj_release(dct->srq);
	return 0;
}

bool emu_is_verbs_dct(const struct emu_uobj *o)
{
	return o->type == EMU_T_QP && ((const struct emu_qp_obj *)o)->type == EMU_QPT_DCT;
}

/* The kernel compares the number with the handle's. */
static uint32_t named(const struct emu_mbox *m, const struct emu_uobj *o)
{
	const uint32_t dctn = o->type == EMU_T_QP ? ((const struct emu_qp_obj *)o)->qpn
						  : ((const struct emu_devx_dct *)o)->dctn;

	return emu_prm_get(m->in, EMU_OBJECT_IN_NUMBER) == dctn ? dctn : 0;
}

int emu_devx_query_dct(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const uint32_t dctn = named(m, o);

	(void)c;
	if (!dctn || (o->type == EMU_T_QP && !emu_is_verbs_dct(o)))
		return -EINVAL;
	if (m->out_len < EMU_QUERY_DCT_OUT_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_QUERY_DCT_OUT_LEN);
	memcpy(emu_prm_at(m->out, EMU_QUERY_DCT_OUT_DCTC), emu_dct_context(dctn), EMU_DCTC_BYTES);
	return 0;
}

int emu_devx_arm_dct(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const uint32_t dctn = named(m, o);

	(void)c;
	if (!dctn)
		return -EINVAL;
	emu_dct_arm(dctn);
	return 0;
}

/* Linux waits for the event before it destroys the target. */
int emu_driver_drain_dct(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const uint8_t type = EMU_EVENT_TYPE_DCT_DRAINED;
	const struct emu_devx_dct *dct = (const struct emu_devx_dct *)o;
	const struct emu_driver *d = c->file->driver;
	uint8_t eqe[EMU_EQE_BYTES] = {0};

	if (!emu_dct_drain(dct->dctn))
		return emu_refuse(m, EMU_CMD_SYN_DCT_STATE);
	emu_prm_set(eqe, EMU_EQE_QUEUE_NUMBER, dct->dctn);
	emu_driver_send(d, emu_driver_eqn(d, type), type, eqe);
	return 0;
}
