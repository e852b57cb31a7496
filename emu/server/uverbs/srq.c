/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/srq.h"

#include <errno.h>

#include "emu/server/card/engines.h"
#include "emu/server/card/process.h"
#include "emu/server/card/queue_context.h"
#include "emu/server/card/queue_table.h"
#include "emu/server/card/segments.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/cq.h"
#include "emu/server/uverbs/events.h"
#include "emu/server/uverbs/pd.h"
#include "emu/server/uverbs/queue.h"
#include "emu/server/uverbs/xrc.h"

#define MAX_SRQ_WR  32767u
#define MAX_SRQ_SGE 31u
#define NEXT_SEG    16u /* bytes */
#define DATA_SEG    16u

/* enum ib_srq_attr_mask of the kernel */
#define SRQ_MAX_WR (1u << 0)
#define SRQ_LIMIT  (1u << 1)

static uint32_t roundup_pow2(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

/*
 * The ring's layout follows from max_wr and max_sge, as in the kernel's create_srq_user(): user
 * space sends the last index of its ring and the number of segments that fill a WQE.
 */
static int check_srq(const struct emu_srq_obj *s, const struct mlx5_ib_create_srq *req)
{
	if (s->type != IB_UVERBS_SRQT_BASIC && !s->cq)
		return s->type > IB_UVERBS_SRQT_TM ? -EINVAL : -ENOENT;
	if (s->type == IB_UVERBS_SRQT_XRC && !s->xrcd)
		return -ENOENT;
	if (s->type > IB_UVERBS_SRQT_XRC)
		return s->type == IB_UVERBS_SRQT_TM ? -EOPNOTSUPP : -EINVAL;
	if (req->reserved0 || req->reserved1 || req->flags & MLX5_SRQ_FLAG_SIGNATURE)
		return -EINVAL;
	if (s->max_wr > MAX_SRQ_WR || s->max_sge > MAX_SRQ_SGE)
		return -EINVAL;
	return s->pd && req->db_addr % EMU_DBR_BYTES == 0 ? emu_check_ring(req->buf_addr) : -EINVAL;
}

static uint8_t wqe_shift(const struct emu_srq_obj *s)
{
	uint32_t size = roundup_pow2(NEXT_SEG + s->max_sge * DATA_SEG);

	return emu_log2(size < 32 ? 32 : size);
}

static int pin(const struct emu_cmd *c, const struct mlx5_ib_create_srq *req, struct emu_srq_obj *s)
{
	const struct emu_queue_memory m = {
		.ring = req->buf_addr,
		.len = (uint64_t)roundup_pow2(s->max_wr + 1) << wqe_shift(s),
		.dbr = req->db_addr,
	};

	return emu_pin_queue_of(c, &m, &s->pins);
}

/* What mlx5's create_rmp_cmd() and create_xrc_srq_cmd() give to the firmware, but for the page list. */
static void write_rmpc(const struct emu_srq_obj *s, const struct mlx5_ib_create_srq *req,
		       uint8_t *rmpc)
{
	const struct emu_prm_value fields[] = {
		{EMU_WQ_PD, s->pd->pdn},
		{EMU_WQ_DBR_ADDR, req->db_addr},
		{EMU_WQ_LOG_STRIDE, wqe_shift(s)},
		{EMU_WQ_LOG_SIZE, emu_log2(s->max_wr + 1)},
	};

	emu_prm_set(rmpc, EMU_RMPC_STATE, EMU_RMPC_STATE_RDY);
	EMU_PRM_FILL(emu_prm_at(rmpc, EMU_RMPC_WQ), fields);
}

static void write_xrc_srqc(const struct emu_srq_obj *s, const struct mlx5_ib_create_srq *req,
			   uint8_t *ctx)
{
	const struct emu_prm_value fields[] = {
		{EMU_XRC_SRQC_LOG_SRQ_SIZE, emu_log2(s->max_wr + 1)},
		{EMU_XRC_SRQC_LOG_RQ_STRIDE, wqe_shift(s) - EMU_MIN_LOG_STRIDE},
		{EMU_XRC_SRQC_XRCD, s->xrcd->number},
		{EMU_XRC_SRQC_CQN, s->cq->cqn},
		{EMU_XRC_SRQC_USER_INDEX, req->uidx},
		{EMU_XRC_SRQC_PD, s->pd->pdn},
		{EMU_XRC_SRQC_DB_RECORD_ADDR, req->db_addr},
	};

	EMU_PRM_FILL(ctx, fields);
}

static uint32_t publish(const struct emu_srq_obj *s, const struct mlx5_ib_create_srq *req,
			uint32_t slot)
{
	struct emu_srq q = {
		.engine = slot,
		.file = s->obj.file->ino,
		.handle = s->obj.handle,
		.func = s->obj.file->func->index,
		.buf_addr = req->buf_addr,
		.dbr_addr = req->db_addr,
	};
	uint8_t context[EMU_RMPC_BYTES] = {0};
	uint32_t srqn;

	if (s->type == IB_UVERBS_SRQT_XRC) {
		write_xrc_srqc(s, req, context);
		emu_xrc_srq_read_context(context, &q);
		srqn = emu_srq_publish(&q);
		if (srqn)
			emu_xrc_srq_begin_context(srqn, context);
		return srqn;
	}
	write_rmpc(s, req, context);
	emu_rmp_read_context(context, &q);
	srqn = emu_srq_publish(&q);
	if (srqn)
		emu_rmp_begin_context(srqn, context);
	return srqn;
}

static void hold(struct emu_srq_obj *s)
{
	emu_uobj_hold(&s->pd->obj);
	emu_uobj_hold(s->cq ? &s->cq->obj : NULL);
	emu_uobj_hold(s->xrcd ? &s->xrcd->obj : NULL);
	emu_events_get(s->async);
}

static int undo(struct emu_uobj *o)
{
	struct emu_srq_obj *s = (struct emu_srq_obj *)o;

	emu_srq_withdraw(s->srqn);
	emu_uobj_release(&s->pd->obj);
	emu_uobj_release(s->cq ? &s->cq->obj : NULL);
	emu_uobj_release(s->xrcd ? &s->xrcd->obj : NULL);
	emu_unpin_queue(&o->file->db_pages, &s->pins);
	emu_events_put(s->async);
	return 0;
}

static void read_attrs(struct emu_cmd *c, struct emu_srq_obj *s)
{
	s->pd = emu_attr_obj(c, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE);
	s->xrcd = emu_attr_obj(c, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE);
	s->cq = emu_attr_obj(c, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE);
	s->async = emu_async_of(c, UVERBS_ATTR_CREATE_SRQ_EVENT_FD);
	s->user_handle = emu_attr_u64(c, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 0);
	s->max_wr = (uint32_t)emu_attr_u64(c, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 0);
	s->max_sge = (uint32_t)emu_attr_u64(c, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 0);
	s->type = (uint32_t)emu_attr_u64(c, UVERBS_ATTR_CREATE_SRQ_TYPE, 0);
}

static int answer(struct emu_cmd *c, const struct emu_srq_obj *s)
{
	struct mlx5_ib_create_srq_resp uhw = {.srqn = s->srqn};
	int err;

	err = emu_attr_out_u32(c, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, s->max_wr);
	if (!err)
		err = emu_attr_out_u32(c, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, s->max_sge);
	if (!err && s->type == IB_UVERBS_SRQT_XRC)
		err = emu_attr(c, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM)
			      ? emu_attr_out_u32(c, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, s->srqn)
			      : -ENOENT;
	return err ? err : emu_attr_out(c, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}

#define UIDX_END (offsetof(struct mlx5_ib_create_srq, uidx) + sizeof(uint32_t))

static int srq_create(struct emu_cmd *c)
{
	struct emu_srq_obj *s, tmp = {0};
	struct mlx5_ib_create_srq req;
	uint32_t slot;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	if (err)
		return err == -EOPNOTSUPP ? -EINVAL : err;
	if (emu_attr_len(c, UVERBS_ATTR_UHW_IN) < UIDX_END)
		req.uidx = EMU_NO_UIDX;
	read_attrs(c, &tmp);
	err = check_srq(&tmp, &req);
	if (!err && tmp.type == IB_UVERBS_SRQT_XRC)
		err = emu_check_uidx(c->file, req.uidx);
	if (!err)
		err = emu_engine_of(c, &slot);
	if (err)
		return err;
	tmp.max_wr = roundup_pow2(tmp.max_wr + 1) - 1; /* the answers have the size of the ring */
	s = emu_uobj_new(c->file, EMU_T_SRQ, sizeof(*s), undo);
	if (!s)
		return -ENOMEM;
	tmp.obj = s->obj;
	*s = tmp;
	hold(s);
	emu_attr_new(c, UVERBS_ATTR_CREATE_SRQ_HANDLE, &s->obj);
	err = pin(c, &req, s);
	if (err)
		return err;
	s->srqn = publish(s, &req, slot);
	return s->srqn ? answer(c, s) : -ENOMEM;
}

static int srq_destroy(struct emu_cmd *c)
{
	struct emu_srq_obj *s = emu_attr_obj(c, UVERBS_ATTR_DESTROY_SRQ_HANDLE);
	struct ib_uverbs_destroy_srq_resp r = {0};

	if (s->obj.users)
		return -EBUSY;
	emu_proc_drain_notes(emu_proc_by_slot(emu_queues->srq[s->srqn].engine));
	r.events_reported = s->async_events - emu_events_retract(s->async, s->user_handle);
	emu_uobj_destroy(&s->obj);
	return emu_attr_out(c, UVERBS_ATTR_DESTROY_SRQ_RESP, &r, sizeof(r));
}

/* Devices of this family cannot resize an SRQ: the kernel's mlx5_ib_modify_srq() returns EINVAL. */
int emu_write_modify_srq(struct emu_cmd *c)
{
	struct ib_uverbs_modify_srq a;
	struct emu_srq_obj *s;
	struct emu_srq *q;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &a, sizeof(a));
	if (err)
		return err;
	err = emu_cmd_obj(c, a.srq_handle, EMU_T_SRQ, &s);
	if (err)
		return err;
	if (a.attr_mask & SRQ_MAX_WR)
		return -EINVAL;
	if (!(a.attr_mask & SRQ_LIMIT))
		return 0;
	if (a.srq_limit > s->max_wr)
		return -EINVAL;
	q = &emu_queues->srq[s->srqn];
	atomic_store(&q->limit, a.srq_limit);
	emu_engine_wake(q->engine);
	return 0;
}

int emu_write_query_srq(struct emu_cmd *c)
{
	struct ib_uverbs_query_srq_resp r = {0};
	struct ib_uverbs_query_srq req;
	const struct emu_srq_obj *s;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	if (err)
		return err;
	err = emu_cmd_obj(c, req.srq_handle, EMU_T_SRQ, &s);
	if (err)
		return err;
	r.max_wr = s->max_wr;
	r.max_sge = s->max_sge;
	r.srq_limit = atomic_load(&emu_queues->srq[s->srqn].limit);
	return emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
}

const struct emu_method emu_methods_srq[] = {
	{
		.command.name = "srq.create",
		.object = UVERBS_OBJECT_SRQ,
		.method = UVERBS_METHOD_SRQ_CREATE,
		.handler = srq_create,
		.attr = {{UVERBS_ATTR_CREATE_SRQ_HANDLE, EMU_A_NEW, true, 0},
			 {UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, EMU_A_OBJ, true, EMU_T_PD},
			 {UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, EMU_A_OBJ, false, EMU_T_XRCD},
			 {UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, EMU_A_OBJ, false, EMU_T_CQ},
			 {UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_CREATE_SRQ_MAX_WR, EMU_A_VALUE, true, 4},
			 {UVERBS_ATTR_CREATE_SRQ_MAX_SGE, EMU_A_VALUE, true, 4},
			 {UVERBS_ATTR_CREATE_SRQ_LIMIT, EMU_A_VALUE, true, 4},
			 {UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, EMU_A_VALUE, false, 4},
			 {UVERBS_ATTR_CREATE_SRQ_TYPE, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_CREATE_SRQ_EVENT_FD, EMU_A_FD, false, 0},
			 {UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, EMU_A_RESULT, true, 4},
			 {UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, EMU_A_RESULT, true, 4},
			 {UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, EMU_A_RESULT, false, 4},
			 {UVERBS_ATTR_UHW_IN, EMU_A_IN, false, 0},
			 {UVERBS_ATTR_UHW_OUT, EMU_A_OUT, false, 0}},
	},
	{
		.command.name = "srq.destroy",
		.object = UVERBS_OBJECT_SRQ,
		.method = UVERBS_METHOD_SRQ_DESTROY,
		.handler = srq_destroy,
		.attr = {{UVERBS_ATTR_DESTROY_SRQ_HANDLE, EMU_A_OBJ, true, EMU_T_SRQ},
			 {UVERBS_ATTR_DESTROY_SRQ_RESP, EMU_A_RESULT, true, 4}},
	},
	{.handler = NULL},
};
