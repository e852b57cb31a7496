/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/queue.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/groups.h"
#include "emu/server/card/qp_context.h"
#include "emu/server/card/queue_context.h"
#include "emu/server/card/queue_table.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/topology.h"
#include "emu/server/firmware/rmp.h"
#include "emu/server/mm/user_copy.h"
#include "emu/server/uverbs/cq.h"
#include "emu/server/uverbs/pd.h"
#include "emu/server/uverbs/qp.h"
#include "emu/server/uverbs/queue.h"
#include "emu/server/uverbs/srq.h"
#include "emu/server/uverbs/uar.h"
#include "emu/server/uverbs/xrc.h"
#include "emu/server/wire/endpoints.h"

#define MAX_LOG_WQ     15u
#define MAX_LOG_STRIDE 9u /* max_wqe_sz_rq */

/* --- completion queues ------------------------------------------------------------------------ */

uint32_t emu_cq_number(const struct emu_uobj *o)
{
	if (o->type == EMU_T_CQ)
		return ((const struct emu_cq_obj *)o)->cqn;
	return o->type == EMU_T_DEVX_CQ ? ((const struct emu_devx_cq *)o)->cqn : 0;
}

/* Fields that need cqe_comp_en are reserved without it; so is another layout. */
static bool is_session_valid(const struct emu_profile *p, const uint8_t *cqc)
{
	uint64_t mini = emu_prm_get(cqc, EMU_CQC_MINI_CQE_RES_FORMAT);

	if (emu_prm_get(cqc, EMU_CQC_CQE_COMP_LAYOUT))
		return false;
	if (!emu_prm_get(cqc, EMU_CQC_CQE_COMP_EN))
		return !mini;
	return p->max_session &&
	       (mini == EMU_MINI_HASH || mini == EMU_MINI_CSUM || mini == EMU_MINI_CSUM_STRIDX);
}

/* An object of a function's driver by its number; NULL: there is none, or the file is a program's. */
static struct emu_uobj *driver_object(const struct emu_file *f, enum emu_type type, uint64_t number)
{
	struct emu_uobj *o = NULL;

	if (!f->driver)
		return NULL;
	while ((o = emu_uobj_next(f, type, o)) && o->number != number)
		;
	return o && emu_uobj_is_reachable(o) ? o : NULL;
}

/* Programs have the event queues of the kernel's vectors. */
static bool has_eq(const struct emu_file *f, uint64_t eqn)
{
	if (f->driver)
		return driver_object(f, EMU_T_EQ, eqn);
	return eqn && eqn <= EMU_COMP_VECTORS;
}

