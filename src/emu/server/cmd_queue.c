/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completion queues and queue pairs: making and unmaking them. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cmd.h"

#define MAX_CQE	    ((1u << 22) - 1)
#define MAX_WR	    32768u
#define MAX_SGE	    30u
#define MAX_INLINE  1024u
#define RING_LINE   64u
#define DBR_BYTES   8u
#define LET_SEND_MS 10

/* The slot of the calling process's engine; without one the shim starts it and asks again. */
int emu_engine_of(struct emu_cmd *c, uint32_t *slot)
{
	const struct emu_proc *p = emu_proc_of(c->chan->pid);

	if (!p) {
		c->need_engine = true;
		return -EAGAIN;
	}
	*slot = p->slot;
	return 0;
}

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

struct emu_events *emu_async_of(const struct emu_cmd *c, uint16_t attr)
{
	struct emu_events *e;

	if (emu_attr(c, attr))
		return emu_events_find(c, (int64_t)emu_attr(c, attr)->data_s64, EMU_EVENTS_ASYNC);
	for (e = c->file->events; e && e->kind != EMU_EVENTS_ASYNC; e = e->next)
		;
	return e;
}

/* --- completion queues ---------------------------------------------------------------------------
 */

static uint32_t find_cq(void)
{
	static uint32_t next;
	uint32_t n;

	for (n = 0; n < EMU_MAX_CQS - 1; n++) {
		if (++next >= EMU_MAX_CQS)
			next = 1;
		if (!atomic_load(&emu.queues->cq[next].serial))
			return next;
	}
	return 0;
}

int emu_check_ring(uint64_t addr)
{
	return addr % RING_LINE ? -EINVAL : 0;
}

#define CQ_FLAGS (IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)

/* To the driver any other value is a no, and then it does not look at the format. */
static bool compresses(const struct mlx5_ib_create_cq *req)
{
	return req->cqe_comp_en == 1;
}

/* enum emu_mini, or the error of the driver's mini_cqe_res_format_to_hw(). */
static int mini_format(const struct emu_profile *p, const struct mlx5_ib_create_cq *req)
{
	if (!p->max_session)
		return -EOPNOTSUPP;
	switch (req->cqe_comp_res_format) {
	case MLX5_IB_CQE_RES_FORMAT_HASH:
		return EMU_MINI_HASH;
	case MLX5_IB_CQE_RES_FORMAT_CSUM:
		return EMU_MINI_CSUM;
	case MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX:
		return EMU_MINI_CSUM_STRIDX;
	default:
		return -EINVAL;
	}
}

/* The errors of the driver's create_cq_user(): EOPNOTSUPP is for what it knows and the device
 * lacks. */
static int check_cq(const struct emu_cmd *c, const struct mlx5_ib_create_cq *req, uint64_t cqe)
{
	const uint16_t had =
		MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX | MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD;
	const uint16_t known = had | MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS;

	if (!cqe || cqe > MAX_CQE || !power_of_two((uint32_t)cqe + 1) ||
	    emu_attr_u64(c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0) >= EMU_COMP_VECTORS ||
	    emu_attr_u64(c, UVERBS_ATTR_CREATE_CQ_FLAGS, 0) & ~(uint64_t)CQ_FLAGS)
		return -EINVAL;
	if ((req->cqe_size != 64 && req->cqe_size != 128) || req->reserved0 || req->reserved1 ||
	    req->flags & ~known || req->db_addr % DBR_BYTES)
		return -EINVAL;
	if (req->flags & ~had ||
	    (req->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD && req->cqe_size != 128))
		return -EOPNOTSUPP;
	if (compresses(req)) {
		int format = mini_format(c->file->func->card->profile, req);

		if (format < 0)
			return format;
	}
	if (!(req->flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX) ||
	    !emu_has_uar(c->file, req->uar_page_index))
		return -EINVAL;
	return emu_check_ring(req->buf_addr);
}

