/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Completion queues and queue pairs made by PRM commands. Their rings and doorbell records are in
 * umems of the calling process; the same engine serves them as those of verbs.
 */
#include <errno.h>
#include <string.h>

#include "devx.h"

#define MAX_LOG_CQ     22u
#define MAX_LOG_WQ     15u
#define DBR_BYTES      8u
#define CQC	       EMU_MBOX_HDR /* the contexts' places in the mailboxes */
#define QPC	       0x18
#define CREATE_CQ_IN   0x110u
#define CREATE_QP_IN   0x110u
#define MODIFY_QP_IN   (QPC + EMU_QPC_BYTES)
#define LINE	       64u
#define PATH	       (EMU_PRM_BYTE(0x18)) /* primary address path, in bits of the QP context */
#define RQ_TYPE_NORMAL 0u
#define RQ_TYPE_SHARED 1u
#define RQ_TYPE_NONE   3u

/* --- what both need ------------------------------------------------------------------------------
 */

uint64_t emu_devx_place(const struct emu_cmd *c, const struct emu_umem *u, uint64_t off,
			uint64_t len, uint64_t align)
{
	if (!u || u->dmabuf.id || u->pid != c->chan->pid || off % align || off > u->len ||
	    len > u->len - off)
		return 0;
	return u->addr + off;
}

static void hold(struct emu_uobj *o)
{
	if (o)
		o->users++;
}

static void release(struct emu_uobj *o)
{
	if (o)
		o->users--;
}

/* --- completion queues ---------------------------------------------------------------------------
 */

/* What has a meaning only with cqe_comp_en is reserved without it, and so is another layout. */
static bool fill_session(const struct emu_profile *p, const uint8_t *cqc, struct emu_cq *q)
{
	uint64_t on = emu_prm_get(cqc, 0x11, 1), mini = emu_prm_get(cqc, 0x12, 2);

	if (emu_prm_get(cqc, 0x1e, 2)) /* cqe_compression_layout */
		return false;
	q->session = on ? (uint8_t)p->max_session : 0;
	q->mini = (uint8_t)mini;
	if (!on)
		return !mini;
	return q->session &&
	       (mini == EMU_MINI_HASH || mini == EMU_MINI_CSUM || mini == EMU_MINI_CSUM_STRIDX);
}

static int fill_cq(struct emu_cmd *c, struct emu_mbox *m, struct emu_devx_cq *cq, struct emu_cq *q)
{
	const uint8_t *cqc = m->in + CQC;
	uint64_t size = emu_prm_get(cqc, 0x8, 3), log = emu_prm_get(cqc, 0x63, 5);
	uint64_t eqn = emu_prm_get(cqc, 0xb8, 8);

	/* No 128-byte padding mode. */
	if (size > 1 || log > MAX_LOG_CQ || !fill_session(c->file->func->card->profile, cqc, q))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x70);
	if (!eqn || eqn > EMU_COMP_VECTORS || !emu_has_uar(c->file, emu_prm_get(cqc, 0x68, 24)))
		return emu_refuse(m, EMU_STATUS_BAD_RES, 0x71);
	q->entries = 1u << log;
	q->cqe_size = size ? 128 : 64;
	q->overwrites = (uint8_t)emu_prm_get(cqc, 0xe, 1); /* oi */
	cq->buf = emu_devx_umem_by_id(c->file, emu_prm_get(m->in, EMU_PRM_BYTE(0x58), 32));
	cq->dbr = emu_devx_umem_by_id(c->file, emu_prm_get(cqc, EMU_PRM_BYTE(4), 32));
	if (!cq->buf || !cq->dbr)
		return emu_refuse(m, EMU_STATUS_BAD_RES, 0x72);
	if (!(cq->buf->access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x77);
	q->buf_addr = emu_devx_place(c, cq->buf, emu_prm_get(m->in, EMU_PRM_BYTE(0x50), 64),
				     (uint64_t)q->entries * q->cqe_size, LINE);
	q->dbr_addr = emu_devx_place(c, cq->dbr, emu_prm_get(cqc, EMU_PRM_BYTE(0x38), 64),
				     DBR_BYTES, DBR_BYTES);
	return q->buf_addr && q->dbr_addr ? 0 : emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x73);
}

/* From the top, as verbs begin at the bottom: a number rests for a while before it is used again.
 */