static int fill_cq(struct emu_cmd *c, struct emu_mbox *m, struct emu_devx_cq *cq, struct emu_cq *q)
{
	const struct emu_profile *p = c->file->func->card->profile;
	const uint8_t *cqc = emu_prm_at_const(m->in, EMU_CREATE_CQ_IN_CQC);
	uint64_t eqn = emu_prm_get(cqc, EMU_CQC_C_EQN);

	/* No periods that begin with a completion. */
	if (emu_prm_get(cqc, EMU_CQC_CQE_SZ) > EMU_CQE_SZ_128_PADDED ||
	    emu_prm_get(cqc, EMU_CQC_LOG_CQ_SIZE) > EMU_MAX_LOG_CQ ||
	    emu_prm_get(cqc, EMU_CQC_CQ_PERIOD_MODE) || !is_session_valid(p, cqc))
		return emu_refuse(m, EMU_CMD_SYN_CQ_CONTEXT);
	if (!has_eq(c->file, eqn)) /* of a program, the kernel finds it before the firmware does */
		return c->file->driver ? emu_refuse(m, EMU_CMD_SYN_CQ_RESOURCE) : -ENOENT;
	if (!emu_has_uar(c->file, emu_prm_get(cqc, EMU_CQC_UAR_PAGE)))
		return emu_refuse(m, EMU_CMD_SYN_CQ_RESOURCE);
	cq->eq = driver_object(c->file, EMU_T_EQ, eqn);
	cq->uar = driver_object(c->file, EMU_T_UAR, emu_prm_get(cqc, EMU_CQC_UAR_PAGE));
	emu_cq_read_context(p, cqc, q);
	cq->buf = emu_devx_umem_by_id(c->file, emu_prm_get(m->in, EMU_CREATE_CQ_IN_CQ_UMEM_ID));
	cq->dbr = emu_devx_umem_by_id(c->file, emu_prm_get(cqc, EMU_CQC_DBR_UMEM_ID));
	if (!cq->buf || !cq->dbr)
		return emu_refuse(m, EMU_CMD_SYN_CQ_UMEM);
	if (!(cq->buf->access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return emu_refuse(m, EMU_CMD_SYN_CQ_UMEM_ACCESS);
	q->buf_addr =
		emu_devx_address(c, cq->buf, emu_prm_get(m->in, EMU_CREATE_CQ_IN_CQ_UMEM_OFFSET),
				 (uint64_t)q->entries * q->cqe_size, EMU_RING_LINE);
	q->dbr_addr = emu_devx_address(c, cq->dbr, emu_prm_get(cqc, EMU_CQC_DBR_ADDR),
				       EMU_DBR_BYTES, EMU_DBR_BYTES);
	return q->buf_addr && q->dbr_addr ? 0 : emu_refuse(m, EMU_CMD_SYN_CQ_UMEM_RANGE);
}

int emu_devx_create_cq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const uint32_t unarmed = EMU_CQ_UNARMED;
	struct emu_devx_cq *cq = (struct emu_devx_cq *)o;
	struct emu_cq q = {0};
	int err;

	if (m->in_len < EMU_CREATE_CQ_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_CQ_IN_LEN);
	err = fill_cq(c, m, cq, &q);
	if (!err)
		err = emu_engine_of(c, &q.engine);
	if (err)
		return err;
	/*
	 * Clients may subscribe to its completions, so its arm word is checked like that of a
	 * verbs CQ.
	 */
	q.has_channel = 1;
	err = emu_copy_to(c->chan->pid, q.dbr_addr + 4, &unarmed, sizeof(unarmed));
	if (err)
		return err;
	q.file = o->file->ino;
	q.handle = o->handle;
	cq->cqn = emu_cq_publish(&q);
	if (!cq->cqn)
		return emu_refuse(m, EMU_CMD_SYN_CQ_LIMIT);
	emu_uobj_hold(&cq->buf->obj);
	emu_uobj_hold(&cq->dbr->obj);
	emu_uobj_hold(cq->eq);
	emu_uobj_hold(cq->uar);
	emu_cq_begin_context(cq->cqn, emu_prm_at_const(m->in, EMU_CREATE_CQ_IN_CQC));
	emu_prm_set(m->out, EMU_CMD_OUT_NUMBER, cq->cqn);
	return 0;
}

int emu_devx_cq_undo(struct emu_uobj *o)
{
	struct emu_devx_cq *cq = (struct emu_devx_cq *)o;

	if (!cq->cqn)
		return 0;
	emu_cq_withdraw(cq->cqn);
	emu_uobj_release(&cq->buf->obj);
	emu_uobj_release(&cq->dbr->obj);
	emu_uobj_release(cq->eq);
	emu_uobj_release(cq->uar);
	return 0;
}

uint32_t emu_devx_eqn(const struct emu_uobj *cq)
{
	return (uint32_t)emu_prm_get(emu_cq_context(emu_cq_number(cq)), EMU_CQC_C_EQN);
}

struct emu_devx_cq *emu_devx_cq_by_number(const struct emu_file *f, uint64_t number)
{
	struct emu_devx_cq *cq = NULL;

	while ((cq = emu_uobj_next(f, EMU_T_DEVX_CQ, cq)) && cq->cqn != number)
		;
	return cq && emu_uobj_is_reachable(&cq->obj) ? cq : NULL;
}

int emu_devx_query_cq(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const uint32_t cqn = emu_cq_number(o);
	uint8_t *cqc = emu_prm_at(m->out, EMU_QUERY_CQ_OUT_CQC);

	(void)c;
	if (emu_prm_get(m->in, EMU_OBJECT_IN_NUMBER) != cqn)
		return -EINVAL;
	if (m->out_len < EMU_QUERY_CQ_OUT_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_QUERY_CQ_OUT_LEN);
	memcpy(cqc, emu_cq_context(cqn), EMU_CQC_BYTES);
	if (atomic_load(&emu_queues->cq[cqn].error))
		emu_prm_set(cqc, EMU_CQC_STATUS, EMU_CQC_STATUS_OVERFLOW);
	return 0;
}

/* --- queue pairs ------------------------------------------------------------------------------ */

struct emu_uobj *emu_queue_by_number(const struct emu_file *f, uint64_t number,
				     uint32_t (*number_of)(const struct emu_uobj *o))
{
	for (unsigned int i = 0; number && i < f->nobjs; i++)
		if (f->objs[i] && number_of(f->objs[i]) == number)
			return emu_uobj_is_reachable(f->objs[i]) ? f->objs[i] : NULL;
	return NULL;
}

static int find_srq(const struct emu_file *f, struct emu_mbox *m, struct emu_devx_qp *qp,
		    const struct emu_qp *q)
{
	const uint8_t *qpc = emu_prm_at_const(m->in, EMU_CREATE_QP_IN_QPC);
	uint64_t srqn = emu_prm_get(qpc, EMU_QPC_SRQN_RMPN_XRQN);

	if (q->type == EMU_QPT_DCI || emu_prm_get(qpc, EMU_QPC_RQ_TYPE) != EMU_QPC_RQ_TYPE_SHARED)
		return 0;
	if (q->type == EMU_QPT_XRC_INI || q->type == EMU_QPT_XRC_TGT) {
		qp->xrcd = emu_xrcd_by_number(f, q->xrcdn);
		return qp->xrcd ? 0 : emu_refuse(m, EMU_CMD_SYN_QP_RESOURCE);
	}
	qp->srq = emu_queue_by_number(f, srqn, emu_srq_number);
	if (!qp->srq || emu_queues->srq[srqn].type != EMU_SRQT_BASIC)
		return emu_refuse(m, EMU_CMD_SYN_QP_SRQ);
	return 0;
}

/* Some are only for a function's driver. 0: the card has no such service. */
static uint8_t service_type(const struct emu_file *f, const uint8_t *qpc)
{
	const bool target = emu_prm_get(qpc, EMU_QPC_NO_SQ);

	switch (emu_prm_get(qpc, EMU_QPC_ST)) {
	case EMU_QPC_ST_RC:
		return EMU_QPT_RC;
	case EMU_QPC_ST_UC:
		return EMU_QPT_UC;
	case EMU_QPC_ST_REG_UMR:
		return f->driver ? EMU_QPT_RC : 0;
	case EMU_QPC_ST_UD:
		return EMU_QPT_UD;
	case EMU_QPC_ST_QP1:
		return f->driver ? EMU_QPT_UD : 0;
	case EMU_QPC_ST_DCI:
		return EMU_QPT_DCI;
	case EMU_QPC_ST_XRC:
		return !f->driver ? 0 : target ? EMU_QPT_XRC_TGT : EMU_QPT_XRC_INI;
	default:
		return 0;
	}
}

static int fill_type(const struct emu_file *f, struct emu_mbox *m, struct emu_qp *q)
{
	const uint8_t *qpc = emu_prm_at_const(m->in, EMU_CREATE_QP_IN_QPC);
	uint64_t rq = emu_prm_get(qpc, EMU_QPC_RQ_TYPE);

	q->type = service_type(f, qpc);
	if (!q->type || emu_prm_get(qpc, EMU_QPC_WQ_SIGNATURE) ||
	    (rq != EMU_QPC_RQ_TYPE_REGULAR && rq != EMU_QPC_RQ_TYPE_SHARED &&
	     rq != EMU_QPC_RQ_TYPE_NONE) ||
	    emu_prm_get(qpc, EMU_QPC_LOG_SQ_SIZE) > MAX_LOG_WQ ||
	    emu_prm_get(qpc, EMU_QPC_LOG_DCI_STREAMS) > EMU_LOG_DCI_STREAMS ||
	    emu_prm_get(qpc, EMU_QPC_LOG_DCI_ERRORED) > EMU_LOG_DCI_ERRORED ||
	    emu_prm_get(qpc, EMU_QPC_LOG_RQ_SIZE) > MAX_LOG_WQ ||
	    emu_prm_get(qpc, EMU_QPC_LOG_RQ_STRIDE) > MAX_LOG_STRIDE - EMU_MIN_LOG_STRIDE)
		return emu_refuse(m, EMU_CMD_SYN_QP_CONTEXT);
	emu_qp_read_context(qpc, q);
	return 0;
}

static bool receives(const struct emu_qp *q, const uint8_t *qpc)
{
	return q->type != EMU_QPT_DCI && emu_prm_get(qpc, EMU_QPC_RQ_TYPE) != EMU_QPC_RQ_TYPE_NONE;
}

/* A part that the QP lacks is named by 0; any other number must be that of an object. */
static bool is_named(bool needed, uint64_t number, const void *found)
{
	return found || (!needed && !number);
}

/* A QP without rings needs no umems, and one without queues no doorbell record either. */
static int fill_memory(struct emu_cmd *c, struct emu_mbox *m, struct emu_devx_qp *qp,
		       struct emu_qp *q)
{
	const uint8_t *qpc = emu_prm_at_const(m->in, EMU_CREATE_QP_IN_QPC);
	uint64_t buf = emu_prm_get(m->in, EMU_CREATE_QP_IN_WQ_UMEM_ID);
	uint64_t dbr = emu_prm_get(qpc, EMU_QPC_DBR_UMEM_ID);
	uint64_t len = ((uint64_t)q->rq_wqe_count << q->rq_wqe_shift) +
		       (uint64_t)q->sq_wqe_count * EMU_RING_LINE;

	qp->buf = emu_devx_umem_by_id(c->file, buf);
	qp->dbr = emu_devx_umem_by_id(c->file, dbr);
	if (!is_named(len, buf, qp->buf) || !is_named(len, dbr, qp->dbr))
		return emu_refuse(m, EMU_CMD_SYN_QP_UMEM);
	if (qp->buf)
		q->buf_addr = emu_devx_address(c, qp->buf,
					       emu_prm_get(m->in, EMU_CREATE_QP_IN_WQ_UMEM_OFFSET),
					       len, EMU_RING_LINE);
	if (qp->dbr)
		q->dbr_addr = emu_devx_address(c, qp->dbr, emu_prm_get(qpc, EMU_QPC_DBR_ADDR),
					       EMU_DBR_BYTES, EMU_DBR_BYTES);
	return (!qp->buf || q->buf_addr) && (!qp->dbr || q->dbr_addr)
		       ? 0
		       : emu_refuse(m, EMU_CMD_SYN_QP_UMEM_RANGE);
}

static bool changes_mkeys(const uint8_t *qpc)
{
	return emu_prm_get(qpc, EMU_QPC_ST) == EMU_QPC_ST_REG_UMR;
}

static bool has_domain(const uint8_t *qpc, const struct emu_devx_qp *qp)
{
	return is_named(!changes_mkeys(qpc), emu_prm_get(qpc, EMU_QPC_PD), qp->pd);
}

/* The completion queue of a queue that the QP lacks is optional, and so is its doorbell page. */
static bool find_parts(const struct emu_file *f, const uint8_t *qpc, const struct emu_qp *q,
		       struct emu_devx_qp *qp)
{
	uint64_t uar = emu_prm_get(qpc, EMU_QPC_UAR_PAGE);
	uint64_t snd = emu_prm_get(qpc, EMU_QPC_CQN_SND), rcv = emu_prm_get(qpc, EMU_QPC_CQN_RCV);

	qp->pd = emu_pd_by_number(f, (uint32_t)emu_prm_get(qpc, EMU_QPC_PD));
	qp->send_cq = emu_queue_by_number(f, snd, emu_cq_number);
	qp->recv_cq = emu_queue_by_number(f, rcv, emu_cq_number);
	return has_domain(qpc, qp) && is_named(q->sq_wqe_count, snd, qp->send_cq) &&
	       is_named(receives(q, qpc), rcv, qp->recv_cq) &&
	       (emu_has_uar(f, uar) || (!q->sq_wqe_count && !uar));
}

/* The extension of the QP context follows the command. Only MMO is in it. */
static int fill_extension(const struct emu_cmd *c, struct emu_mbox *m, struct emu_qp *q)
{
	if (!emu_prm_get(m->in, EMU_CREATE_QP_IN_QPC_EXT))
		return 0;
	if (m->in_len < EMU_CREATE_QP_EXT_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_QP_IN_LEN);
	if (!emu_prm_get(m->in, EMU_CREATE_QP_EXT_IN_MMO))
		return 0;
	if (!emu_profile_has_engines(c->file->func->card->profile))
		return emu_refuse(m, EMU_CMD_SYN_QP_MMO);
	q->mmo = emu_profile_engines(c->file->func->card->profile);
	return 0;
}

static int fill_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_devx_qp *qp, struct emu_qp *q)
{
	const uint8_t *qpc = emu_prm_at_const(m->in, EMU_CREATE_QP_IN_QPC);
	int err = fill_type(c->file, m, q);

	if (err)
		return err;
	if (!find_parts(c->file, qpc, q, qp))
		return emu_refuse(m, EMU_CMD_SYN_QP_RESOURCE);
	q->func = c->file->func->index;
	q->releases = emu_prm_get(qpc, EMU_QPC_CD_MASTER);
	q->is_released = emu_prm_get(qpc, EMU_QPC_CD_SLAVE_SEND);
	if (changes_mkeys(qpc)) /* those of all protection domains */
		q->pdn = EMU_ANY_PD;
	qp->uar = driver_object(c->file, EMU_T_UAR, emu_prm_get(qpc, EMU_QPC_UAR_PAGE));
	err = find_srq(c->file, m, qp, q);
	return err ? err : fill_memory(c, m, qp, q);
}

