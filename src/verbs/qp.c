/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Queue pairs. */
#include <stdlib.h>

#include "log/log.h"
#include "verbs/context.h"

/* --- creating --------------------------------------------------------------------------------- */

static const char *find_unsupported(const struct doca_verbs_qp_init_attr *attr)
{
	if (attr->dpa || attr->send_dpa_completion || attr->receive_dpa_completion)
		return "a DPA";
	if (attr->external_umem.umem)
		return "external_umem";
	if (attr->uar_id || attr->pdn || attr->dbr_umem.id || attr->wq_umem.id)
		return "numbers of objects of the firmware";
	if (attr->user_index)
		return "user_index";
	if (attr->core_direct_master)
		return "core_direct_master";
	if (attr->cqe_inline != DOCA_VERBS_QP_SCATTER_TO_CQE_NONE)
		return "cqe_inline";
	if (attr->send_dbr_mode != DOCA_VERBS_QP_SEND_DBR_MODE_DBR_VALID)
		return "send_dbr_mode";
	if (attr->external_datapath_en && attr->external_uar)
		return "external_uar with external_datapath_en 1";
	return NULL;
}

static const char *check_queues(const struct doca_verbs_qp_init_attr *attr)
{
	if (!attr->pd)
		return "pd is NULL";
	if (!attr->send_cq && !attr->receive_cq)
		return "send_cq and receive_cq are NULL";
	if (attr->sq_wr && !attr->send_cq)
		return "sq_wr is not 0 without a send_cq";
	if (attr->sq_wr && !attr->send_max_sges)
		return "sq_wr is not 0, but send_max_sges is";
	if ((attr->rq_wr || attr->srq) && !attr->receive_cq)
		return "rq_wr or srq is set without a receive_cq";
	if (attr->rq_wr && !attr->receive_max_sges)
		return "rq_wr is not 0, but receive_max_sges is";
	if (attr->rq_wr && attr->srq)
		return "rq_wr is not 0 beside an srq";
	if (!attr->external_umem.umem != !attr->external_dbr_umem.umem)
		return "only one of external_umem and external_dbr_umem is set";
	return NULL;
}

static const char *check_path(const struct doca_verbs_qp_init_attr *attr)
{
	const uint8_t external = attr->external_datapath_en;

	if ((attr->send_cq && attr->send_cq->attr.external_datapath_en != external) ||
	    (attr->receive_cq && attr->receive_cq->attr.external_datapath_en != external) ||
	    (attr->srq && attr->srq->attr.external_datapath_en != external))
		return "external_datapath_en differs from that of a CQ or SRQ";
	if (!external && (attr->external_umem.umem || attr->core_direct_master))
		return "external umems and core_direct_master need external_datapath_en 1";
	return NULL;
}

static bool is_of(const struct doca_verbs_context *context,
		  const struct doca_verbs_qp_init_attr *attr)
{
	return dpumap_verbs_has_pd(&context->verbs, &attr->pd->verbs) &&
	       (!attr->send_cq || attr->send_cq->context == context) &&
	       (!attr->receive_cq || attr->receive_cq->context == context) &&
	       (!attr->srq || attr->srq->context == context);
}

static doca_error_t check(const struct doca_verbs_context *context,
			  const struct doca_verbs_qp_init_attr *attr)
{
	const char *wrong = check_queues(attr), *unsupported;

	if (!wrong)
		wrong = check_path(attr);
	if (!wrong && !is_of(context, attr))
		wrong = "pd, a CQ or the srq is one of another context";
	if (wrong)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "doca_verbs_qp_create: %s", wrong);
	unsupported = find_unsupported(attr);
	if (unsupported)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "doca_verbs_qp_create: %s: not supported", unsupported);
	return DOCA_SUCCESS;
}

static struct dpumap_verbs_qp_init init_of(const struct doca_verbs_qp_init_attr *attr)
{
	return (struct dpumap_verbs_qp_init){
		.is_rc = attr->qp_type == DOCA_VERBS_QP_TYPE_RC,
		.sig_all = attr->sq_sig_all,
		.is_external = attr->external_datapath_en,
		.cap =
			{
				.max_send_wr = attr->sq_wr,
				.max_recv_wr = attr->rq_wr,
				.max_send_sge = attr->send_max_sges ? attr->send_max_sges : 1,
				.max_recv_sge = attr->receive_max_sges ? attr->receive_max_sges : 1,
				.max_inline_data = attr->max_inline_data,
			},
		.send_cq = attr->send_cq ? &attr->send_cq->verbs : NULL,
		.receive_cq = attr->receive_cq ? &attr->receive_cq->verbs : NULL,
		.srq = attr->srq ? &attr->srq->verbs : NULL,
		.pd = &attr->pd->verbs,
		.uar = attr->external_uar,
	};
}

