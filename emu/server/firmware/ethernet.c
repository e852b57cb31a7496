/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The network interface of a function, as far as its driver cannot do without it: the objects exist, have numbers and
 * are used and destroyed as those of a card, and no frame passes.
 */
#include "emu/prm/prm_ethernet.h"

#include <errno.h>
#include <string.h>

#include "emu/server/card/engines.h"
#include "emu/server/card/qp_context.h"
#include "emu/server/card/queue_table.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/topology.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/uverbs/queue.h"

#define MAX_OBJECTS \
	4096u /* that only a driver creates: each costs memory, and those after it time */
#define MAX_NUMBER 0xffffffu

/* Numbers of 24 bits, which are not given again while they are in use. */
int emu_driver_create_numbered(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static uint32_t last;
	struct emu_plain *plain = (struct emu_plain *)o;
	int err = emu_driver_check(m, EMU_CMD_IN_BYTES, EMU_CMD_OUT_BYTES);

	if (err)
		return err;
	if (c->file->func->count.others > MAX_OBJECTS)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_LIMIT);
	last = last < MAX_NUMBER ? last + 1 : 1;
	plain->number = last;
	emu_prm_set(m->out, EMU_CMD_OUT_NUMBER, plain->number);
	return 0;
}

/* A change of an object that has no behaviour. */
int emu_driver_modify_plain(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	(void)c;
	(void)o;
	return m->in_len < EMU_CMD_IN_BYTES ? emu_refuse(m, EMU_CMD_SYN_DRIVER_IN_LEN) : 0;
}

/* --- send queues ------------------------------------------------------------------------------ */

#define MAX_LOG_SQ 15u

static int fill_sq(struct emu_cmd *c, struct emu_mbox *m, struct emu_sq_object *sq,
		   struct emu_qp *q)
{
	const uint8_t *sqc = emu_prm_at_const(m->in, EMU_CREATE_RMP_IN_RMPC);
	const uint8_t *wq = emu_prm_at_const(sqc, EMU_SQC_WQ);
	uint64_t log = emu_prm_get(wq, EMU_WQ_LOG_SIZE);

	if (log > MAX_LOG_SQ || emu_prm_get(wq, EMU_WQ_LOG_STRIDE) != 6)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_PARAM);
	sq->cq = emu_devx_cq_by_number(c->file, emu_prm_get(sqc, EMU_SQC_CQN));
	sq->buf = emu_devx_umem_by_id(c->file, emu_prm_get(wq, EMU_WQ_UMEM_ID));
	sq->dbr = emu_devx_umem_by_id(c->file, emu_prm_get(wq, EMU_WQ_DBR_UMEM_ID));
	if (!sq->cq || !sq->buf || !sq->dbr)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_OBJECT);
	q->type = EMU_QPT_FRAMES;
	q->func = c->file->func->index;
	q->dest_func = EMU_NOWHERE;
	q->send_cqn = sq->cq->cqn;
	q->uidx = (uint32_t)emu_prm_get(sqc, EMU_SQC_USER_INDEX);
	q->sq_wqe_count = 1u << log;
	q->buf_addr = emu_devx_address(c, sq->buf, emu_prm_get(wq, EMU_WQ_UMEM_OFFSET),
				       (uint64_t)q->sq_wqe_count * EMU_RING_LINE, EMU_RING_LINE);
	q->dbr_addr = emu_devx_address(c, sq->dbr, emu_prm_get(wq, EMU_WQ_DBR_ADDR), EMU_DBR_BYTES,
				       EMU_DBR_BYTES);
	return q->buf_addr && q->dbr_addr ? 0 : emu_refuse(m, EMU_CMD_SYN_DRIVER_PARAM);
}

int emu_driver_create_sq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_sq_object *sq = (struct emu_sq_object *)o;
	struct emu_qp q = {0};
	int err = emu_driver_check(m, EMU_CREATE_RMP_IN_BYTES, EMU_CMD_OUT_BYTES);

	if (!err)
		err = fill_sq(c, m, sq, &q);
	if (!err)
		err = emu_engine_of(c, &q.engine);
	if (err)
		return err;
	q.file = o->file->ino;
	q.handle = o->handle;
	sq->sqn = emu_qp_publish(&q);
	if (!sq->sqn)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_LIMIT);
	emu_uobj_hold(&sq->cq->obj);
	emu_uobj_hold(&sq->buf->obj);
	emu_uobj_hold(&sq->dbr->obj);
	memcpy(sq->sqc, emu_prm_at_const(m->in, EMU_CREATE_RMP_IN_RMPC), sizeof(sq->sqc));
	emu_prm_set(m->out, EMU_CMD_OUT_NUMBER, sq->sqn);
	return 0;
}