/* Management datagrams of the port go to it. */
static bool is_gsi(const uint8_t *qpc)
{
	return emu_prm_get(qpc, EMU_QPC_ST) == EMU_QPC_ST_QP1;
}

#define NPARTS 8

static void list_parts(const struct emu_devx_qp *qp, struct emu_uobj *part[NPARTS])
{
	part[0] = qp->pd ? &qp->pd->obj : NULL;
	part[1] = qp->send_cq;
	part[2] = qp->recv_cq;
	part[3] = qp->srq;
	part[4] = qp->buf ? &qp->buf->obj : NULL;
	part[5] = qp->dbr ? &qp->dbr->obj : NULL;
	part[6] = qp->uar;
	part[7] = qp->xrcd ? &qp->xrcd->obj : NULL;
}

int emu_devx_create_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_devx_qp *qp = (struct emu_devx_qp *)o;
	struct emu_uobj *part[NPARTS];
	struct emu_qp q = {0};
	int err;

	if (m->in_len < EMU_CREATE_QP_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_QP_IN_LEN);
	err = fill_qp(c, m, qp, &q);
	if (!err)
		err = fill_extension(c, m, &q);
	if (!err)
		err = emu_engine_of(c, &q.engine);
	if (!err)
		err = emu_wire_admit(c->file->func, q.engine);
	if (err)
		return err;
	q.file = o->file->ino;
	q.handle = o->handle;
	qp->qpn = emu_qp_publish(&q);
	if (!qp->qpn)
		return emu_refuse(m, EMU_CMD_SYN_QP_LIMIT);
	if (is_gsi(emu_prm_at_const(m->in, EMU_CREATE_QP_IN_QPC)))
		atomic_store(&emu_tables->port[q.func].gsi, qp->qpn);
	list_parts(qp, part);
	for (unsigned int i = 0; i < NPARTS; i++)
		emu_uobj_hold(part[i]);
	emu_qp_begin_context(qp->qpn, emu_prm_at_const(m->in, EMU_CREATE_QP_IN_QPC));
	emu_prm_set(m->out, EMU_CMD_OUT_NUMBER, qp->qpn);
	emu_prm_set(m->out, EMU_QP_OUT_ECE, emu_prm_get(m->in, EMU_CREATE_QP_IN_ECE) & EMU_ECE);
	return 0;
}

