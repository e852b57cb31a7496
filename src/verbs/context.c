/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Contexts, protection domains and asynchronous events. */
#include <stdlib.h>

#include "core/dev/dev.h"
#include "log/log.h"
#include "verbs/context.h"

doca_error_t dpumap_verbs_check_unused(const atomic_uint *users, const char *kind,
				       const void *object)
{
	unsigned int num = atomic_load(users);

	if (!num)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_BAD_STATE,
			   "verbs %s %p: %u objects use it; destroy them first", kind, object, num);
}

doca_error_t dpumap_verbs_create(const struct dpumap_verbs_creation *creation, void **object)
{
	doca_error_t result;
	void *created;

	if (!creation->context || !creation->attr || !object)
		return dpumap_fail_null(creation->function);
	created = dpumap_verbs_new(creation->size, creation->function);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	result = creation->open(created, creation->context, creation->attr);
	if (result == DOCA_SUCCESS)
		*object = created;
	else
		free(created);
	return result;
}

doca_error_t dpumap_verbs_new_context(uint32_t flags, const char *function,
				      struct doca_verbs_context **context)
{
	struct doca_verbs_context *created;

	if (flags != DOCA_VERBS_CONTEXT_CREATE_FLAGS_NONE)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: unknown flags 0x%x, must be 0",
				   function, flags);
	created = dpumap_verbs_new(sizeof(*created), function);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	*context = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_verbs_take_context(struct doca_verbs_context *created, doca_error_t result,
				       struct doca_verbs_context **context)
{
	if (result == DOCA_SUCCESS)
		*context = created;
	else
		free(created);
	return result;
}

doca_error_t doca_verbs_context_create(struct doca_devinfo *devinfo, uint32_t flags,
				       struct doca_verbs_context **verbs_context)
{
	struct doca_verbs_context *created;
	doca_error_t result;

	if (!devinfo || !verbs_context)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_new_context(flags, __func__, &created);
	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_verbs_take_context(created, dpumap_verbs_open(&created->verbs, devinfo->hca),
					 verbs_context);
}

doca_error_t doca_verbs_context_import_from_handle(int handle, uint32_t flags,
						   struct doca_verbs_context **verbs_context)
{
	struct doca_verbs_context *created;
	doca_error_t result;

	if (!verbs_context)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_new_context(flags, __func__, &created);
	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_verbs_take_context(created, dpumap_verbs_import(&created->verbs, handle),
					 verbs_context);
}

doca_error_t doca_verbs_context_destroy(struct doca_verbs_context *context)
{
	doca_error_t result;

	if (!context)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_check_unused(&context->users, "context", context);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_verbs_close(&context->verbs);
	free(context);
	return DOCA_SUCCESS;
}

int doca_verbs_context_export_handle(const struct doca_verbs_context *context)
{
	return context ? dpumap_verbs_fd(&context->verbs) : -1;
}

/* --- asynchronous events ---------------------------------------------------------------------- */

doca_event_handle_t doca_verbs_get_async_event_handle(struct doca_verbs_context *context)
{
	return context ? dpumap_verbs_async_fd(&context->verbs) : -1;
}

doca_error_t doca_verbs_get_async_event(struct doca_verbs_context *context,
					struct doca_verbs_async_event *event)
{
	if (!context || !event)
		return dpumap_fail_null(__func__);
	return dpumap_verbs_next_event(&context->verbs, event);
}

void doca_verbs_ack_async_event(struct doca_verbs_async_event *event)
{
	if (event && event->element.reserved)
		dpumap_verbs_ack_event(event);
}

/* --- protection domains ----------------------------------------------------------------------- */

doca_error_t dpumap_verbs_new_pd(struct doca_verbs_context *context, const char *function,
				 struct doca_verbs_pd **pd)
{
	struct doca_verbs_pd *created = dpumap_verbs_new(sizeof(*created), function);

	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	created->context = context;
	*pd = created;
	return DOCA_SUCCESS;
}

static doca_error_t take_pd(struct doca_verbs_pd *created, doca_error_t result,
			    struct doca_verbs_pd **pd)
{
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	dpumap_verbs_use(&created->context->users);
	*pd = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_verbs_pd_create(struct doca_verbs_context *context, struct doca_verbs_pd **pd)
{
	struct doca_verbs_pd *created;
	doca_error_t result;

	if (!context || !pd)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_new_pd(context, __func__, &created);
	if (result != DOCA_SUCCESS)
		return result;
	return take_pd(created, dpumap_verbs_alloc_pd(&context->verbs, &created->verbs), pd);
}

doca_error_t doca_verbs_pd_import_from_handle(struct doca_verbs_context *context, int handle,
					      struct doca_verbs_pd **pd)
{
	struct doca_verbs_pd *created;
	doca_error_t result;

	if (!context || !pd)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_new_pd(context, __func__, &created);
	if (result != DOCA_SUCCESS)
		return result;
	return take_pd(created, dpumap_verbs_import_pd(&context->verbs, handle, &created->verbs),
		       pd);
}

doca_error_t doca_verbs_pd_destroy(struct doca_verbs_pd *pd)
{
	doca_error_t result;

	if (!pd)
		return dpumap_fail_null(__func__);
	result = dpumap_verbs_check_unused(&pd->users, "PD", pd);
	/* A program that brought the PD may have brought its device as well. */
	if (result == DOCA_SUCCESS && pd->context && dpumap_dev_find_on(pd->verbs.pd))
		result = dpumap_fail(DOCA_ERROR_BAD_STATE,
				     "verbs PD %p: its device is open; call doca_dev_close() first",
				     (void *)pd);
	if (result == DOCA_SUCCESS)
		result = dpumap_verbs_release_pd(&pd->verbs);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_verbs_unuse(dpumap_verbs_users_of(pd->context));
	free(pd);
	return DOCA_SUCCESS;
}

int doca_verbs_pd_export_handle(const struct doca_verbs_pd *pd)
{
	return pd ? dpumap_verbs_pd_handle(&pd->verbs) : -1;
}

doca_error_t doca_verbs_pd_as_doca_dev(struct doca_verbs_pd *pd, struct doca_dev **dev)
{
	struct doca_dev *found;

	if (!pd || !dev)
		return dpumap_fail_null(__func__);
	found = dpumap_dev_find_on(pd->verbs.pd);
	if (!found)
		return dpumap_dev_open_on(pd->verbs.pd, false, dev);
	*dev = found;
	return DOCA_SUCCESS;
}
