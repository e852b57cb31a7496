/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/qp.h"

#include <errno.h>

#include "emu/ipc/proto.h"
#include "emu/server/card/process.h"
#include "emu/server/card/qp_context.h"
#include "emu/server/card/queue_table.h"
#include "emu/server/card/segments.h"
#include "emu/server/mm/unfinished_work.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/cq.h"
#include "emu/server/uverbs/events.h"
#include "emu/server/uverbs/handlers.h"
#include "emu/server/uverbs/pd.h"
#include "emu/server/uverbs/queue.h"
#include "emu/server/uverbs/srq.h"
#include "emu/server/uverbs/uar.h"
#include "emu/server/uverbs/xrc.h"
#include "emu/server/wire/endpoints.h"

#define MAX_WR	   32768u
#define MAX_SGE	   30u
#define MAX_INLINE 1024u

static int check_cap(const struct ib_uverbs_qp_cap *cap)
{
	return cap->max_send_wr > MAX_WR || cap->max_recv_wr > MAX_WR ||
			       cap->max_send_sge > MAX_SGE || cap->max_recv_sge > MAX_SGE ||
			       cap->max_inline_data > MAX_INLINE
		       ? -EINVAL
		       : 0;
}

static bool known_type(uint64_t type)
{
	return type == EMU_QPT_RC || type == EMU_QPT_UC || type == EMU_QPT_UD ||
	       type == EMU_QPT_XRC_INI || type == EMU_QPT_XRC_TGT;
}

/*
 * Check the objects of a QP (uverbs_std_types_qp.c and rdma_check_qp_type): an XRC target has only
 * its domain, and an XRC initiator does not receive.
 */
static int check_parts(const struct emu_qp_obj *qp)
{
	if (qp->type == EMU_QPT_XRC_TGT)
		return qp->xrcd && !qp->pd && !qp->send_cq && !qp->recv_cq && !qp->srq ? 0
										       : -EINVAL;
	if (!qp->pd || !qp->send_cq || qp->xrcd)
		return -EINVAL;
	if (qp->type == EMU_QPT_XRC_INI)
		return qp->recv_cq || qp->srq ? -EINVAL : 0;
	if (qp->srq && qp->srq->type != IB_UVERBS_SRQT_BASIC)
		return -EINVAL;
	return qp->recv_cq ? 0 : -EINVAL;
}

#define UD_FLAGS IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK

static int check_qp(const struct mlx5_ib_create_qp *req, uint64_t type, uint64_t flags)
{
	uint32_t known = MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_BFREG_INDEX |
			 MLX5_QP_FLAG_ALLOW_SCATTER_CQE | MLX5_QP_FLAG_UAR_PAGE_INDEX;

	if (type == EMU_QPT_RC)
		known |= MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE;

	if (!known_type(type) ||
	    flags & ~(IB_UVERBS_QP_CREATE_SQ_SIG_ALL | (type == EMU_QPT_UD ? UD_FLAGS : 0ull)))
		return -EOPNOTSUPP;
	if (req->flags & ~known)
		return -EINVAL; /* process_vendor_flags() */
	if (req->sq_wqe_count && !emu_is_power_of_2(req->sq_wqe_count))
		return -EINVAL;
	if (req->rq_wqe_count && (!emu_is_power_of_2(req->rq_wqe_count) || req->rq_wqe_shift < 4 ||
				  req->rq_wqe_shift > 9))
		return -EINVAL;
	return req->sq_wqe_count > MAX_WR || req->rq_wqe_count > MAX_WR ? -EINVAL : 0;
}

/* A doorbell page can be named in two ways; libmlx5's own pages have only the number. */
static int check_qp_place(const struct emu_cmd *c, const struct mlx5_ib_create_qp *req)
{
	const uint32_t ways = MLX5_QP_FLAG_BFREG_INDEX | MLX5_QP_FLAG_UAR_PAGE_INDEX;

	if ((req->flags & ways) != MLX5_QP_FLAG_UAR_PAGE_INDEX ||
	    !emu_has_uar(c->file, req->bfreg_index) || req->db_addr % EMU_DBR_BYTES)
		return -EINVAL;
	return emu_check_ring(req->buf_addr);
}