int emu_devx_qp_undo(struct emu_uobj *o)
{
	struct emu_devx_qp *qp = (struct emu_devx_qp *)o;
	struct emu_uobj *part[NPARTS];

	if (!qp->qpn)
		return 0;
	if (is_gsi(emu_qp_context(qp->qpn)))
		atomic_store(&emu_tables->port[o->file->func->index].gsi, 0);
	emu_group_leave(&(struct emu_groups_of){o->file->func, qp->qpn, &qp->groups});
	emu_qp_withdraw(qp->qpn);
	list_parts(qp, part);
	for (unsigned int i = 0; i < NPARTS; i++)
		emu_uobj_release(part[i]);
	return 0;
}

/* --- transitions ------------------------------------------------------------------------------ */

/* The kernel compares the number with the handle's. To RESET and ERR, the command has no context. */
static int transit(const struct emu_func *f, uint32_t qpn, struct emu_mbox *m)
{
	const uint8_t *qpc = NULL;
	uint32_t mask = 0;

	if (m->in_len >= EMU_MODIFY_QP_IN_BYTES) {
		qpc = emu_prm_at_const(m->in, EMU_MODIFY_QP_IN_QPC);
		mask = (uint32_t)emu_prm_get(m->in, EMU_MODIFY_QP_IN_OPT_PARAM_MASK);
	}
	if (!emu_qp_is_transition(m->opcode) || emu_prm_get(m->in, EMU_OBJECT_IN_NUMBER) != qpn)
		return -EINVAL;
	switch (emu_qp_transit(f, qpn, m->opcode, qpc, mask)) {
	case EMU_TRANSIT_STATE:
		return emu_refuse(m, EMU_CMD_SYN_QP_STATE);
	case EMU_TRANSIT_NO_CONTEXT:
		return emu_refuse(m, EMU_CMD_SYN_QP_TRANSITION_IN_LEN);
	case EMU_TRANSIT_CONTEXT:
		return emu_refuse(m, EMU_CMD_SYN_QP_TRANSITION_CONTEXT);
	case EMU_TRANSIT_CHANGED:
		return emu_refuse(m, EMU_CMD_SYN_QP_STATE_CHANGED);
	case EMU_TRANSIT_DONE:
		break;
	}
	if (emu_qp_takes_context(m->opcode))
		emu_prm_set(m->out, EMU_QP_OUT_ECE,
			    emu_prm_get(m->in, EMU_MODIFY_QP_IN_ECE) & EMU_ECE);
	return 0;
}

