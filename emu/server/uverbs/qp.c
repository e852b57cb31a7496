/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/qp.h"

#include <errno.h>
#include <string.h>

#include "emu/ipc/proto.h"
#include "emu/server/card/process.h"
#include "emu/server/card/qp_context.h"
#include "emu/server/card/queue_context.h"
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

#define MAX_WR 32768u

static bool is_supported(uint64_t type)
{
	return type == EMU_QPT_RC || type == EMU_QPT_UC || type == EMU_QPT_UD ||
	       type == EMU_QPT_XRC_INI || type == EMU_QPT_XRC_TGT || type == IB_UVERBS_QPT_DRIVER;
}

/*
 * The objects of a QP, as uverbs_std_types_qp.c checks them: an XRC target has only its domain. An XRC initiator does
 * not receive, and a completion queue to receive is ignored.
 */
static int check_parts(struct emu_qp_obj *qp)
{
	if (qp->type == EMU_QPT_XRC_TGT) {
		if (qp->pd || qp->send_cq || qp->recv_cq || qp->srq)
			return -EINVAL;
		return qp->xrcd ? 0 : -ENOENT;
	}
	if (qp->xrcd || (qp->type == EMU_QPT_XRC_INI && qp->srq))
		return -EINVAL;
	if (qp->type == EMU_QPT_XRC_INI)
		qp->recv_cq = NULL;
	if (!qp->pd || !qp->send_cq || (qp->type != EMU_QPT_XRC_INI && !qp->recv_cq))
		return -ENOENT;
	return qp->srq && qp->srq->type != IB_UVERBS_SRQT_BASIC ? -EINVAL : 0;
}

#define UD_FLAGS \
	(IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING)

static int check_flags(const struct emu_qp_obj *qp, uint64_t flags)
{
	flags &= ~(uint64_t)IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	if (flags & ~(uint64_t)(qp->type == EMU_QPT_UD ? UD_FLAGS : 0))
		return -EINVAL;
	return flags & IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING ? -EOPNOTSUPP : 0;
}

/* qp_has_rq() */
static bool receives_by_itself(const struct emu_qp_obj *qp)
{
	return qp->recv_cq && !qp->srq && qp->cap.max_recv_wr;
}

/* Which of the driver's own types is it? process_vendor_flags() */
static int read_kind(struct mlx5_ib_create_qp *req, struct emu_qp_obj *qp)
{
	const uint32_t kinds = MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT;

	if (qp->type != IB_UVERBS_QPT_DRIVER)
		return 0;
	switch (req->flags & kinds) {
	case MLX5_QP_FLAG_TYPE_DCI:
		qp->type = EMU_QPT_DCI;
		break;
	case MLX5_QP_FLAG_TYPE_DCT:
		qp->type = EMU_QPT_DCT;
		break;
	default:
		return -EINVAL;
	}
	req->flags &= ~kinds;
	return 0;
}

static bool has_streams(const struct mlx5_ib_create_qp *req, const struct emu_qp_obj *qp)
{
	return qp->type == EMU_QPT_DCI && req->flags & MLX5_QP_FLAG_DCI_STREAM;
}

static bool is_initiator(const struct mlx5_ib_create_qp *req, const struct emu_qp_obj *qp)
{
	if (qp->cap.max_recv_wr || qp->cap.max_recv_sge)
		return false;
	return !has_streams(req, qp) ||
	       (req->dci_streams.log_num_concurent <= EMU_LOG_DCI_STREAMS &&
		req->dci_streams.log_num_errored <= EMU_LOG_DCI_ERRORED);
}