static doca_error_t open_qp(void *object, struct doca_verbs_context *context,
			    const void *attributes)
{
	struct doca_verbs_qp *qp = object;
	struct doca_verbs_qp_init_attr *attr = &qp->attr;
	doca_error_t result = check(context, attributes);
	struct dpumap_verbs_qp_init init;

	if (result != DOCA_SUCCESS)
		return result;
	init = init_of(attributes);
	result = dpumap_verbs_create_qp(&qp->verbs, &context->verbs, &init);
	if (result != DOCA_SUCCESS)
		return result;
	qp->context = context;
	*attr = *(const struct doca_verbs_qp_init_attr *)attributes;
	attr->sq_wr = init.cap.max_send_wr;
	attr->rq_wr = init.cap.max_recv_wr;
	attr->send_max_sges = init.cap.max_send_sge;
	attr->receive_max_sges = init.cap.max_recv_sge;
	attr->max_inline_data = init.cap.max_inline_data;
	dpumap_verbs_use(&context->users);
	dpumap_verbs_use(&attr->pd->users);
	dpumap_verbs_use(dpumap_verbs_users_of(attr->send_cq));
	dpumap_verbs_use(dpumap_verbs_users_of(attr->receive_cq));
	dpumap_verbs_use(dpumap_verbs_users_of(attr->srq));
	return DOCA_SUCCESS;
}

doca_error_t doca_verbs_qp_create(struct doca_verbs_context *context,
				  struct doca_verbs_qp_init_attr *init_attr,
				  struct doca_verbs_qp **qp)
{
	const struct dpumap_verbs_creation creation = {
		sizeof(**qp), open_qp, context, init_attr, __func__,
	};
	void *created = NULL;
	doca_error_t result = dpumap_verbs_create(&creation, qp ? &created : NULL);

	if (result == DOCA_SUCCESS && qp)
		*qp = created;
	return result;
}

doca_error_t doca_verbs_qp_destroy(struct doca_verbs_qp *qp)
{
	doca_error_t result;

	if (!qp)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_destroy_qp(&qp->verbs);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_verbs_unuse(dpumap_verbs_users_of(qp->attr.srq));
	dpumap_verbs_unuse(dpumap_verbs_users_of(qp->attr.receive_cq));
	dpumap_verbs_unuse(dpumap_verbs_users_of(qp->attr.send_cq));
	dpumap_verbs_unuse(&qp->attr.pd->users);
	dpumap_verbs_unuse(&qp->context->users);
	free(qp);
	return DOCA_SUCCESS;
}

/* --- states ----------------------------------------------------------------------------------- */

static doca_error_t check_values(const struct doca_verbs_qp_attr *attr, int mask,
				 const struct dpumap_verbs_change *change)
{
	if (mask & DOCA_VERBS_QP_ATTR_CURRENT_STATE && attr->verbs.current_state != change->from)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_verbs_qp_modify: current_state is not the state");
	if (mask & DOCA_VERBS_QP_ATTR_AH_ATTR && !attr->ah_attr)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_verbs_qp_modify: AH_ATTR without an ah_attr");
	if (mask & DOCA_VERBS_QP_ATTR_AH_ATTR && change->from == DOCA_VERBS_QP_STATE_RTS)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "doca_verbs_qp_modify: the kernel does not change an address in "
				   "RTS; connect the QP again");
	if (mask & DOCA_VERBS_QP_ATTR_ATOMIC_MODE &&
	    attr->verbs.atomic_mode > DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_8BYTES)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "doca_verbs_qp_modify: atomic mode %u: verbs has atomic "
				   "operations on 8 bytes only",
				   attr->verbs.atomic_mode);
	return DOCA_SUCCESS;
}

doca_error_t doca_verbs_qp_modify(struct doca_verbs_qp *qp, struct doca_verbs_qp_attr *qp_attr,
				  int attr_mask)
{
	struct dpumap_verbs_change change = {.mask = attr_mask};
	struct dpumap_verbs_qp_attr attr;
	doca_error_t result;

	if (!qp || !qp_attr)
		return dpumap_fail_null(__func__);
	if (attr_mask & DOCA_VERBS_QP_ATTR_CC_GROUP)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: groups of congestion control are not supported", __func__);
	attr = qp_attr->verbs;
	change.is_rc = qp->verbs.is_rc;
	change.from = qp->verbs.state;
	if (!(attr_mask & DOCA_VERBS_QP_ATTR_NEXT_STATE))
		attr.next_state = change.from;
	change.to = attr.next_state;
	result = dpumap_verbs_check_change(&change);
	if (result == DOCA_SUCCESS)
		result = check_values(qp_attr, attr_mask, &change);
	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_verbs_modify_qp(
		&qp->verbs, &attr,
		attr_mask & DOCA_VERBS_QP_ATTR_AH_ATTR ? &qp_attr->ah_attr->verbs : NULL,
		attr_mask);
}