int emu_devx_modify_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_devx_qp *qp = (struct emu_devx_qp *)o;

	if ((m->opcode == EMU_CMD_2ERR_QP || m->opcode == EMU_CMD_2RST_QP) &&
	    emu_let_send(c, qp->qpn))
		return -EAGAIN;
	return transit(c->file->func, qp->qpn, m);
}

/* mlx5dv_devx_qp_modify() */
int emu_devx_modify_verbs_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const struct emu_qp_obj *qp = (const struct emu_qp_obj *)o;

	if (qp->type != EMU_QPT_RC && qp->type != EMU_QPT_UC)
		return emu_refuse(m, EMU_CMD_SYN_QP_TYPE);
	return transit(c->file->func, qp->qpn, m);
}

static int answer_qp(uint32_t qpn, struct emu_mbox *m)
{
	static const uint8_t states[] = {
		[EMU_QPS_RESET] = EMU_QPC_STATE_RST, [EMU_QPS_INIT] = EMU_QPC_STATE_INIT,
		[EMU_QPS_RTR] = EMU_QPC_STATE_RTR,   [EMU_QPS_RTS] = EMU_QPC_STATE_RTS,
		[EMU_QPS_SQD] = EMU_QPC_STATE_SQD,   [EMU_QPS_SQE] = EMU_QPC_STATE_SQER,
		[EMU_QPS_ERR] = EMU_QPC_STATE_ERR,
	};
	uint8_t *answer = emu_prm_at(m->out, EMU_QUERY_QP_OUT_QPC);
	const struct emu_qp *q = &emu_queues->qp[qpn];
	uint32_t state = atomic_load(&q->state);

	if (emu_prm_get(m->in, EMU_OBJECT_IN_NUMBER) != qpn)
		return -EINVAL;
	if (m->out_len < EMU_QUERY_QP_OUT_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_QUERY_QP_OUT_LEN);
	memcpy(answer, emu_qp_context(qpn), EMU_QPC_BYTES);
	emu_prm_set(answer, EMU_QPC_STATE,
		    state < sizeof(states) ? states[state] : EMU_QPC_STATE_NONE);
	return 0;
}

