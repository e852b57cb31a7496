/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/verbs/context.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "device/device_priv.h"
#include "device/errno.h"
#include "device/hca_priv.h"
#include "device/verbs/cq.h"
#include "device/verbs/qp.h"
#include "log/log.h"

static void init(struct dpumap_verbs_context *context, struct ibv_context *opened, bool is_own)
{
	*context = (struct dpumap_verbs_context){.context = opened, .is_own = is_own};
	pthread_mutex_init(&context->lock, NULL);
	atomic_init(&context->holders, NULL);
}

doca_error_t dpumap_verbs_open(struct dpumap_verbs_context *context, const struct dpumap_hca *hca)
{
	struct ibv_context *opened;
	bool devx;

	opened = dpumap_hca_open_context(hca, &devx);
	if (!opened)
		return DOCA_ERROR_NOT_CONNECTED;
	init(context, opened, true);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_verbs_open_ibv(struct dpumap_verbs_context *context,
				   const struct ibv_device *ibdev)
{
	struct dpumap_hca *hca = NULL;
	doca_error_t result = dpumap_hca_find(ibdev, &hca);

	if (result == DOCA_ERROR_NO_MEMORY)
		return result;
	if (!hca)
		return dpumap_fail(DOCA_ERROR_NOT_CONNECTED,
				   "verbs context: the library does not support the device %s",
				   ibdev->name);
	result = dpumap_verbs_open(context, hca);
	dpumap_hca_put(hca);
	return result;
}

doca_error_t dpumap_verbs_import(struct dpumap_verbs_context *context, int fd)
{
	struct ibv_context *imported;
	doca_error_t result = dpumap_context_import(fd, &imported);

	if (result != DOCA_SUCCESS)
		return result == DOCA_ERROR_INVALID_VALUE ? result : DOCA_ERROR_DRIVER;
	init(context, imported, true);
	return DOCA_SUCCESS;
}

void dpumap_verbs_borrow(struct dpumap_verbs_context *context, struct ibv_context *borrowed)
{
	init(context, borrowed, false);
}

void dpumap_verbs_close(struct dpumap_verbs_context *context)
{
	if (context->is_own && ibv_close_device(context->context))
		dpumap_log(DPUMAP_LOG_WARNING, "verbs context: closing the device failed: %s",
			   strerror(errno));
	pthread_mutex_destroy(&context->lock);
}

int dpumap_verbs_fd(const struct dpumap_verbs_context *context)
{
	return context->context->cmd_fd;
}

int dpumap_verbs_async_fd(const struct dpumap_verbs_context *context)
{
	return context->context->async_fd;
}

const char *dpumap_verbs_name(const struct dpumap_verbs_context *context)
{
	return ibv_get_device_name(context->context->device);
}

__attribute__((cold)) int dpumap_verbs_fail_external(const struct dpumap_verbs_context *context)
{
	dpumap_log_line(
		DPUMAP_LOG_ERROR, DOCA_ERROR_INVALID_VALUE,
		"%s: a queue has an external data path: the program itself must post and poll",
		dpumap_verbs_name(context));
	return EINVAL;
}

doca_error_t dpumap_verbs_query(struct ibv_context *context, struct dpumap_verbs_limits *limits)
{
	struct ibv_device_attr_ex attr = {0};
	int err = ibv_query_device_ex(context, NULL, &attr);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying the device failed: %s",
				   ibv_get_device_name(context->device), strerror(err));
	limits->attr = attr.orig_attr;
	limits->clock_khz = (uint32_t)attr.hca_core_clock;
	return DOCA_SUCCESS;
}

/* --- asynchronous events ---------------------------------------------------------------------- */

static const struct {
	int type; /* DOCA_VERBS_EVENT_* */
	enum ibv_event_type ibv;
} event_types[] = {
	{DOCA_VERBS_EVENT_QP_FATAL, IBV_EVENT_QP_FATAL},
	{DOCA_VERBS_EVENT_QP_REQ_ERR, IBV_EVENT_QP_REQ_ERR},
	{DOCA_VERBS_EVENT_QP_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR},
	{DOCA_VERBS_EVENT_CQ_ERR, IBV_EVENT_CQ_ERR},
};

static struct dpumap_verbs_qp *find_qp(struct dpumap_verbs_context *context,
				       const struct ibv_qp *wanted)
{
	struct dpumap_verbs_qp *qp;

	pthread_mutex_lock(&context->lock);
	for (qp = context->qps; qp && qp->qp != wanted; qp = qp->next)
		;
	pthread_mutex_unlock(&context->lock);
	return qp;
}