static uint32_t new_cqn(void)
{
	static uint32_t last = EMU_FIRST_QPN;
	uint32_t n;

	for (n = 0; n < EMU_MAX_CQS; n++) {
		if (++last >= EMU_MAX_CQS)
			last = 1;
		if (!atomic_load(&emu.queues->cq[last].serial))
			return last;
	}
	return 0;
}

static void publish_cq(uint32_t cqn, const struct emu_cq *as)
{
	struct emu_cq *q = &emu.queues->cq[cqn];

	memcpy((char *)q + sizeof(q->serial), (const char *)as + sizeof(as->serial),
	       sizeof(*q) - sizeof(q->serial));
	atomic_store_explicit(&q->serial, emu_new_serial(), memory_order_release);
	if (atomic_load(&emu.queues->cq_high) <= cqn)
		atomic_store(&emu.queues->cq_high, cqn + 1);
	emu_engine_kick(q->engine);
}

int emu_devx_create_cq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const uint32_t unarmed = EMU_CQ_UNARMED;
	struct emu_devx_cq *cq = (struct emu_devx_cq *)o;
	struct emu_cq q = {0};
	int err;

	if (m->in_len < CREATE_CQ_IN)
		return emu_refuse(m, EMU_STATUS_BAD_INP_LEN, 0x74);
	err = fill_cq(c, m, cq, &q);
	if (!err)
		err = emu_engine_of(c, &q.engine);
	if (err)
		return err;
	/* Subscribers may want its completions: its arm word is looked at like that of a verbs CQ.
	 */
	q.has_channel = 1;
	err = emu_copy_to(c->chan->pid, q.dbr_addr + 4, &unarmed, sizeof(unarmed));
	if (err)
		return err;
	cq->cqn = new_cqn();
	if (!cq->cqn)
		return emu_refuse(m, EMU_STATUS_LIM, 0x75);
	q.file = o->file->ino;
	q.handle = o->handle;
	publish_cq(cq->cqn, &q);
	hold(&cq->buf->obj);
	hold(&cq->dbr->obj);
	memcpy(cq->cqc, m->in + CQC, sizeof(cq->cqc));
	emu_prm_set(m->out, EMU_PRM_BYTE(9), 24, cq->cqn);
	return 0;
}

int emu_devx_cq_undo(struct emu_uobj *o)
{
	struct emu_devx_cq *cq = (struct emu_devx_cq *)o;
	struct emu_cq *q = &emu.queues->cq[cq->cqn];

	if (!cq->cqn)
		return 0;
	atomic_store(&q->serial, 0);
	emu_grace();
	emu_engine_kick(q->engine);
	release(&cq->buf->obj);
	release(&cq->dbr->obj);
	return 0;
}

int emu_devx_query_cq(const struct emu_devx_cq *cq, struct emu_mbox *m)
{
	if (emu_prm_get(m->in, EMU_PRM_BYTE(9), 24) != cq->cqn)
		return -EINVAL;
	if (m->out_len < CQC + sizeof(cq->cqc))
		return emu_refuse(m, EMU_STATUS_BAD_OUTP_LEN, 0x76);
	memcpy(m->out + CQC, cq->cqc, sizeof(cq->cqc));
	if (atomic_load(&emu.queues->cq[cq->cqn].error))
		emu_prm_set(m->out + CQC, 0, 4, 0x9); /* status: overflow */
	return 0;
}

/* --- queue pairs ---------------------------------------------------------------------------------
 */

/* A CQ of the file, however it was made. */
static struct emu_uobj *cq_by_number(const struct emu_file *f, uint64_t cqn)
{
	unsigned int i;

	for (i = 0; i < f->nobjs; i++) {
		struct emu_uobj *o = f->objs[i];

		if (o && ((o->type == EMU_T_CQ && ((struct emu_cq_obj *)o)->cqn == cqn) ||
			  (o->type == EMU_T_DEVX_CQ && ((struct emu_devx_cq *)o)->cqn == cqn)))
			return o;
	}
	return NULL;
}

static struct emu_uobj *srq_by_number(const struct emu_file *f, uint64_t srqn)
{
	unsigned int i;

	for (i = 0; i < f->nobjs; i++) {
		struct emu_uobj *o = f->objs[i];

		if (o && ((o->type == EMU_T_SRQ && ((struct emu_srq_obj *)o)->srqn == srqn) ||
			  (o->type == EMU_T_DEVX_RMP && ((struct emu_devx_rmp *)o)->srqn == srqn)))
			return o;
	}
	return NULL;
}