static uint32_t qp_number(const struct emu_uobj *o)
{
	return o->type == EMU_T_QP ? ((const struct emu_qp_obj *)o)->qpn
				   : ((const struct emu_devx_qp *)o)->qpn;
}

int emu_devx_query_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	(void)c;
	return answer_qp(qp_number(o), m);
}

/* --- the QP context extension ----------------------------------------------------------------- */

/* libmlx5 enables MMO for a verbs QP this way (INIT2INIT with the QP context extension). */
static int init2init(const struct emu_func *f, uint32_t qpn, struct emu_mbox *m)
{
	struct emu_qp *q = &emu_queues->qp[qpn];
	uint64_t mask;

	if (emu_prm_get(m->in, EMU_INIT2INIT_QP_IN_QPN) != qpn)
		return -EINVAL; /* the kernel compares it with the handle's */
	if (m->in_len < EMU_INIT2INIT_QP_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_INIT2INIT_IN_LEN);
	if (atomic_load(&q->state) != EMU_QPS_INIT)
		return emu_refuse(m, EMU_CMD_SYN_INIT2INIT_STATE);
	mask = emu_prm_get(m->in, EMU_INIT2INIT_QP_IN_OPT_PARAM_MASK_95_32);
	if (!emu_prm_get(m->in, EMU_INIT2INIT_QP_IN_QPC_EXT) ||
	    mask & ~(uint64_t)EMU_OPTPAR_95_32_MMO)
		return emu_refuse(m, EMU_CMD_SYN_INIT2INIT_MASK);
	if (mask & EMU_OPTPAR_95_32_MMO) {
		if (!emu_profile_has_engines(f->card->profile))
			return emu_refuse(m, EMU_CMD_SYN_INIT2INIT_MMO);
		q->mmo = emu_prm_get(m->in, EMU_INIT2INIT_QP_IN_QPC_DATA_EXT_MMO)
				 ? emu_profile_engines(f->card->profile)
				 : (struct emu_mmo){0};
	}
	return 0;
}