static struct dpumap_verbs_cq *find_cq(struct dpumap_verbs_context *context,
				       const struct ibv_cq *wanted)
{
	struct dpumap_verbs_cq *cq;

	pthread_mutex_lock(&context->lock);
	for (cq = context->cqs; cq && cq->cq != wanted; cq = cq->next)
		;
	pthread_mutex_unlock(&context->lock);
	return cq;
}

/* False: the event is of another type, or of an object of the program. */
static bool translate(struct dpumap_verbs_context *context, const struct ibv_async_event *raw,
		      struct doca_verbs_async_event *event)
{
	struct doca_verbs_async_event found = {0};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(event_types); i++)
		if (event_types[i].ibv == raw->event_type)
			break;
	if (i == ARRAY_SIZE(event_types))
		return false;
	found.event_type = event_types[i].type;
	if (raw->event_type == IBV_EVENT_CQ_ERR)
		found.element.reserved = find_cq(context, raw->element.cq);
	else
		found.element.reserved = find_qp(context, raw->element.qp);
	if (!found.element.reserved)
		return false;
	*event = found;
	return true;
}

doca_error_t dpumap_verbs_next_event(struct dpumap_verbs_context *context,
				     struct doca_verbs_async_event *event)
{
	struct ibv_async_event raw;

	for (;;) {
		errno = 0; /* the end of the file leaves it alone */
		if (ibv_get_async_event(context->context, &raw)) {
			if (errno == EAGAIN)
				return DOCA_ERROR_AGAIN;
			if (errno == EINTR)
				continue;
			return dpumap_fail(DOCA_ERROR_DRIVER,
					   "%s: reading its asynchronous events failed: %s",
					   dpumap_verbs_name(context),
					   errno ? strerror(errno) : "the device is gone");
		}
		if (translate(context, &raw, event))
			return DOCA_SUCCESS;
		ibv_ack_async_event(&raw);
	}
}

void dpumap_verbs_ack_event(const struct doca_verbs_async_event *event)
{
	struct ibv_async_event raw = {0};

	for (size_t i = 0; i < ARRAY_SIZE(event_types); i++)
		if (event_types[i].type == event->event_type)
			raw.event_type = event_types[i].ibv;
	if (event->event_type == DOCA_VERBS_EVENT_CQ_ERR)
		raw.element.cq = ((const struct dpumap_verbs_cq *)event->element.reserved)->cq;
	else
		raw.element.qp = ((const struct dpumap_verbs_qp *)event->element.reserved)->qp;
	ibv_ack_async_event(&raw);
}

/* --- protection domains ----------------------------------------------------------------------- */

doca_error_t dpumap_verbs_alloc_pd(const struct dpumap_verbs_context *context,
				   struct dpumap_verbs_pd *pd)
{
	pd->kind = VERBS_PD_OWN;
	pd->pd = ibv_alloc_pd(context->context);
	if (pd->pd)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: allocating a protection domain failed: %s",
			   dpumap_verbs_name(context), strerror(errno));
}

doca_error_t dpumap_verbs_import_pd(const struct dpumap_verbs_context *context, int handle,
				    struct dpumap_verbs_pd *pd)
{
	int err;

	pd->kind = VERBS_PD_IMPORTED;
	pd->pd = ibv_import_pd(context->context, (uint32_t)handle);
	if (pd->pd)
		return DOCA_SUCCESS;
	err = errno == ENOENT ? EINVAL : errno; /* there is none with this number */
	return dpumap_fail(
		dpumap_errno_to_one_of(err, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_NO_MEMORY),
		"%s: importing protection domain %d failed: %s", dpumap_verbs_name(context), handle,
		strerror(errno));
}

doca_error_t dpumap_verbs_release_pd(const struct dpumap_verbs_pd *pd)
{
	struct ibv_context *context = pd->pd->context;
	int err = 0;

	if (pd->kind == VERBS_PD_IMPORTED)
		ibv_unimport_pd(pd->pd);
	else if (pd->kind == VERBS_PD_OWN)
		err = dpumap_errno_of_end(context, ibv_dealloc_pd(pd->pd));
	if (err)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s: deallocating a protection domain failed: %s: destroy the "
				   "program's objects on it first",
				   ibv_get_device_name(context->device), strerror(err));
	return DOCA_SUCCESS;
}

int dpumap_verbs_pd_handle(const struct dpumap_verbs_pd *pd)
{
	return (int)pd->pd->handle;
}

bool dpumap_verbs_has_pd(const struct dpumap_verbs_context *context,
			 const struct dpumap_verbs_pd *pd)
{
	return pd->pd->context == context->context;
}