static int fill_srq(const struct emu_file *f, struct emu_mbox *m, struct emu_devx_qp *qp,
		    struct emu_qp *q)
{
	uint64_t srqn = emu_prm_get(m->in + QPC, 0x568, 24);

	if (emu_prm_get(m->in + QPC, 0x565, 3) != RQ_TYPE_SHARED)
		return 0;
	qp->srq = srqn ? srq_by_number(f, srqn) : NULL;
	if (!qp->srq || emu.queues->srq[srqn].type != EMU_SRQT_BASIC)
		return emu_refuse(m, EMU_STATUS_BAD_RES, 0x8b);
	q->srqn = (uint32_t)srqn;
	return 0;
}

static int fill_type(struct emu_mbox *m, struct emu_qp *q)
{
	static const uint8_t types[] = {EMU_QPT_RC, EMU_QPT_UC};
	const uint8_t *qpc = m->in + QPC;
	uint64_t st = emu_prm_get(qpc, 0x8, 8), rq = emu_prm_get(qpc, 0x565, 3);

	if (st >= sizeof(types) ||
	    (rq != RQ_TYPE_NORMAL && rq != RQ_TYPE_SHARED && rq != RQ_TYPE_NONE) ||
	    emu_prm_get(qpc, 0x51, 4) > MAX_LOG_WQ || emu_prm_get(qpc, 0x49, 4) > MAX_LOG_WQ)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x80);
	q->type = types[st];
	if (!emu_prm_get(qpc, 0x50, 1)) /* no_sq */
		q->sq_wqe_count = 1u << emu_prm_get(qpc, 0x51, 4);
	if (rq == RQ_TYPE_NORMAL) {
		q->rq_wqe_count = 1u << emu_prm_get(qpc, 0x49, 4);
		q->rq_wqe_shift = (uint32_t)emu_prm_get(qpc, 0x4d, 3) + 4;
	}
	return 0;
}

static int fill_memory(struct emu_cmd *c, struct emu_mbox *m, struct emu_devx_qp *qp,
		       struct emu_qp *q)
{
	const uint8_t *qpc = m->in + QPC;
	uint64_t len =
		((uint64_t)q->rq_wqe_count << q->rq_wqe_shift) + (uint64_t)q->sq_wqe_count * LINE;

	qp->buf = emu_devx_umem_by_id(c->file, emu_prm_get(m->in, EMU_PRM_BYTE(0x108), 32));
	qp->dbr = emu_devx_umem_by_id(c->file, emu_prm_get(qpc, 0x720, 32));
	if (!qp->buf || !qp->dbr)
		return emu_refuse(m, EMU_STATUS_BAD_RES, 0x81);
	q->buf_addr =
		emu_devx_place(c, qp->buf, emu_prm_get(m->in, EMU_PRM_BYTE(0x100), 64), len, LINE);
	q->dbr_addr = emu_devx_place(c, qp->dbr, emu_prm_get(qpc, 0x500, 64), DBR_BYTES, DBR_BYTES);
	return q->buf_addr && q->dbr_addr ? 0 : emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x82);
}

static int fill_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_devx_qp *qp, struct emu_qp *q)
{
	const uint8_t *qpc = m->in + QPC;
	int err = fill_type(m, q);

	if (err)
		return err;
	qp->pd = emu_pd_by_number(c->file, (uint32_t)emu_prm_get(qpc, 0x28, 24));
	qp->send_cq = cq_by_number(c->file, emu_prm_get(qpc, 0x3e8, 24));
	qp->recv_cq = cq_by_number(c->file, emu_prm_get(qpc, 0x4e8, 24));
	if (!qp->pd || !qp->send_cq || !qp->recv_cq ||
	    !emu_has_uar(c->file, emu_prm_get(qpc, 0x68, 24)))
		return emu_refuse(m, EMU_STATUS_BAD_RES, 0x83);
	q->func = c->file->func->index;
	q->pdn = qp->pd->pdn;
	q->uidx = (uint32_t)emu_prm_get(qpc, 0x88, 24);
	q->send_cqn = (uint32_t)emu_prm_get(qpc, 0x3e8, 24);
	q->recv_cqn = (uint32_t)emu_prm_get(qpc, 0x4e8, 24);
	q->dest_func = UINT32_MAX;
	err = fill_srq(c->file, m, qp, q);
	return err ? err : fill_memory(c, m, qp, q);
}