int emu_devx_init2init_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	if (o->type == EMU_T_DEVX_QP && !emu_prm_get(m->in, EMU_INIT2INIT_QP_IN_QPC_EXT))
		return emu_devx_modify_qp(c, m, o);
	return init2init(c->file->func, qp_number(o), m);
}

/* mlx5dv_dci_stream_id_reset() */
static int reset_stream(uint32_t qpn, struct emu_mbox *m)
{
	struct emu_qp *q = &emu_queues->qp[qpn];

	if (emu_prm_get(m->in, EMU_INIT2INIT_QP_IN_QPN) != qpn)
		return -EINVAL;
	if (m->in_len < EMU_INIT2INIT_QP_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_RTS2RTS_IN_LEN);
	if (atomic_load(&q->state) != EMU_QPS_RTS)
		return emu_refuse(m, EMU_CMD_SYN_RTS2RTS_STATE);
	if (emu_prm_get(m->in, EMU_INIT2INIT_QP_IN_OPT_PARAM_MASK_95_32) !=
	    EMU_OPTPAR_95_32_DCI_STREAM)
		return emu_refuse(m, EMU_CMD_SYN_RTS2RTS_MASK);
	if (!emu_qp_reset_stream(
		    q, (uint16_t)emu_prm_get(m->in, EMU_INIT2INIT_QP_IN_QPC_DATA_EXT_STREAM)))
		return emu_refuse(m, EMU_CMD_SYN_RTS2RTS_STREAM);
	return 0;
}

int emu_devx_rts2rts_qp(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	if (emu_prm_get(m->in, EMU_INIT2INIT_QP_IN_QPC_EXT))
		return reset_stream(qp_number(o), m);
	return o->type == EMU_T_DEVX_QP ? emu_devx_modify_qp(c, m, o)
					: emu_devx_modify_verbs_qp(c, m, o);
}