/* What mlx5_ib_create_qp() and, of sizes that it passes on, the firmware refuse. */
static int check_qp(const struct mlx5_ib_create_qp *req, const struct emu_qp_obj *qp)
{
	const uint32_t known = MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_BFREG_INDEX |
			       MLX5_QP_FLAG_ALLOW_SCATTER_CQE | MLX5_QP_FLAG_UAR_PAGE_INDEX |
			       MLX5_QP_FLAG_DCI_STREAM;

	if (req->flags & ~known || req->reserved)
		return -EINVAL;
	if (qp->type == EMU_QPT_DCT)
		return qp->srq ? 0 : -EINVAL;
	if (qp->cap.max_recv_wr > MAX_WR || (qp->type == EMU_QPT_DCI && !is_initiator(req, qp)))
		return -EINVAL;
	if (!receives_by_itself(qp) && (req->rq_wqe_count || req->rq_wqe_shift))
		return -EINVAL;
	if (req->sq_wqe_count &&
	    (!emu_is_power_of_2(req->sq_wqe_count) || req->sq_wqe_count > MAX_WR))
		return -EINVAL;
	if (!req->rq_wqe_count)
		return 0;
	return req->rq_wqe_shift < 4 || req->rq_wqe_shift > 9 ||
			       (uint64_t)req->rq_wqe_count << req->rq_wqe_shift > INT32_MAX
		       ? -EINVAL
		       : 0;
}

/* A doorbell page can be named in two ways; libmlx5's own pages have only the number. */
static int check_qp_place(const struct emu_cmd *c, const struct mlx5_ib_create_qp *req)
{
	const uint32_t ways = MLX5_QP_FLAG_BFREG_INDEX | MLX5_QP_FLAG_UAR_PAGE_INDEX;

	if ((req->flags & ways) != MLX5_QP_FLAG_UAR_PAGE_INDEX ||
	    !emu_has_uar(c->file, req->bfreg_index) || req->db_addr % EMU_DBR_BYTES ||
	    !req->buf_addr)
		return -EINVAL;
	return emu_check_ring(req->buf_addr);
}

static bool has_receive_ring(const struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req)
{
	return receives_by_itself(qp) && req->rq_wqe_count;
}

static uint64_t rings_len(const struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req)
{
	const uint64_t receives =
		has_receive_ring(qp, req) ? (uint64_t)req->rq_wqe_count << req->rq_wqe_shift : 0;

	return receives + (uint64_t)req->sq_wqe_count * EMU_RING_LINE;
}

/* A receive queue outside the QP has no ring. */
static int pin_qp(const struct emu_cmd *c, const struct mlx5_ib_create_qp *req,
		  struct emu_qp_obj *qp)
{
	const struct emu_queue_memory m = {
		.ring = req->buf_addr,
		.len = rings_len(qp, req),
		.dbr = req->db_addr,
	};

	return emu_pin_queue_of(c, &m, &qp->pins);
}

static uint64_t service_of(const struct emu_qp_obj *qp)
{
	switch (qp->type) {
	case EMU_QPT_UC:
		return EMU_QPC_ST_UC;
	case EMU_QPT_UD:
		return EMU_QPC_ST_UD;
	case EMU_QPT_XRC_INI:
	case EMU_QPT_XRC_TGT:
		return EMU_QPC_ST_XRC;
	case EMU_QPT_DCI:
		return EMU_QPC_ST_DCI;
	default:
		return EMU_QPC_ST_RC;
	}
}

static uint32_t cqe_size(const struct emu_cq_obj *cq)
{
	return emu_queues->cq[cq->cqn].cqe_size;
}

/* How much of a message the completions of receives may hold. */
static uint64_t cs_res(const struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req)
{
	if (!(req->flags & MLX5_QP_FLAG_SCATTER_CQE) || !qp->recv_cq ||
	    (qp->type != EMU_QPT_RC && qp->type != EMU_QPT_UC))
		return 0;
	return cqe_size(qp->recv_cq) == 128 ? EMU_QPC_CS_RES_64 : EMU_QPC_CS_RES_32;
}

/* The same of those of requests: configure_requester_scat_cqe(). */
static uint64_t cs_req(const struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req)
{
	if (!(req->flags & MLX5_QP_FLAG_SCATTER_CQE) || !qp->send_cq ||
	    (qp->type != EMU_QPT_RC && qp->type != EMU_QPT_DCI) ||
	    (!qp->sq_sig_all && !(req->flags & MLX5_QP_FLAG_ALLOW_SCATTER_CQE)))
		return 0;
	return cqe_size(qp->send_cq) == 128 ? EMU_QPC_CS_REQ_64 : EMU_QPC_CS_REQ_32;
}