static uint32_t new_qpn(void)
{
	static uint32_t last = EMU_FIRST_QPN;
	uint32_t n;

	for (n = 0; n < EMU_MAX_QPS; n++) {
		if (++last >= EMU_MAX_QPS)
			last = EMU_FIRST_QPN;
		if (!atomic_load(&emu.queues->qp[last].serial))
			return last;
	}
	return 0;
}

static void publish_qp(uint32_t qpn, const struct emu_qp *as)
{
	struct emu_qp *q = &emu.queues->qp[qpn];

	memcpy((char *)q + sizeof(q->serial), (const char *)as + sizeof(as->serial),
	       sizeof(*q) - sizeof(q->serial));
	atomic_store_explicit(&q->serial, emu_new_serial(), memory_order_release);
	if (atomic_load(&emu.queues->qp_high) <= qpn)
		atomic_store(&emu.queues->qp_high, qpn + 1);
	emu_engine_kick(q->engine);
}

int emu_devx_create_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_devx_qp *qp = (struct emu_devx_qp *)o;
	struct emu_qp q = {0};
	int err;

	if (m->in_len < CREATE_QP_IN)
		return emu_refuse(m, EMU_STATUS_BAD_INP_LEN, 0x84);
	err = fill_qp(c, m, qp, &q);
	if (!err)
		err = emu_engine_of(c, &q.engine);
	if (err)
		return err;
	qp->qpn = new_qpn();
	if (!qp->qpn)
		return emu_refuse(m, EMU_STATUS_LIM, 0x85);
	q.file = o->file->ino;
	q.handle = o->handle;
	publish_qp(qp->qpn, &q);
	hold(&qp->pd->obj);
	hold(qp->send_cq);
	hold(qp->recv_cq);
	hold(qp->srq);
	hold(&qp->buf->obj);
	hold(&qp->dbr->obj);
	memcpy(qp->qpc, m->in + QPC, sizeof(qp->qpc));
	emu_prm_set(m->out, EMU_PRM_BYTE(9), 24, qp->qpn);
	return 0;
}

int emu_devx_qp_undo(struct emu_uobj *o)
{
	struct emu_devx_qp *qp = (struct emu_devx_qp *)o;
	struct emu_qp *q = &emu.queues->qp[qp->qpn];

	if (!qp->qpn)
		return 0;
	atomic_store(&q->serial, 0);
	emu_grace();
	emu_inbox_drop(&q->inbox);
	emu_engine_kick(q->engine);
	release(&qp->pd->obj);
	release(qp->send_cq);
	release(qp->recv_cq);
	release(qp->srq);
	release(&qp->buf->obj);
	release(&qp->dbr->obj);
	return 0;
}

/* --- transitions ---------------------------------------------------------------------------------
 */

/* A field of the QP context that a transition sets; with `optpar` only if that bit is set. */
struct qpc_field {
	uint16_t bit, width;
	uint16_t optpar;
};

#define OPT_RRE (1u << 1)
#define OPT_RAE (1u << 2)
#define OPT_RWE (1u << 3)
#define OPT_RNR (1u << 6)

#define RIGHTS(rre, rae, rwe)                 \
	{0x490, 1, (rre)}, {0x491, 1, (rwe)}, \
	{                                     \
		0x492, 1, (rae)               \
	}

static const struct qpc_field init_fields[] = {
	RIGHTS(0, 0, 0), {PATH + 0x10, 16, 0}, {PATH + 0x128, 8, 0}, {0, 0, 0}};
static const struct qpc_field rtr_fields[] = {
	RIGHTS(OPT_RRE, OPT_RAE, OPT_RWE),
	{0x40, 8, 0},	/* mtu, log_msg_max */
	{0xa8, 24, 0},	/* remote_qpn */
	{0x488, 3, 0},	/* log_rra_max */
	{0x4a3, 5, 0},	/* min_rnr_nak */
	{0x4a8, 24, 0}, /* next_rcv_psn */
	{PATH + 0x28, 24, 0},
	{PATH + 0x48, 24, 0}, /* from src_addr_index on: what ack_timeout leaves of this word */
	{PATH + 0x60, 32, 0},
	{PATH + 0x80, 64, 0}, /* rgid */
	{PATH + 0xc0, 64, 0},
	{PATH + 0x100, 64, 0}, /* port and MAC */
	{PATH + 0x140, 32, 0},
	{0, 0, 0}};