/* The members of an attribute that are valid in a state. */
static int valid_members(enum doca_verbs_qp_state state, bool is_rc)
{
	const int init = DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_WRITE |
			 DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_READ | DOCA_VERBS_QP_ATTR_ATOMIC_MODE |
			 DOCA_VERBS_QP_ATTR_PKEY_INDEX | DOCA_VERBS_QP_ATTR_PORT_NUM;
	const int rtr = DOCA_VERBS_QP_ATTR_RQ_PSN | DOCA_VERBS_QP_ATTR_DEST_QP_NUM |
			DOCA_VERBS_QP_ATTR_PATH_MTU | DOCA_VERBS_QP_ATTR_AH_ATTR;
	const int rtr_rc = DOCA_VERBS_QP_ATTR_MIN_RNR_TIMER | DOCA_VERBS_QP_ATTR_MAX_DEST_RD_ATOMIC;
	const int rts_rc = DOCA_VERBS_QP_ATTR_ACK_TIMEOUT | DOCA_VERBS_QP_ATTR_RETRY_CNT |
			   DOCA_VERBS_QP_ATTR_RNR_RETRY | DOCA_VERBS_QP_ATTR_MAX_QP_RD_ATOMIC;
	int mask = DOCA_VERBS_QP_ATTR_NEXT_STATE | DOCA_VERBS_QP_ATTR_CURRENT_STATE;

	if (state == DOCA_VERBS_QP_STATE_RST || state == DOCA_VERBS_QP_STATE_ERR)
		return mask;
	mask |= init;
	if (state == DOCA_VERBS_QP_STATE_INIT)
		return mask;
	mask |= rtr | (is_rc ? rtr_rc : 0);
	if (state == DOCA_VERBS_QP_STATE_RTR)
		return mask;
	return mask | DOCA_VERBS_QP_ATTR_SQ_PSN | (is_rc ? rts_rc : 0);
}

doca_error_t doca_verbs_qp_query(struct doca_verbs_qp *qp, struct doca_verbs_qp_attr *qp_attr,
				 struct doca_verbs_qp_init_attr *init_attr, int *attr_mask)
{
	struct doca_verbs_qp_attr found = {0};
	doca_error_t result;
	bool has_path;

	if (!qp || !qp_attr || !init_attr)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_query_qp(&qp->verbs, &found.verbs, &qp->queried.verbs, &has_path);
	if (result != DOCA_SUCCESS)
		return result;
	found.ah_attr = has_path ? &qp->queried : NULL;
	*qp_attr = found;
	*init_attr = qp->attr;
	if (attr_mask)
		*attr_mask = valid_members(found.verbs.next_state, qp->verbs.is_rc);
	return DOCA_SUCCESS;
}

/* --- properties ------------------------------------------------------------------------------- */

uint32_t doca_verbs_qp_get_qpn(const struct doca_verbs_qp *qp)
{
	return qp ? dpumap_verbs_qpn(&qp->verbs) : 0;
}

void doca_verbs_qp_get_wq(const struct doca_verbs_qp *qp, void **sq_buf, uint32_t *sq_num_entries,
			  void **rq_buf, uint32_t *rq_num_entries, uint32_t *rwqe_size_bytes)
{
	struct dpumap_verbs_qp_memory memory = {0};

	if (qp)
		memory = qp->verbs.memory;
	if (sq_buf)
		*sq_buf = memory.sq;
	if (sq_num_entries)
		*sq_num_entries = memory.sq_entries;
	if (rq_buf)
		*rq_buf = memory.rq;
	if (rq_num_entries)
		*rq_num_entries = memory.rq_entries;
	if (rwqe_size_bytes)
		*rwqe_size_bytes = memory.rq_entry_size;
}

void *doca_verbs_qp_get_uar_addr(const struct doca_verbs_qp *qp)
{
	return qp ? qp->verbs.memory.doorbell : NULL;
}

void *doca_verbs_qp_get_dbr_addr(const struct doca_verbs_qp *qp)
{
	return qp ? qp->verbs.memory.record : NULL;
}

uint32_t doca_verbs_qp_query_ece(struct doca_verbs_qp *qp)
{
	(void)qp;
	return 0;
}

doca_error_t doca_verbs_qp_set_ece(struct doca_verbs_qp *qp, uint32_t ece)
{
	(void)ece;
	if (!qp)
		return dpumap_fail_null(__func__);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "%s: enhanced connection establishment is not supported", __func__);
}

doca_error_t doca_verbs_qp_get_dpa_handle(struct doca_verbs_qp *qp, struct doca_dpa *dpa,
					  doca_dpa_dev_verbs_qp_t *dpa_handle)
{
	(void)dpa;
	if (!qp || !dpa_handle)
		return dpumap_fail_null(__func__);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: DPAs are not supported", __func__);
}