static bool has_receive_ring(const struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req)
{
	return qp->recv_cq && !qp->srq && req->rq_wqe_count;
}

/* A receive queue outside the QP has no ring. */
static int pin_qp(const struct emu_cmd *c, const struct mlx5_ib_create_qp *req,
		  struct emu_qp_obj *qp)
{
	uint64_t len = (uint64_t)req->sq_wqe_count * EMU_RING_LINE;

	if (has_receive_ring(qp, req))
		len += (uint64_t)req->rq_wqe_count << req->rq_wqe_shift;
	return emu_pin_queue_of(c, req->buf_addr, len, req->db_addr, &qp->pins);
}

static void describe(const struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req,
		     struct emu_qp *q)
{
	q->func = qp->obj.file->func->index;
	q->type = qp->type;
	q->block_self = qp->block_self;
	q->pdn = qp->pd ? qp->pd->pdn : 0;
	q->uidx = req->uidx;
	q->send_cqn = qp->send_cq ? qp->send_cq->cqn : 0;
	q->recv_cqn = qp->recv_cq ? qp->recv_cq->cqn : 0;
	q->srqn = qp->srq ? qp->srq->srqn : 0;
	q->xrcdn = qp->xrcd ? qp->xrcd->number : 0;
	q->buf_addr = req->buf_addr;
	q->dbr_addr = req->db_addr;
	q->dest_func = EMU_NOWHERE;
	if (has_receive_ring(qp, req)) {
		q->rq_wqe_count = req->rq_wqe_count;
		q->rq_wqe_shift = req->rq_wqe_shift;
	}
	if (qp->type == EMU_QPT_XRC_TGT) /* no memory, and several processes may share it */
		return;
	q->sq_wqe_count = req->sq_wqe_count;
	q->file = qp->obj.file->ino;
	q->handle = qp->obj.handle;
}

static uint32_t publish(const struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req,
			uint32_t slot)
{
	struct emu_qp q = {.engine = slot};
	uint32_t qpn;

	describe(qp, req, &q);
	qpn = emu_qp_publish(&q);
	if (qpn)
		emu_qp_begin_context(qpn, NULL);
	return qpn;
}

#define NPARTS 5

static void list_parts(const struct emu_qp_obj *qp, struct emu_uobj *part[NPARTS])
{
	part[0] = qp->pd ? &qp->pd->obj : NULL;
	part[1] = qp->send_cq ? &qp->send_cq->obj : NULL;
	part[2] = qp->recv_cq ? &qp->recv_cq->obj : NULL;
	part[3] = qp->srq ? &qp->srq->obj : NULL;
	part[4] = qp->xrcd ? &qp->xrcd->obj : NULL;
}

static void hold(struct emu_qp_obj *qp)
{
	struct emu_uobj *part[NPARTS];

	list_parts(qp, part);
	for (unsigned int i = 0; i < NPARTS; i++)
		emu_uobj_hold(part[i]);
	emu_events_get(qp->async);
}

static int undo(struct emu_uobj *o)
{
	struct emu_qp_obj *qp = (struct emu_qp_obj *)o;
	struct emu_uobj *part[NPARTS];

	emu_mcast_leave(qp);
	if (qp->qpn && !emu_qp_shared(qp))
		emu_qp_withdraw(qp->qpn);
	list_parts(qp, part);
	for (unsigned int i = 0; i < NPARTS; i++)
		emu_uobj_release(part[i]);
	emu_unpin_queue(&o->file->db_pages, &qp->pins);
	emu_events_put(qp->async);
	return 0;
}