static const struct qpc_field rts_fields[] = {RIGHTS(OPT_RRE, OPT_RAE, OPT_RWE),
					      {0x388, 3, 0},  /* log_sra_max */
					      {0x38d, 6, 0},  /* retry_count, rnr_retry */
					      {0x3c8, 24, 0}, /* next_send_psn */
					      {PATH + 0x40, 5, 0},
					      {0x4a3, 5, OPT_RNR},
					      {0, 0, 0}};
static const struct qpc_field later_fields[] = {
	RIGHTS(OPT_RRE, OPT_RAE, OPT_RWE), {0x4a3, 5, OPT_RNR}, {0, 0, 0}};
static const struct qpc_field no_fields[] = {{0, 0, 0}};

#define ANY_STATE 0xff

static const struct transition {
	uint16_t opcode;
	uint8_t from, to;
	const struct qpc_field *fields;
} transitions[] = {
	{0x502, EMU_QPS_RESET, EMU_QPS_INIT, init_fields},
	{0x503, EMU_QPS_INIT, EMU_QPS_RTR, rtr_fields},
	{0x504, EMU_QPS_RTR, EMU_QPS_RTS, rts_fields},
	{0x505, EMU_QPS_RTS, EMU_QPS_RTS, later_fields},
	{0x506, EMU_QPS_SQE, EMU_QPS_RTS, later_fields},
	{0x507, ANY_STATE, EMU_QPS_ERR, no_fields},
	{0x50a, ANY_STATE, EMU_QPS_RESET, no_fields},
};

static const struct transition *find_transition(uint16_t opcode)
{
	size_t i;

	for (i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++)
		if (transitions[i].opcode == opcode)
			return &transitions[i];
	return NULL;
}

static void merge(uint8_t *qpc, const struct emu_mbox *m, const struct qpc_field *f)
{
	uint64_t mask = emu_prm_get(m->in, EMU_PRM_BYTE(0x10), 32);

	for (; f->width; f++)
		if (!f->optpar || mask & f->optpar)
			emu_prm_set(qpc, f->bit, f->width,
				    emu_prm_get(m->in + QPC, f->bit, f->width));
}

/* What the firmware refuses of a context: in RoCE the path is a global one. */
static bool valid(const struct emu_func *f, const uint8_t *qpc, uint32_t to)
{
	static const uint8_t none[16];
	uint64_t mtu = emu_prm_get(qpc, 0x40, 3), gid = emu_prm_get(qpc, PATH + 0x48, 8);

	if (emu_prm_get(qpc, PATH + 0x10, 16) || emu_prm_get(qpc, PATH + 0x128, 8) != 1)
		return false;
	if (to == EMU_QPS_INIT)
		return true;
	return mtu >= 1 && mtu <= 5 && gid < EMU_GIDS &&
	       memcmp(f->gid[gid], none, sizeof(none)) != 0 && emu_prm_get(qpc, 0x43, 5) <= 30;
}

static void apply(struct emu_qp *q, const uint8_t *qpc, uint32_t to)
{
	const struct emu_func *peer;

	q->access = (emu_prm_get(qpc, 0x490, 1) ? IB_UVERBS_ACCESS_REMOTE_READ : 0u) |
		    (emu_prm_get(qpc, 0x491, 1) ? IB_UVERBS_ACCESS_REMOTE_WRITE : 0u) |
		    (emu_prm_get(qpc, 0x492, 1) ? IB_UVERBS_ACCESS_REMOTE_ATOMIC : 0u);
	q->min_rnr_timer = (uint8_t)emu_prm_get(qpc, 0x4a3, 5);
	q->timeout = (uint8_t)emu_prm_get(qpc, PATH + 0x40, 5);
	q->retry_cnt = (uint8_t)emu_prm_get(qpc, 0x38d, 3);
	q->rnr_retry = (uint8_t)emu_prm_get(qpc, 0x390, 3);
	if (to != EMU_QPS_RTR)
		return;
	q->dest_qpn = (uint32_t)emu_prm_get(qpc, 0xa8, 24);
	peer = emu_func_by_gid(qpc + PATH / 8 + 0x10);
	q->dest_func = peer ? peer->index : UINT32_MAX;
}