static void write_receives(const struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req,
			   uint8_t *qpc)
{
	if (qp->srq || qp->type == EMU_QPT_XRC_INI || qp->type == EMU_QPT_XRC_TGT) {
		emu_prm_set(qpc, EMU_QPC_RQ_TYPE, EMU_QPC_RQ_TYPE_SHARED);
		emu_prm_set(qpc, EMU_QPC_SRQN_RMPN_XRQN, qp->srq ? qp->srq->srqn : 0);
		emu_prm_set(qpc, EMU_QPC_XRCD, qp->xrcd ? qp->xrcd->number : 0);
	} else if (has_receive_ring(qp, req)) {
		emu_prm_set(qpc, EMU_QPC_RQ_TYPE, EMU_QPC_RQ_TYPE_REGULAR);
		emu_prm_set(qpc, EMU_QPC_LOG_RQ_SIZE, emu_log2(req->rq_wqe_count));
		emu_prm_set(qpc, EMU_QPC_LOG_RQ_STRIDE, req->rq_wqe_shift - EMU_MIN_LOG_STRIDE);
	} else {
		emu_prm_set(qpc, EMU_QPC_RQ_TYPE, EMU_QPC_RQ_TYPE_NONE);
	}
}

/* What mlx5's create_user_qp() and create_dci() give to the firmware, but for page lists and objects of the kernel. */
static void write_context(const struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req,
			  uint8_t *qpc)
{
	const bool is_target = qp->type == EMU_QPT_XRC_TGT;
	const struct emu_prm_value fields[] = {
		{EMU_QPC_ST, service_of(qp)},
		{EMU_QPC_PM_STATE, EMU_QPC_PM_MIGRATED},
		{EMU_QPC_BLOCK_LB_MC, qp->block_self},
		{EMU_QPC_PD, qp->pd ? qp->pd->pdn : 0},
		{EMU_QPC_NO_SQ, !req->sq_wqe_count},
		{EMU_QPC_LOG_SQ_SIZE, emu_log2(req->sq_wqe_count)},
		{EMU_QPC_UAR_PAGE, is_target ? 0 : req->bfreg_index},
		{EMU_QPC_USER_INDEX, is_target ? EMU_NO_UIDX : req->uidx},
		{EMU_QPC_CQN_SND, qp->send_cq ? qp->send_cq->cqn : 0},
		{EMU_QPC_CQN_RCV, qp->recv_cq ? qp->recv_cq->cqn : 0},
		{EMU_QPC_DBR_ADDR, req->db_addr},
		{EMU_QPC_CS_REQ, cs_req(qp, req)},
		{EMU_QPC_CS_RES, cs_res(qp, req)},
	};

	EMU_PRM_FILL(qpc, fields);
	if (has_streams(req, qp)) {
		emu_prm_set(qpc, EMU_QPC_LOG_DCI_STREAMS, req->dci_streams.log_num_concurent);
		emu_prm_set(qpc, EMU_QPC_LOG_DCI_ERRORED, req->dci_streams.log_num_errored);
	}
	write_receives(qp, req, qpc);
}

static uint32_t publish(const struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req,
			uint32_t slot)
{
	struct emu_qp q = {
		.engine = slot,
		.func = qp->obj.file->func->index,
		.type = qp->type,
		.buf_addr = req->buf_addr,
		.dbr_addr = req->db_addr,
	};
	uint8_t qpc[EMU_QPC_BYTES] = {0};
	uint32_t qpn;

	write_context(qp, req, qpc);
	emu_qp_read_context(qpc, &q);
	if (qp->type != EMU_QPT_XRC_TGT) { /* which several processes may share */
		q.file = qp->obj.file->ino;
		q.handle = qp->obj.handle;
	}
	qpn = emu_qp_publish(&q);
	if (qpn)
		emu_qp_begin_context(qpn, qpc);
	return qpn;
}

