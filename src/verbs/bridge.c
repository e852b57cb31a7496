/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The bridge to libibverbs. */
#include <doca_verbs_bridge.h>

#include <errno.h>
#include <stdlib.h>

#include "log/log.h"
#include "verbs/bridge.h"
#include "verbs/context.h"

doca_error_t doca_verbs_bridge_verbs_context_create(struct ibv_device *ib_dev, uint32_t flags,
						    struct doca_verbs_context **verbs_context)
{
	struct doca_verbs_context *created;
	doca_error_t result;

	if (!ib_dev || !verbs_context)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_new_context(flags, __func__, &created);
	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_verbs_take_context(created, dpumap_verbs_open_ibv(&created->verbs, ib_dev),
					 verbs_context);
}

doca_error_t doca_verbs_bridge_verbs_context_import(struct ibv_context *ibv_ctx, uint32_t flags,
						    struct doca_verbs_context **verbs_context)
{
	struct doca_verbs_context *created;
	doca_error_t result;

	if (!ibv_ctx || !verbs_context)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_new_context(flags, __func__, &created);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_verbs_borrow(&created->verbs, ibv_ctx);
	*verbs_context = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_verbs_bridge_verbs_query_device(struct ibv_context *ibv_ctx,
						  struct doca_verbs_device_attr **verbs_device_attr)
{
	if (!ibv_ctx || !verbs_device_attr)
		return dpumap_fail_null(__func__);
	return dpumap_verbs_query_limits(ibv_ctx, __func__, verbs_device_attr);
}

doca_error_t doca_verbs_bridge_verbs_pd_import(struct ibv_pd *ibv_pd,
					       struct doca_verbs_pd **verbs_pd)
{
	struct doca_verbs_pd *created;
	doca_error_t result;

	if (!ibv_pd || !verbs_pd)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_new_pd(NULL, __func__, &created);
	if (result != DOCA_SUCCESS)
		return result;
	created->verbs.pd = ibv_pd;
	created->verbs.kind = VERBS_PD_BORROWED;
	*verbs_pd = created;
	return DOCA_SUCCESS;
}

struct ibv_pd *doca_verbs_bridge_verbs_pd_get_ibv_pd(const struct doca_verbs_pd *verbs_pd)
{
	return verbs_pd ? verbs_pd->verbs.pd : NULL;
}

struct ibv_context *doca_verbs_bridge_get_ibv_ctx(struct doca_verbs_context *context)
{
	return context ? context->verbs.context : NULL;
}

/* --- attributes ------------------------------------------------------------------------------- */

doca_error_t doca_verbs_bridge_qp_attr_set(struct doca_verbs_qp_attr *verbs_qp_attr,
					   const struct ibv_qp_attr *ibv_qp_attr, int ibv_attr_mask)
{
	bool has_path;

	if (!verbs_qp_attr || !ibv_qp_attr)
		return dpumap_fail_null(__func__);
	has_path = dpumap_verbs_mask_from_ibv(ibv_attr_mask) & DOCA_VERBS_QP_ATTR_AH_ATTR;
	if (has_path && !verbs_qp_attr->ah_attr)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: there is no ah_attr; call doca_verbs_qp_attr_set_ah_attr()",
				   __func__);
	if (!dpumap_verbs_attr_from_ibv(&verbs_qp_attr->verbs, ibv_qp_attr, ibv_attr_mask))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: a state does not exist here",
				   __func__);
	if (has_path)
		dpumap_verbs_ah_from_ibv(&verbs_qp_attr->ah_attr->verbs, ibv_qp_attr);
	return DOCA_SUCCESS;
}

doca_error_t doca_verbs_bridge_qp_attr_get(const struct doca_verbs_qp_attr *verbs_qp_attr,
					   struct ibv_qp_attr *ibv_qp_attr)
{
	if (!verbs_qp_attr || !ibv_qp_attr)
		return dpumap_fail_null(__func__);
	dpumap_verbs_attr_to_ibv(&verbs_qp_attr->verbs, ibv_qp_attr);
	dpumap_verbs_access_to_ibv(&verbs_qp_attr->verbs, ibv_qp_attr);
	if (verbs_qp_attr->ah_attr)
		dpumap_verbs_path_to_ibv(&verbs_qp_attr->ah_attr->verbs,
					 verbs_qp_attr->verbs.port_num, ibv_qp_attr);
	return DOCA_SUCCESS;
}

int doca_verbs_bridge_get_qp_attr_mask(int ibv_attr_mask)
{
	return dpumap_verbs_mask_from_ibv(ibv_attr_mask);
}

/* --- posting and polling ---------------------------------------------------------------------- */

static __attribute__((cold, noinline)) int fail_null(const char *function, const char *argument)
{
	dpumap_log_line(DPUMAP_LOG_ERROR, DOCA_ERROR_INVALID_VALUE, "%s: %s is NULL", function,
			argument);
	return EINVAL;
}

int doca_verbs_bridge_poll_cq(struct doca_verbs_cq *cq, int num_entries, struct ibv_wc *wc)
{
	if (doca_unlikely(!cq))
		return -fail_null(__func__, "cq");
	if (doca_unlikely(!wc))
		return -fail_null(__func__, "wc");
	return dpumap_verbs_poll(&cq->verbs, num_entries, wc);
}

int doca_verbs_bridge_post_send(struct doca_verbs_qp *qp, struct ibv_send_wr *wr,
				struct ibv_send_wr **bad_wr)
{
	if (doca_unlikely(!qp))
		return fail_null(__func__, "qp");
	if (doca_unlikely(!wr))
		return fail_null(__func__, "wr");
	if (doca_unlikely(!bad_wr))
		return fail_null(__func__, "bad_wr");
	return dpumap_verbs_post_send(&qp->verbs, wr, bad_wr);
}

int doca_verbs_bridge_post_recv(struct doca_verbs_qp *qp, struct ibv_recv_wr *wr,
				struct ibv_recv_wr **bad_wr)
{
	if (doca_unlikely(!qp || !wr || !bad_wr))
		return fail_null(__func__, "an argument");
	if (doca_unlikely(qp->attr.external_datapath_en))
		return dpumap_verbs_fail_external(qp->verbs.context);
	return dpumap_verbs_post_recv(&qp->verbs, wr, bad_wr);
}

int doca_verbs_bridge_post_srq_recv(struct doca_verbs_srq *srq, struct ibv_recv_wr *wr,
				    struct ibv_recv_wr **bad_wr)
{
	if (doca_unlikely(!srq || !wr || !bad_wr))
		return fail_null(__func__, "an argument");
	if (doca_unlikely(srq->attr.external_datapath_en))
		return dpumap_verbs_fail_external(&srq->context->verbs);
	return dpumap_verbs_post_srq_recv(&srq->verbs, wr, bad_wr);
}

uint32_t doca_verbs_bridge_get_current_cq_ci(struct doca_verbs_cq *cq)
{
	return cq ? atomic_load(&cq->verbs.consumed) : 0;
}

int doca_verbs_bridge_set_wait_cq_pi_wr(struct doca_verbs_cq *cq, uint32_t wait_pi,
					struct ibv_send_wr *wr)
{
	if (!cq || !wr)
		return fail_null(__func__, "an argument");
	if (cq->attr.external_datapath_en)
		return dpumap_verbs_fail_external(cq->verbs.context);
	return dpumap_verbs_set_wait(&cq->verbs, wait_pi, wr);
}