/* `kept` is the context as the commands so far have made it; it changes only if this one succeeds.
 */
static int transit(const struct emu_func *f, uint32_t qpn, uint8_t *kept, struct emu_mbox *m)
{
	const struct transition *t = find_transition(m->opcode);
	struct emu_qp *q = &emu.queues->qp[qpn];
	uint8_t qpc[EMU_QPC_BYTES];
	int err;

	if (!t || emu_prm_get(m->in, EMU_PRM_BYTE(9), 24) != qpn)
		return -EINVAL; /* the kernel compares it with the handle's */
	if (t->from != ANY_STATE && atomic_load(&q->state) != t->from)
		return emu_refuse(m, EMU_STATUS_BAD_QP_STATE, 0x86);
	memcpy(qpc, kept, sizeof(qpc));
	if (t->fields[0].width) {
		if (m->in_len < MODIFY_QP_IN)
			return emu_refuse(m, EMU_STATUS_BAD_INP_LEN, 0x87);
		merge(qpc, m, t->fields);
		if (!valid(f, qpc, t->to))
			return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x88);
		memcpy(kept, qpc, sizeof(qpc));
		apply(q, qpc, t->to);
	}
	err = emu_qp_set_state(q, t->from, t->to);
	emu_engine_kick(q->engine);
	return err ? emu_refuse(m, EMU_STATUS_BAD_QP_STATE, 0x89) : 0;
}

int emu_devx_modify_qp(const struct emu_func *f, struct emu_devx_qp *qp, struct emu_mbox *m)
{
	return transit(f, qp->qpn, qp->qpc, m);
}

static uint64_t log_of(uint32_t n)
{
	uint64_t log = 0;

	while (n >>= 1)
		log++;
	return log;
}

static void to_qpc(const struct ib_uverbs_modify_qp *a, uint8_t *qpc)
{
	const struct emu_prm_field fields[] = {
		{0x40, 3, a->path_mtu},
		{0xa8, 24, a->dest_qp_num},
		{PATH + 0x10, 16, a->pkey_index},
		{PATH + 0x40, 5, a->timeout},
		{PATH + 0x48, 8, a->dest.sgid_index},
		{PATH + 0x58, 8, a->dest.hop_limit},
		{PATH + 0x128, 8, a->port_num},
		{0x388, 3, log_of(a->max_rd_atomic)},
		{0x38d, 3, a->retry_cnt},
		{0x390, 3, a->rnr_retry},
		{0x3c8, 24, a->sq_psn},
		{0x488, 3, log_of(a->max_dest_rd_atomic)},
		{0x490, 1, (a->qp_access_flags & IB_UVERBS_ACCESS_REMOTE_READ) != 0},
		{0x491, 1, (a->qp_access_flags & IB_UVERBS_ACCESS_REMOTE_WRITE) != 0},
		{0x492, 1, (a->qp_access_flags & IB_UVERBS_ACCESS_REMOTE_ATOMIC) != 0},
		{0x4a3, 5, a->min_rnr_timer},
		{0x4a8, 24, a->rq_psn},
	};

	EMU_PRM_FILL(qpc, fields);
	memcpy(qpc + PATH / 8 + 0x10, a->dest.dgid, sizeof(a->dest.dgid));
}

static void from_qpc(struct ib_uverbs_modify_qp *a, const uint8_t *qpc)
{
	a->path_mtu = (uint8_t)emu_prm_get(qpc, 0x40, 3);
	a->dest_qp_num = (uint32_t)emu_prm_get(qpc, 0xa8, 24);
	a->pkey_index = (uint16_t)emu_prm_get(qpc, PATH + 0x10, 16);
	a->timeout = (uint8_t)emu_prm_get(qpc, PATH + 0x40, 5);
	a->port_num = (uint8_t)emu_prm_get(qpc, PATH + 0x128, 8);
	a->max_rd_atomic = (uint8_t)(1u << emu_prm_get(qpc, 0x388, 3));
	a->retry_cnt = (uint8_t)emu_prm_get(qpc, 0x38d, 3);
	a->rnr_retry = (uint8_t)emu_prm_get(qpc, 0x390, 3);
	a->sq_psn = (uint32_t)emu_prm_get(qpc, 0x3c8, 24);
	a->max_dest_rd_atomic = (uint8_t)(1u << emu_prm_get(qpc, 0x488, 3));
	a->min_rnr_timer = (uint8_t)emu_prm_get(qpc, 0x4a3, 5);
	a->rq_psn = (uint32_t)emu_prm_get(qpc, 0x4a8, 24);
	a->qp_access_flags =
		(uint32_t)((emu_prm_get(qpc, 0x490, 1) * IB_UVERBS_ACCESS_REMOTE_READ) |
			   (emu_prm_get(qpc, 0x491, 1) * IB_UVERBS_ACCESS_REMOTE_WRITE) |
			   (emu_prm_get(qpc, 0x492, 1) * IB_UVERBS_ACCESS_REMOTE_ATOMIC));
	memcpy(a->dest.dgid, qpc + PATH / 8 + 0x10, sizeof(a->dest.dgid));
	a->dest.sgid_index = (uint8_t)emu_prm_get(qpc, PATH + 0x48, 8);
	a->dest.hop_limit = (uint8_t)emu_prm_get(qpc, PATH + 0x58, 8);
	a->dest.port_num = a->port_num;
	a->dest.is_global = 1;
}