static int qp_fill(struct emu_cmd *c, struct emu_qp_obj *qp)
{
	qp->pd = emu_attr_obj(c, UVERBS_ATTR_CREATE_QP_PD_HANDLE);
	qp->send_cq = emu_attr_obj(c, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
	qp->recv_cq = emu_attr_obj(c, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
	qp->srq = emu_attr_obj(c, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
	qp->xrcd = emu_attr_obj(c, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE);
	qp->type = (uint8_t)emu_attr_u64(c, UVERBS_ATTR_CREATE_QP_TYPE, 0);
	qp->async = emu_async_of(c, UVERBS_ATTR_CREATE_QP_EVENT_FD);
	qp->user_handle = emu_attr_u64(c, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 0);
	return emu_attr_in(c, UVERBS_ATTR_CREATE_QP_CAP, &qp->cap, sizeof(qp->cap));
}

static int qp_answer(struct emu_cmd *c, const struct emu_qp_obj *qp, uint32_t ece)
{
	struct mlx5_ib_create_qp_resp uhw = {.ece_options = ece & EMU_ECE};
	int err;

	err = emu_attr_out(c, UVERBS_ATTR_CREATE_QP_RESP_CAP, &qp->cap, sizeof(qp->cap));
	if (!err)
		err = emu_attr_out_u32(c, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, qp->qpn);
	return err ? err : emu_attr_out(c, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}

/* QUERY_QP returns the size of the receive ring, as mlx5's set_rq_size() computes it. */
static void keep_recv_cap(struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req)
{
	bool none = !has_receive_ring(qp, req);

	qp->cap.max_recv_wr = none ? 0 : req->rq_wqe_count;
	qp->cap.max_recv_sge = none ? 0 : (1u << req->rq_wqe_shift) / 16;
}

struct emu_qp_obj *emu_qp_new(struct emu_file *f, const struct emu_qp_obj *as)
{
	struct emu_qp_obj *qp = emu_uobj_new(f, EMU_T_QP, sizeof(*qp), undo);
	struct emu_uobj obj;

	if (!qp)
		return NULL;
	obj = qp->obj;
	*qp = *as;
	qp->obj = obj;
	hold(qp);
	return qp;
}

/* The request, and the queue pair that it describes. */
static int read_request(struct emu_cmd *c, struct mlx5_ib_create_qp *req, uint64_t flags,
			struct emu_qp_obj *qp)
{
	int err = emu_attr_in(c, UVERBS_ATTR_UHW_IN, req, sizeof(*req));

	if (!err)
		err = check_qp(req, emu_attr_u64(c, UVERBS_ATTR_CREATE_QP_TYPE, 0), flags);
	if (!err)
		err = qp_fill(c, qp);
	if (!err)
		err = check_cap(&qp->cap);
	return err ? err : check_parts(qp);
}

static int qp_create(struct emu_cmd *c)
{
	uint64_t flags = emu_attr_u64(c, UVERBS_ATTR_CREATE_QP_FLAGS, 0);
	struct emu_qp_obj *qp, tmp = {0};
	struct mlx5_ib_create_qp req;
	uint32_t slot;
	int err;

	err = read_request(c, &req, flags, &tmp);
	if (!err && tmp.type != EMU_QPT_XRC_TGT)
		err = check_qp_place(c, &req);
	if (!err)
		err = emu_engine_of(c, &slot);
	if (!err)
		err = emu_wire_admit(c->file->func, slot);
	if (err)
		return err;
	keep_recv_cap(&tmp, &req);
	tmp.sq_sig_all = flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	tmp.block_self = flags & IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	qp = emu_qp_new(c->file, &tmp);
	if (!qp)
		return -ENOMEM;
	emu_attr_new(c, UVERBS_ATTR_CREATE_QP_HANDLE, &qp->obj);
	if (qp->type != EMU_QPT_XRC_TGT)
		err = pin_qp(c, &req, qp);
	if (err)
		return err;
	qp->qpn = publish(qp, &req, slot);
	if (qp->qpn && qp->type == EMU_QPT_XRC_TGT)
		emu_xrc_announce(&emu_queues->qp[qp->qpn]);
	return qp->qpn ? qp_answer(c, qp, req.ece_options) : -ENOMEM;
}

int emu_let_send(struct emu_cmd *c, uint32_t qpn)
{
	if (c->again || !emu_has_unfinished_work(&emu_queues->qp[qpn]))
		return 0;
	c->first = EMU_REPLY_LET_SEND;
	c->first_qpn = qpn;
	return -EAGAIN;
}

static int qp_destroy(struct emu_cmd *c)
{
	struct emu_qp_obj *qp = emu_attr_obj(c, UVERBS_ATTR_DESTROY_QP_HANDLE);
	uint32_t events;

	if (qp->obj.users || qp->groups)
		return -EBUSY; /* uverbs_free_qp(): its program detaches it first */
	if (emu_let_send(c, qp->qpn))
		return -EAGAIN;
	emu_proc_drain_notes(emu_proc_by_slot(emu_queues->qp[qp->qpn].engine));
	events = qp->async_events - emu_events_retract(qp->async, qp->user_handle);
	emu_uobj_destroy(&qp->obj);
	return emu_attr_out_u32(c, UVERBS_ATTR_DESTROY_QP_RESP, events);
}

static const struct emu_field create_fields[] = {
	EMU_IN("type", UVERBS_ATTR_CREATE_QP_TYPE, 4, EMU_QP_TYPE),
	EMU_OUT("qpn", UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4, EMU_HEX),
	EMU_FIELDS_END,
};

const struct emu_method emu_methods_qp[] = {
	{
		.command.name = "qp.create",
		.command.fields = create_fields,
		.object = UVERBS_OBJECT_QP,
		.method = UVERBS_METHOD_QP_CREATE,
		.handler = qp_create,
		.attr = {{UVERBS_ATTR_CREATE_QP_HANDLE, EMU_A_NEW, true, 0},
			 {UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, EMU_A_OBJ, false, EMU_T_XRCD},
			 {UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, EMU_A_OBJ, false, EMU_T_SRQ},
			 {UVERBS_ATTR_CREATE_QP_PD_HANDLE, EMU_A_OBJ, false, EMU_T_PD},
			 {UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, EMU_A_OBJ, false, EMU_T_CQ},
			 {UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, EMU_A_OBJ, false, EMU_T_CQ},
			 {UVERBS_ATTR_CREATE_QP_USER_HANDLE, EMU_A_IN, true, 8},
			 {UVERBS_ATTR_CREATE_QP_CAP, EMU_A_IN, true, 20},
			 {UVERBS_ATTR_CREATE_QP_TYPE, EMU_A_IN, true, 0},
			 {UVERBS_ATTR_CREATE_QP_FLAGS, EMU_A_IN, false, 4},
			 {UVERBS_ATTR_CREATE_QP_EVENT_FD, EMU_A_FD, false, 0},
			 {UVERBS_ATTR_CREATE_QP_RESP_CAP, EMU_A_OUT, true, 20},
			 {UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, EMU_A_OUT, true, 4},
			 {UVERBS_ATTR_UHW_IN, EMU_A_IN, true, 16},
			 {UVERBS_ATTR_UHW_OUT, EMU_A_OUT, true, 4}},
	},
	{
		.command.name = "qp.destroy",
		.object = UVERBS_OBJECT_QP,
		.method = UVERBS_METHOD_QP_DESTROY,
		.handler = qp_destroy,
		.attr = {{UVERBS_ATTR_DESTROY_QP_HANDLE, EMU_A_OBJ, true, EMU_T_QP},
			 {UVERBS_ATTR_DESTROY_QP_RESP, EMU_A_OUT, true, 4}},
	},
	{.handler = NULL},
};
