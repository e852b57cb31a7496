/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completion queues, channels and their events. */
#include <stdlib.h>

#include "log/log.h"
#include "verbs/context.h"

/* --- channels --------------------------------------------------------------------------------- */

doca_error_t doca_verbs_comp_channel_create(struct doca_verbs_context *context,
					    struct doca_verbs_comp_channel **comp_channel)
{
	struct doca_verbs_comp_channel *created;
	doca_error_t result;

	if (!context || !comp_channel)
		return dpumap_fail_null(__func__);
	created = dpumap_verbs_new(sizeof(*created), __func__);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->context = context;
	result = dpumap_verbs_create_channel(&context->verbs, &created->verbs);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	dpumap_verbs_use(&context->users);
	*comp_channel = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_verbs_comp_channel_destroy(struct doca_verbs_comp_channel *comp_channel)
{
	doca_error_t result;

	if (!comp_channel)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_check_unused(&comp_channel->users, "channel", comp_channel);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_verbs_destroy_channel(&comp_channel->verbs);
	dpumap_verbs_unuse(&comp_channel->context->users);
	free(comp_channel);
	return DOCA_SUCCESS;
}

doca_event_handle_t doca_verbs_comp_channel_get_handle(struct doca_verbs_comp_channel *comp_channel)
{
	return comp_channel ? dpumap_verbs_channel_fd(&comp_channel->verbs) : -1;
}

doca_error_t doca_verbs_get_cq_event(struct doca_verbs_comp_channel *comp_channel,
				     struct doca_verbs_cq **cq, void **cq_context)
{
	struct dpumap_verbs_cq *found;
	doca_error_t result;

	if (!comp_channel || !cq || !cq_context)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_next_cq_event(&comp_channel->verbs, &found);
	if (result != DOCA_SUCCESS)
		return result;
	*cq = (struct doca_verbs_cq *)found;
	*cq_context = (*cq)->attr.cq_context;
	return DOCA_SUCCESS;
}

void doca_verbs_ack_cq_events(struct doca_verbs_cq *cq, unsigned int nevents)
{
	if (cq)
		dpumap_verbs_ack_cq(&cq->verbs, nevents);
}

doca_error_t doca_verbs_req_notify_cq(struct doca_verbs_cq *cq, int solicited_only)
{
	if (!cq)
		return dpumap_fail_null(__func__);
	if (!cq->attr.comp_channel || cq->attr.external_datapath_en)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: CQ %p has %s", __func__,
				   (void *)cq,
				   cq->attr.comp_channel ? "an external data path" : "no channel");
	return dpumap_verbs_arm_cq(&cq->verbs, solicited_only);
}

/* --- queues ----------------------------------------------------------------------------------- */

static doca_error_t check(const struct doca_verbs_context *context,
			  const struct doca_verbs_cq_attr *attr)
{
	if (attr->dpa_thread_id || attr->external_umem.umem)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "doca_verbs_cq_create: %s: not supported",
				   attr->dpa_thread_id ? "dpa_thread_id" : "external_umem");
	if (attr->external_datapath_en && attr->external_uar)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "doca_verbs_cq_create: external_uar with external_datapath_en "
				   "1: not supported, as libmlx5 chooses the doorbell page");
	if (!attr->cq_size)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_verbs_cq_create: cq_size is 0, must be at least 1");
	if (attr->entry_size == DOCA_VERBS_CQ_ENTRY_SIZE_128 && !attr->external_datapath_en)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_verbs_cq_create: entries of 128 bytes need "
				   "external_datapath_en 1");
	if (attr->comp_channel && attr->comp_channel->context != context)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_verbs_cq_create: channel %p is one of another context",
				   (void *)attr->comp_channel);
	return DOCA_SUCCESS;
}

static doca_error_t open_cq(void *object, struct doca_verbs_context *context,
			    const void *attributes)
{
	struct doca_verbs_cq *cq = object;
	const struct doca_verbs_cq_attr *attr = attributes;
	const struct dpumap_verbs_cq_attr wanted = {
		.size = attr->cq_size,
		.has_large_entries = attr->entry_size == DOCA_VERBS_CQ_ENTRY_SIZE_128,
		.may_overrun = attr->cq_overrun,
		.is_external = attr->external_datapath_en,
		.channel = attr->comp_channel ? &attr->comp_channel->verbs : NULL,
		.uar = attr->external_uar,
	};

	doca_error_t result = check(context, attr);

	if (result == DOCA_SUCCESS)
		result = dpumap_verbs_create_cq(&cq->verbs, &context->verbs, &wanted);
	if (result != DOCA_SUCCESS)
		return result;
	cq->context = context;
	cq->attr = *attr;
	dpumap_verbs_use(&context->users);
	dpumap_verbs_use(dpumap_verbs_users_of(attr->comp_channel));
	return DOCA_SUCCESS;
}

doca_error_t doca_verbs_cq_create(struct doca_verbs_context *context,
				  struct doca_verbs_cq_attr *cq_attr, struct doca_verbs_cq **cq)
{
	const struct dpumap_verbs_creation creation = {
		sizeof(**cq), open_cq, context, cq_attr, __func__,
	};
	void *created = NULL;
	doca_error_t result = dpumap_verbs_create(&creation, cq ? &created : NULL);

	if (result == DOCA_SUCCESS && cq)
		*cq = created;
	return result;
}

doca_error_t doca_verbs_cq_destroy(struct doca_verbs_cq *cq)
{
	doca_error_t result;

	if (!cq)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_check_unused(&cq->users, "CQ", cq);
	if (result == DOCA_SUCCESS)
		result = dpumap_verbs_destroy_cq(&cq->verbs);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_verbs_unuse(dpumap_verbs_users_of(cq->attr.comp_channel));
	dpumap_verbs_unuse(&cq->context->users);
	free(cq);
	return DOCA_SUCCESS;
}

uint32_t doca_verbs_cq_get_cqn(const struct doca_verbs_cq *cq)
{
	return cq ? cq->verbs.memory.cqn : 0;
}

/* What the program drives itself; all 0 for other queues. */
static struct dpumap_verbs_cq_memory memory_of(const struct doca_verbs_cq *cq)
{
	if (!cq || !cq->attr.external_datapath_en)
		return (struct dpumap_verbs_cq_memory){0};
	return cq->verbs.memory;
}

void doca_verbs_cq_get_wq(struct doca_verbs_cq *cq, void **cq_buf, uint32_t *cq_num_entries,
			  uint8_t *cq_entry_size_bytes)
{
	struct dpumap_verbs_cq_memory memory = memory_of(cq);

	if (cq_buf)
		*cq_buf = memory.cqes;
	if (cq_num_entries)
		*cq_num_entries = memory.size;
	if (cq_entry_size_bytes)
		*cq_entry_size_bytes = (uint8_t)memory.cqe_size;
}

void doca_verbs_cq_get_dbr_addr(struct doca_verbs_cq *cq, uint64_t **uar_db_reg, uint32_t **ci_dbr,
				uint32_t **arm_dbr)
{
	struct dpumap_verbs_cq_memory memory = memory_of(cq);

	if (uar_db_reg)
		*uar_db_reg = memory.doorbell;
	if (ci_dbr)
		*ci_dbr = memory.record;
	if (arm_dbr)
		*arm_dbr = memory.record ? memory.record + 1 : NULL;
}