/* mlx5dv_devx_qp_modify(): its context is told, in verbs' words, by QUERY_QP. */
int emu_devx_modify_verbs_qp(const struct emu_func *f, struct emu_qp_obj *qp, struct emu_mbox *m)
{
	uint8_t qpc[EMU_QPC_BYTES] = {0};
	int err;

	if (qp->type != EMU_QPT_RC && qp->type != EMU_QPT_UC)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x8c);
	to_qpc(&qp->attr, qpc);
	err = transit(f, qp->qpn, qpc, m);
	if (!err)
		from_qpc(&qp->attr, qpc);
	return err;
}

int emu_devx_query_qp(uint32_t qpn, const uint8_t *qpc, struct emu_mbox *m)
{
	/* The PRM's numbers of enum emu_qp_state. */
	static const uint8_t states[] = {0, 1, 2, 3, 5, 4, 6};
	const struct emu_qp *q = &emu.queues->qp[qpn];
	uint32_t state = atomic_load(&q->state);

	if (emu_prm_get(m->in, EMU_PRM_BYTE(9), 24) != qpn)
		return -EINVAL;
	if (m->out_len < QPC + EMU_QPC_BYTES)
		return emu_refuse(m, EMU_STATUS_BAD_OUTP_LEN, 0x8a);
	memcpy(m->out + QPC, qpc, EMU_QPC_BYTES);
	emu_prm_set(m->out + QPC, 0, 4, state < sizeof(states) ? states[state] : 0xf);
	return 0;
}

static uint64_t rq_type(const struct emu_qp *q)
{
	if (q->srqn || q->type == EMU_QPT_XRC_INI || q->type == EMU_QPT_XRC_TGT)
		return RQ_TYPE_SHARED;
	return q->rq_wqe_count ? RQ_TYPE_NORMAL : RQ_TYPE_NONE;
}

/* mlx5dv_devx_qp_query(): the context that the kernel's commands have made of it. */
int emu_devx_query_verbs_qp(const struct emu_qp_obj *qp, struct emu_mbox *m)
{
	/* The PRM's service types of enum emu_qp_type. */
	static const uint8_t service[] = {
		[EMU_QPT_UC] = 1, [EMU_QPT_UD] = 2, [EMU_QPT_XRC_INI] = 3, [EMU_QPT_XRC_TGT] = 3};
	const struct emu_qp *q = &emu.queues->qp[qp->qpn];
	const struct emu_prm_field fields[] = {
		{0x8, 8, service[qp->type]},
		{0x28, 24, q->pdn},
		{0x49, 4, log_of(q->rq_wqe_count)},
		{0x4d, 3, q->rq_wqe_count ? q->rq_wqe_shift - 4 : 0},
		{0x50, 1, !q->sq_wqe_count},
		{0x51, 4, log_of(q->sq_wqe_count)},
		{0x88, 24, q->uidx},
		{0x3e8, 24, q->send_cqn},
		{0x4e8, 24, q->recv_cqn},
		{0x500, 64, q->dbr_addr},
		{0x565, 3, rq_type(q)},
		{0x568, 24, q->srqn},
	};
	uint8_t qpc[EMU_QPC_BYTES] = {0};

	to_qpc(&qp->attr, qpc);
	EMU_PRM_FILL(qpc, fields);
	return emu_devx_query_qp(qp->qpn, qpc, m);
}