int emu_driver_sq_undo(struct emu_uobj *o)
{
	struct emu_sq_object *sq = (struct emu_sq_object *)o;

	if (!sq->sqn)
		return 0;
	emu_qp_withdraw(sq->sqn);
	emu_uobj_release(&sq->cq->obj);
	emu_uobj_release(&sq->buf->obj);
	emu_uobj_release(&sq->dbr->obj);
	return 0;
}

int emu_driver_modify_sq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_qp *q = &emu_queues->qp[((struct emu_sq_object *)o)->sqn];
	uint64_t state;
	int err = emu_driver_check(m, EMU_MODIFY_SQ_IN_BYTES, EMU_CMD_OUT_BYTES);

	(void)c;
	if (err)
		return err;
	state = emu_prm_get(emu_prm_at_const(m->in, EMU_MODIFY_SQ_IN_SQC), EMU_SQC_STATE);
	if (state == EMU_SQ_STATE_RDY && atomic_load(&q->state) == EMU_QPS_RESET)
		emu_qp_set_state(q, EMU_QPS_RESET, EMU_QPS_RTS);
	else if (state == EMU_SQ_STATE_ERR)
		emu_qp_set_state(q, EMU_QPS_RTS, EMU_QPS_ERR);
	else if (state == EMU_SQ_STATE_RST)
		emu_qp_set_state(q, EMU_QPS_ERR, EMU_QPS_RESET);
	emu_engine_wake(q->engine);
	return 0;
}

static int answer_context(struct emu_mbox *m, const uint8_t *context, uint64_t state)
{
	uint8_t *answer = emu_prm_at(m->out, EMU_QUERY_SQ_OUT_SQC);
	int err = emu_driver_check(m, EMU_CMD_IN_BYTES, EMU_QUERY_SQ_OUT_BYTES);

	if (err)
		return err;
	memcpy(answer, context, EMU_SQC_BYTES);
	emu_prm_set(answer, EMU_SQC_STATE, state);
	return 0;
}

int emu_driver_query_sq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const uint8_t states[] = {
		[EMU_QPS_RESET] = EMU_SQ_STATE_RST,
		[EMU_QPS_RTS] = EMU_SQ_STATE_RDY,
		[EMU_QPS_ERR] = EMU_SQ_STATE_ERR,
	};
	const struct emu_sq_object *sq = (const struct emu_sq_object *)o;

	(void)c;
	return answer_context(m, sq->sqc, states[atomic_load(&emu_queues->qp[sq->sqn].state)]);
}

/* --- receive queues --------------------------------------------------------------------------- */

int emu_driver_create_rq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_rq_object *rq = (struct emu_rq_object *)o;
	int err = emu_driver_check(m, EMU_CREATE_RMP_IN_BYTES, EMU_CMD_OUT_BYTES);

	if (err)
		return err;
	memcpy(rq->rqc, emu_prm_at_const(m->in, EMU_CREATE_RMP_IN_RMPC), sizeof(rq->rqc));
	return emu_driver_create_numbered(c, m, o);
}

int emu_driver_modify_rq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_rq_object *rq = (struct emu_rq_object *)o;
	int err = emu_driver_check(m, EMU_MODIFY_SQ_IN_BYTES, EMU_CMD_OUT_BYTES);
	uint64_t state;

	(void)c;
	if (err)
		return err;
	state = emu_prm_get(emu_prm_at_const(m->in, EMU_MODIFY_SQ_IN_SQC), EMU_SQC_STATE);
	if (emu_prm_get(m->in, EMU_MODIFY_SQ_IN_SQ_STATE) != emu_prm_get(rq->rqc, EMU_SQC_STATE))
		return emu_refuse(m, EMU_CMD_SYN_RQ_STATE);
	emu_prm_set(rq->rqc, EMU_SQC_STATE, state);
	return 0;
}

int emu_driver_query_rq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const struct emu_rq_object *rq = (const struct emu_rq_object *)o;

	(void)c;
	return answer_context(m, rq->rqc, emu_prm_get(rq->rqc, EMU_SQC_STATE));
}