static uint32_t publish_cq(const struct emu_cmd *c, const struct mlx5_ib_create_cq *req,
			   uint32_t entries, uint32_t slot, const struct emu_cq_obj *of)
{
	const struct emu_profile *p = c->file->func->card->profile;
	uint64_t flags = emu_attr_u64(c, UVERBS_ATTR_CREATE_CQ_FLAGS, 0);
	uint32_t cqn = find_cq();
	struct emu_cq *q = &emu.queues->cq[cqn];

	if (!cqn)
		return 0;
	q->engine = slot;
	q->file = of->obj.file->ino;
	q->handle = of->obj.handle;
	q->buf_addr = req->buf_addr;
	q->dbr_addr = req->db_addr;
	q->entries = entries;
	q->cqe_size = req->cqe_size;
	q->has_channel = of->channel ? 1 : 0;
	q->padded = req->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD ? 1 : 0;
	q->overwrites = flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN ? 1 : 0;
	q->session = compresses(req) ? (uint8_t)p->max_session : 0;
	q->mini = q->session ? (uint8_t)mini_format(p, req) : 0;
	q->pi = 0;
	atomic_store(&q->frozen, 0);
	atomic_store(&q->moderation, 0);
	atomic_store(&q->error, 0);
	atomic_store_explicit(&q->serial, emu_new_serial(), memory_order_release);
	if (atomic_load(&emu.queues->cq_high) <= cqn)
		atomic_store(&emu.queues->cq_high, cqn + 1);
	emu_engine_kick(slot);
	return cqn;
}

int emu_cq_undo(struct emu_uobj *o)
{
	struct emu_cq_obj *cq = (struct emu_cq_obj *)o;

	if (cq->cqn) {
		struct emu_cq *q = &emu.queues->cq[cq->cqn];

		atomic_store(&q->serial, 0);
		emu_grace();
		emu_engine_kick(q->engine);
	}
	emu_unpin_queue(o->file, &cq->pins);
	emu_events_put(cq->channel);
	emu_events_put(cq->async);
	return 0;
}

/* The engine tells a CQ that was never armed from one whose first arm is all zeros by this word. */
static int mark_unarmed(const struct emu_cmd *c, uint64_t dbr_addr)
{
	static const uint32_t word = EMU_CQ_UNARMED;

	return emu_copy_to(c->chan->pid, dbr_addr + 4, &word, sizeof(word));
}

static int find_channel(const struct emu_cmd *c, struct emu_events **e)
{
	const struct ib_uverbs_attr *a = emu_attr(c, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);

	*e = a ? emu_events_find(c, a->data_s64, EMU_EVENTS_COMPLETION) : NULL;
	return a && !*e ? -EBADF : 0;
}

static void hold_events(struct emu_events *e)
{
	if (e)
		e->users++;
}