/* mlx5's create_dct(): the rest follows with the transitions. */
static void begin_target(struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req)
{
	const struct emu_prm_value fields[] = {
		{EMU_DCTC_USER_INDEX, req->uidx},
		{EMU_DCTC_CQN, qp->recv_cq->cqn},
		{EMU_DCTC_CS_RES,
		 req->flags & MLX5_QP_FLAG_SCATTER_CQE && cqe_size(qp->recv_cq) == 128
			 ? EMU_QPC_CS_RES_64
			 : 0},
		{EMU_DCTC_SRQN, qp->srq->srqn},
		{EMU_DCTC_PD, qp->pd->pdn},
		{EMU_DCTC_ACCESS_KEY, req->access_key},
		{EMU_DCTC_ECE, req->ece_options},
	};

	EMU_PRM_FILL(qp->dctc, fields);
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

#define NO_BFREG (1u << 31) /* MLX5_IB_INVALID_BFREG: the queue pair has a page of its own */

/* Linux answers the limits that were asked for, but for those of receives that the queue pair has not. */
static int qp_answer(struct emu_cmd *c, const struct emu_qp_obj *qp,
		     const struct ib_uverbs_qp_cap *asked, uint32_t ece)
{
	struct mlx5_ib_create_qp_resp uhw = {0};
	struct ib_uverbs_qp_cap cap = *asked;
	int err;

	if (qp->type != EMU_QPT_DCT) {
		uhw.bfreg_index = NO_BFREG;
		uhw.ece_options = ece & EMU_ECE;
	}
	if ((!qp->recv_cq || qp->srq || !cap.max_recv_wr) && qp->type != EMU_QPT_XRC_TGT &&
	    qp->type != EMU_QPT_DCT)
		cap.max_recv_wr = cap.max_recv_sge = 0;
	err = emu_attr_out(c, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
	if (!err)
		err = emu_attr_out_u32(c, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, qp->qpn);
	if (err || qp->type == EMU_QPT_XRC_TGT)
		return err;
	return emu_attr_out(c, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
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

/* The attributes of newer kernels replace the addresses of the driver's part. */
static int take_buffers(struct emu_cmd *c, struct mlx5_ib_create_qp *req, struct emu_qp_obj *qp)
{
	static const struct emu_buffer_attrs attrs = {
		.ring = EMU_UVERBS_ATTR_CREATE_QP_BUF_UMEM,
		.dbr = EMU_MLX5_IB_ATTR_CREATE_QP_DBR_BUF_UMEM,
	};
	uint64_t ring = req->buf_addr, dbr = req->db_addr;
	int err = emu_take_buffers(c, &attrs, rings_len(qp, req), &ring, &dbr, &qp->mapped);

	req->buf_addr = ring;
	req->db_addr = dbr;
	return err;
}

/* A target has no driver's part. */
static int read_driver_part(struct emu_cmd *c, struct mlx5_ib_create_qp *req, struct emu_qp_obj *qp)
{
	int err;

	memset(req, 0, sizeof(*req));
	if (qp->type == EMU_QPT_XRC_TGT)
		return 0;
	if (emu_attr_len(c, UVERBS_ATTR_UHW_IN) < offsetof(struct mlx5_ib_create_qp, ece_options))
		return -EINVAL;
	err = emu_attr_in(c, UVERBS_ATTR_UHW_IN, req, sizeof(*req));
	if (err) /* it looks for zeros behind the struct before it copies it */
		return -EINVAL;
	err = read_kind(req, qp);
	if (!err)
		err = check_qp(req, qp);
	if (!err)
		err = emu_check_uidx(c->file, req->uidx);
	if (err || qp->type == EMU_QPT_DCT)
		return err;
	err = take_buffers(c, req, qp);
	return err ? err : check_qp_place(c, req);
}

/* The request, and the queue pair that it describes. */
static int read_request(struct emu_cmd *c, struct mlx5_ib_create_qp *req, uint64_t flags,
			struct emu_qp_obj *qp)
{
	uint64_t type = emu_attr_u64(c, UVERBS_ATTR_CREATE_QP_TYPE, 0);
	int err;

	if (!is_supported(type) && type != IB_UVERBS_QPT_RAW_PACKET)
		return -EINVAL;
	err = qp_fill(c, qp);
	if (!err)
		err = check_parts(qp);
	if (!err && !is_supported(type))
		err = -EOPNOTSUPP;
	if (!err)
		err = check_flags(qp, flags);
	return err ? err : read_driver_part(c, req, qp);
}

static int qp_create(struct emu_cmd *c)
{
	uint64_t flags = emu_attr_u64(c, UVERBS_ATTR_CREATE_QP_FLAGS, 0);
	struct emu_qp_obj *qp, tmp = {0};
	struct mlx5_ib_create_qp req;
	struct ib_uverbs_qp_cap asked;
	uint32_t slot;
	int err;

	err = read_request(c, &req, flags, &tmp);
	if (!err)
		err = emu_engine_of(c, &slot);
	if (!err)
		err = emu_wire_admit(c->file->func, slot);
	if (err)
		return err;
	asked = tmp.cap;
	keep_recv_cap(&tmp, &req);
	tmp.sq_sig_all = flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	tmp.block_self = flags & IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	qp = emu_qp_new(c->file, &tmp);
	if (!qp)
		return -ENOMEM;
	emu_attr_new(c, UVERBS_ATTR_CREATE_QP_HANDLE, &qp->obj);
	if (qp->type == EMU_QPT_DCT) {
		begin_target(qp, &req);
		return qp_answer(c, qp, &asked, 0);
	}
	if (qp->type != EMU_QPT_XRC_TGT)
		err = pin_qp(c, &req, qp);
	if (err)
		return err;
	qp->qpn = publish(qp, &req, slot);
	if (qp->qpn && qp->type == EMU_QPT_XRC_TGT)
		emu_xrc_announce(&emu_queues->qp[qp->qpn]);
	return qp->qpn ? qp_answer(c, qp, &asked, req.ece_options) : -ENOMEM;
}

int emu_let_send(struct emu_cmd *c, uint32_t qpn)
{
	if (!qpn || c->again || !emu_has_unfinished_work(&emu_queues->qp[qpn]))
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
	if (qp->qpn)
		emu_proc_drain_notes(emu_proc_by_slot(emu_queues->qp[qp->qpn].engine));
	events = qp->async_events - emu_events_retract(qp->async, qp->user_handle);
	emu_let_unmap(c, &qp->mapped);
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
			 {UVERBS_ATTR_CREATE_QP_USER_HANDLE, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_CREATE_QP_CAP, EMU_A_STRUCT, true, 20},
			 {UVERBS_ATTR_CREATE_QP_TYPE, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_CREATE_QP_FLAGS, EMU_A_FLAGS, false, 0},
			 {UVERBS_ATTR_CREATE_QP_EVENT_FD, EMU_A_FD, false, 0},
			 {UVERBS_ATTR_CREATE_QP_RESP_CAP, EMU_A_OUT, true, 20},
			 {UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, EMU_A_RESULT, true, 4},
			 {EMU_UVERBS_ATTR_CREATE_QP_BUF_UMEM, EMU_A_VALUE, false,
			  sizeof(struct emu_buffer_desc)},
			 {EMU_MLX5_IB_ATTR_CREATE_QP_DBR_BUF_UMEM, EMU_A_VALUE, false,
			  sizeof(struct emu_buffer_desc)},
			 {UVERBS_ATTR_UHW_IN, EMU_A_IN, false, 0},
			 {UVERBS_ATTR_UHW_OUT, EMU_A_OUT, false, 0}},
	},
	{
		.command.name = "qp.destroy",
		.object = UVERBS_OBJECT_QP,
		.method = UVERBS_METHOD_QP_DESTROY,
		.handler = qp_destroy,
		.attr = {{UVERBS_ATTR_DESTROY_QP_HANDLE, EMU_A_OBJ, true, EMU_T_QP},
			 {UVERBS_ATTR_DESTROY_QP_RESP, EMU_A_RESULT, true, 4}},
	},
	{.handler = NULL},
};
