/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Shared receive queues. */
#include <stdlib.h>

#include "log/log.h"
#include "verbs/context.h"

static const char *find_unsupported(const struct doca_verbs_srq_init_attr *attr)
{
	if (attr->type != DOCA_VERBS_SRQ_TYPE_LINKED_LIST)
		return "the type CONTIGUOUS";
	if (attr->dpa)
		return "dpa";
	return attr->external_umem.umem || attr->external_dbr_umem.umem ? "an external umem" : NULL;
}

static doca_error_t check(const struct doca_verbs_context *context,
			  const struct doca_verbs_srq_init_attr *attr)
{
	const char *unsupported = find_unsupported(attr);

	if (unsupported)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "doca_verbs_srq_create: %s: not supported", unsupported);
	if (!attr->pd || !dpumap_verbs_has_pd(&context->verbs, &attr->pd->verbs))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "doca_verbs_srq_create: the PD is %s",
				   attr->pd ? "one of another context" : "NULL");
	if (!attr->srq_wr || !attr->receive_max_sges)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_verbs_srq_create: %s is 0, must be at least 1",
				   attr->srq_wr ? "receive_max_sges" : "srq_wr");
	return DOCA_SUCCESS;
}

static doca_error_t open_srq(void *object, struct doca_verbs_context *context,
			     const void *attributes)
{
	struct doca_verbs_srq *srq = object;
	const struct doca_verbs_srq_init_attr *attr = attributes;
	doca_error_t result = check(context, attr);

	if (result == DOCA_SUCCESS)
		result =
			dpumap_verbs_create_srq(&srq->verbs, &attr->pd->verbs, attr->srq_wr,
						attr->receive_max_sges, attr->external_datapath_en);
	if (result != DOCA_SUCCESS)
		return result;
	srq->context = context;
	srq->attr = *attr;
	dpumap_verbs_use(&context->users);
	dpumap_verbs_use(&attr->pd->users);
	return DOCA_SUCCESS;
}

doca_error_t doca_verbs_srq_create(struct doca_verbs_context *context,
				   struct doca_verbs_srq_init_attr *srq_init_attr,
				   struct doca_verbs_srq **srq)
{
	const struct dpumap_verbs_creation creation = {
		sizeof(**srq), open_srq, context, srq_init_attr, __func__,
	};
	void *created = NULL;
	doca_error_t result = dpumap_verbs_create(&creation, srq ? &created : NULL);

	if (result == DOCA_SUCCESS && srq)
		*srq = created;
	return result;
}

doca_error_t doca_verbs_srq_destroy(struct doca_verbs_srq *srq)
{
	doca_error_t result;

	if (!srq)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_check_unused(&srq->users, "SRQ", srq);
	if (result == DOCA_SUCCESS)
		result = dpumap_verbs_destroy_srq(&srq->verbs);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_verbs_unuse(&srq->attr.pd->users);
	dpumap_verbs_unuse(&srq->context->users);
	free(srq);
	return DOCA_SUCCESS;
}

doca_error_t doca_verbs_srq_query(struct doca_verbs_srq *srq,
				  struct doca_verbs_srq_init_attr *srq_init_attr)
{
	struct doca_verbs_srq_init_attr found;
	doca_error_t result;

	if (!srq || !srq_init_attr)
		return dpumap_fail_null(__func__);
	found = srq->attr;
	result = dpumap_verbs_query_srq(&srq->verbs, &found.srq_wr, &found.receive_max_sges);
	if (result == DOCA_SUCCESS)
		*srq_init_attr = found;
	return result;
}

uint32_t doca_verbs_srq_get_srqn(const struct doca_verbs_srq *srq)
{
	return srq ? srq->verbs.number : 0;
}

void doca_verbs_srq_get_wq(const struct doca_verbs_srq *srq, void **srq_buf,
			   uint32_t *srq_num_entries, uint32_t *srq_entry_size_bytes)
{
	if (srq_buf)
		*srq_buf = srq ? srq->verbs.memory : NULL;
	if (srq_num_entries)
		*srq_num_entries = srq ? srq->verbs.entries : 0;
	if (srq_entry_size_bytes)
		*srq_entry_size_bytes = srq ? srq->verbs.entry_size : 0;
}

void *doca_verbs_srq_get_dbr_addr(const struct doca_verbs_srq *srq)
{
	return srq ? srq->verbs.record : NULL;
}

doca_error_t doca_verbs_srq_get_dpa_handle(struct doca_verbs_srq *srq, struct doca_dpa *dpa,
					   doca_dpa_dev_verbs_srq_t *dpa_handle)
{
	(void)dpa;
	if (!srq || !dpa_handle)
		return dpumap_fail_null(__func__);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: DPAs are not supported", __func__);
}