static int cq_create(struct emu_cmd *c)
{
	uint32_t cqe = (uint32_t)emu_attr_u64(c, UVERBS_ATTR_CREATE_CQ_CQE, 0), slot;
	struct mlx5_ib_create_cq_resp uhw = {0};
	struct mlx5_ib_create_cq req;
	struct emu_events *channel;
	struct emu_cq_obj *cq;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	if (!err)
		err = check_cq(c, &req, cqe);
	if (!err)
		err = find_channel(c, &channel);
	if (!err)
		err = emu_engine_of(c, &slot);
	if (err)
		return err;
	cq = emu_uobj_new(c->file, EMU_T_CQ, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	cq->user_handle = emu_attr_u64(c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0);
	cq->channel = channel;
	cq->async = emu_async_of(c, UVERBS_ATTR_CREATE_CQ_EVENT_FD);
	hold_events(cq->channel);
	hold_events(cq->async);
	emu_attr_new(c, UVERBS_ATTR_CREATE_CQ_HANDLE, &cq->obj);
	err = emu_pin_queue(c, req.buf_addr, (cqe + 1ull) * req.cqe_size, req.db_addr, &cq->pins);
	if (!err)
		err = mark_unarmed(c, req.db_addr);
	if (err)
		return err;
	cq->cqn = publish_cq(c, &req, cqe + 1, slot, cq);
	if (!cq->cqn)
		return -ENOMEM;
	uhw.cqn = cq->cqn;
	err = emu_attr_out(c, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
	return err ? err : emu_attr_out_u32(c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, cqe);
}

static int cq_destroy(struct emu_cmd *c)
{
	struct emu_cq_obj *cq = emu_attr_obj(c, UVERBS_ATTR_DESTROY_CQ_HANDLE);
	struct ib_uverbs_destroy_cq_resp r = {0};

	if (cq->obj.users)
		return -EBUSY;
	emu_drain_notes(emu_proc_by_slot(emu.queues->cq[cq->cqn].engine));
	r.comp_events_reported = cq->comp_events - emu_events_retract(cq->channel, cq->user_handle);
	r.async_events_reported = cq->async_events - emu_events_retract(cq->async, cq->user_handle);
	emu_uobj_destroy(&cq->obj);
	return emu_attr_out(c, UVERBS_ATTR_DESTROY_CQ_RESP, &r, sizeof(r));
}

/* --- queue pairs ---------------------------------------------------------------------------------
 */

static uint32_t find_qp(void)
{
	static uint32_t next = EMU_FIRST_QPN - 1;
	uint32_t n;

	for (n = 0; n < EMU_MAX_QPS; n++) {
		if (++next >= EMU_MAX_QPS)
			next = EMU_FIRST_QPN;
		if (!atomic_load(&emu.queues->qp[next].serial))
			return next;
	}
	return 0;
}

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
 * Which objects a QP of a kind is made of (uverbs_std_types_qp.c and rdma_check_qp_type): an XRC
 * target has nothing but its domain, an XRC initiator receives nothing.
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

/* There is no multicast here that could come back. */
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
	if (req->sq_wqe_count && !power_of_two(req->sq_wqe_count))
		return -EINVAL;
	if (req->rq_wqe_count &&
	    (!power_of_two(req->rq_wqe_count) || req->rq_wqe_shift < 4 || req->rq_wqe_shift > 9))
		return -EINVAL;
	return req->sq_wqe_count > MAX_WR || req->rq_wqe_count > MAX_WR ? -EINVAL : 0;
}

/* Of the ways to name a doorbell page only its number is left with libmlx5's own pages. */
static int check_qp_place(const struct emu_cmd *c, const struct mlx5_ib_create_qp *req)
{
	const uint32_t ways = MLX5_QP_FLAG_BFREG_INDEX | MLX5_QP_FLAG_UAR_PAGE_INDEX;

	if ((req->flags & ways) != MLX5_QP_FLAG_UAR_PAGE_INDEX ||
	    !emu_has_uar(c->file, req->bfreg_index) || req->db_addr % DBR_BYTES)
		return -EINVAL;
	return emu_check_ring(req->buf_addr);
}

/* A receive queue that is elsewhere has no ring. */
static int pin_qp(const struct emu_cmd *c, const struct mlx5_ib_create_qp *req,
		  struct emu_qp_obj *qp)
{
	uint64_t len = (uint64_t)req->sq_wqe_count * RING_LINE;

	if (qp->recv_cq && !qp->srq && req->rq_wqe_count)
		len += (uint64_t)req->rq_wqe_count << req->rq_wqe_shift;
	return emu_pin_queue(c, req->buf_addr, len, req->db_addr, &qp->pins);
}

static uint32_t publish_qp(const struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req,
			   uint32_t slot)
{
	uint32_t qpn = find_qp();
	struct emu_qp *q = &emu.queues->qp[qpn];

	if (!qpn)
		return 0;
	memset((char *)q + sizeof(q->serial), 0, sizeof(*q) - sizeof(q->serial));
	q->engine = slot;
	q->func = qp->obj.file->func->index;
	q->type = qp->type;
	q->pdn = qp->pd ? qp->pd->pdn : 0;
	q->uidx = req->uidx;
	q->send_cqn = qp->send_cq ? qp->send_cq->cqn : 0;
	q->recv_cqn = qp->recv_cq ? qp->recv_cq->cqn : 0;
	q->srqn = qp->srq ? qp->srq->srqn : 0;
	q->xrcdn = qp->xrcd ? qp->xrcd->number : 0;
	q->buf_addr = req->buf_addr;
	q->dbr_addr = req->db_addr;
	if (qp->type != EMU_QPT_XRC_TGT)
		q->sq_wqe_count = req->sq_wqe_count;
	if (qp->recv_cq && !qp->srq && req->rq_wqe_count) {
		q->rq_wqe_count = req->rq_wqe_count;
		q->rq_wqe_shift = req->rq_wqe_shift;
	}
	q->dest_func = UINT32_MAX;
	if (qp->type != EMU_QPT_XRC_TGT) { /* which others may share, and has no memory */
		q->file = qp->obj.file->ino;
		q->handle = qp->obj.handle;
	}
	atomic_store_explicit(&q->serial, emu_new_serial(), memory_order_release);
	if (atomic_load(&emu.queues->qp_high) <= qpn)
		atomic_store(&emu.queues->qp_high, qpn + 1);
	emu_engine_kick(slot);
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

void emu_qp_hold(struct emu_qp_obj *qp)
{
	struct emu_uobj *part[NPARTS];
	unsigned int i;

	list_parts(qp, part);
	for (i = 0; i < NPARTS; i++)
		if (part[i])
			part[i]->users++;
	hold_events(qp->async);
}

int emu_qp_undo(struct emu_uobj *o)
{
	struct emu_qp_obj *qp = (struct emu_qp_obj *)o;
	struct emu_uobj *part[NPARTS];
	unsigned int i;

	if (qp->qpn && !emu_qp_shared(qp)) {
		struct emu_qp *q = &emu.queues->qp[qp->qpn];

		atomic_store(&q->serial, 0);
		emu_grace();
		emu_inbox_drop(&q->inbox);
		emu_engine_kick(q->engine);
	}
	list_parts(qp, part);
	for (i = 0; i < NPARTS; i++)
		if (part[i])
			part[i]->users--;
	emu_unpin_queue(o->file, &qp->pins);
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

static int qp_answer(struct emu_cmd *c, const struct emu_qp_obj *qp)
{
	struct mlx5_ib_create_qp_resp uhw = {0};
	int err;

	err = emu_attr_out(c, UVERBS_ATTR_CREATE_QP_RESP_CAP, &qp->cap, sizeof(qp->cap));
	if (!err)
		err = emu_attr_out_u32(c, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, qp->qpn);
	return err ? err : emu_attr_out(c, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}

/* What QUERY_QP tells of the receive queue is its ring, as mlx5's set_rq_size() finds it. */
static void keep_recv_cap(struct emu_qp_obj *qp, const struct mlx5_ib_create_qp *req)
{
	bool none = qp->srq || !qp->recv_cq || !req->rq_wqe_count;

	qp->cap.max_recv_wr = none ? 0 : req->rq_wqe_count;
	qp->cap.max_recv_sge = none ? 0 : (1u << req->rq_wqe_shift) / 16;
}

static int qp_create(struct emu_cmd *c)
{
	uint64_t flags = emu_attr_u64(c, UVERBS_ATTR_CREATE_QP_FLAGS, 0);
	struct emu_qp_obj *qp, tmp = {0};
	struct mlx5_ib_create_qp req;
	uint32_t slot;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	if (!err)
		err = check_qp(&req, emu_attr_u64(c, UVERBS_ATTR_CREATE_QP_TYPE, 0), flags);
	if (!err)
		err = qp_fill(c, &tmp);
	if (!err)
		err = check_cap(&tmp.cap);
	if (!err)
		err = check_parts(&tmp);
	if (!err && tmp.type != EMU_QPT_XRC_TGT)
		err = check_qp_place(c, &req);
	if (!err)
		err = emu_engine_of(c, &slot);
	if (err)
		return err;
	qp = emu_uobj_new(c->file, EMU_T_QP, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	tmp.obj = qp->obj;
	*qp = tmp;
	keep_recv_cap(qp, &req);
	qp->sq_sig_all = flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	emu_qp_hold(qp);
	emu_attr_new(c, UVERBS_ATTR_CREATE_QP_HANDLE, &qp->obj);
	if (qp->type != EMU_QPT_XRC_TGT)
		err = pin_qp(c, &req, qp);
	if (err)
		return err;
	qp->qpn = publish_qp(qp, &req, slot);
	if (qp->qpn && qp->type == EMU_QPT_XRC_TGT)
		emu_xrc_announce(&emu.queues->qp[qp->qpn]);
	return qp->qpn ? qp_answer(c, qp) : -ENOMEM;
}

static bool is_sending(const struct emu_cmd *c, const struct emu_qp *q)
{
	uint8_t word[4];

	if (!q->sq_wqe_count || atomic_load(&q->state) != EMU_QPS_RTS ||
	    q->engine >= EMU_MAX_ENGINES ||
	    emu_copy_from(c->chan->pid, word, q->dbr_addr + sizeof(word), sizeof(word)))
		return false;
	return (uint16_t)(word[2] << 8 | word[3]) != (uint16_t)atomic_load(&q->done);
}

/*
 * To a device the time of a command is long: a message that was posted before is on its way by
 * then. Programs that answer once more and leave rely on that. Engines may be slower.
 */
void emu_let_send(const struct emu_cmd *c, const struct emu_qp *q)
{
	int i;

	for (i = 0; i < LET_SEND_MS * 10 && is_sending(c, q); i++) {
		emu_engine_kick(q->engine);
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
		emu_drain_notes(emu_proc_by_slot(q->engine));
	}
}

static int qp_destroy(struct emu_cmd *c)
{
	struct emu_qp_obj *qp = emu_attr_obj(c, UVERBS_ATTR_DESTROY_QP_HANDLE);
	uint32_t events;

	if (qp->obj.users)
		return -EBUSY;
	emu_let_send(c, &emu.queues->qp[qp->qpn]);
	emu_drain_notes(emu_proc_by_slot(emu.queues->qp[qp->qpn].engine));
	events = qp->async_events - emu_events_retract(qp->async, qp->user_handle);
	emu_uobj_destroy(&qp->obj);
	return emu_attr_out_u32(c, UVERBS_ATTR_DESTROY_QP_RESP, events);
}

#define CQ UVERBS_OBJECT_CQ
#define QP UVERBS_OBJECT_QP

const struct emu_method emu_methods_queue[] = {
	{CQ,
	 UVERBS_METHOD_CQ_CREATE,
	 cq_create,
	 {{UVERBS_ATTR_CREATE_CQ_HANDLE, EMU_A_NEW, true, 0},
	  {UVERBS_ATTR_CREATE_CQ_CQE, EMU_A_IN, true, 4},
	  {UVERBS_ATTR_CREATE_CQ_USER_HANDLE, EMU_A_IN, true, 8},
	  {UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, EMU_A_FD, false, 0},
	  {UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, EMU_A_IN, true, 4},
	  {UVERBS_ATTR_CREATE_CQ_FLAGS, EMU_A_IN, false, 4},
	  {UVERBS_ATTR_CREATE_CQ_RESP_CQE, EMU_A_OUT, true, 4},
	  {UVERBS_ATTR_CREATE_CQ_EVENT_FD, EMU_A_FD, false, 0},
	  {UVERBS_ATTR_UHW_IN, EMU_A_IN, true, 16},
	  {UVERBS_ATTR_UHW_OUT, EMU_A_OUT, true, 4}}},
	{CQ,
	 UVERBS_METHOD_CQ_DESTROY,
	 cq_destroy,
	 {{UVERBS_ATTR_DESTROY_CQ_HANDLE, EMU_A_OBJ, true, EMU_T_CQ},
	  {UVERBS_ATTR_DESTROY_CQ_RESP, EMU_A_OUT, true, 8}}},
	{QP,
	 UVERBS_METHOD_QP_CREATE,
	 qp_create,
	 {{UVERBS_ATTR_CREATE_QP_HANDLE, EMU_A_NEW, true, 0},
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
	  {UVERBS_ATTR_UHW_OUT, EMU_A_OUT, true, 4}}},
	{QP,
	 UVERBS_METHOD_QP_DESTROY,
	 qp_destroy,
	 {{UVERBS_ATTR_DESTROY_QP_HANDLE, EMU_A_OBJ, true, EMU_T_QP},
	  {UVERBS_ATTR_DESTROY_QP_RESP, EMU_A_OUT, true, 4}}},
	{0, 0, NULL, {{0, 0, false, 0}}},
};
