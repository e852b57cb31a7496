/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/cq.h"

#include <errno.h>
#include <string.h>

#include "device/domain_priv.h"
#include "device/errno.h"
#include "device/queue/events_priv.h"
#include "log/log.h"

static struct ibv_cq *create_on_domain(const struct dpumap_cq_attr *attr)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = attr->depth,
		.cq_context = attr->num_events,
		.channel = attr->events ? attr->events->channel : NULL,
		.comp_vector = attr->vector,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD,
		.flags = attr->domain->td ? IBV_CREATE_CQ_ATTR_SINGLE_THREADED : 0,
		.parent_domain = attr->domain->parent,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(attr->domain->device->context, &init);

	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

doca_error_t dpumap_cq_create(const struct dpumap_cq_attr *attr, struct ibv_cq **cq)
{
	struct dpumap_device *device = attr->domain->device;
	int err;

	dpumap_domain_clear_alloc_error();
	if (attr->domain->parent)
		*cq = create_on_domain(attr);
	else
		*cq = ibv_create_cq(device->context, (int)attr->depth, attr->num_events,
				    attr->events ? attr->events->channel : NULL, (int)attr->vector);
	if (*cq)
		return DOCA_SUCCESS;
	err = errno;
	if (dpumap_domain_alloc_error() != DOCA_SUCCESS)
		return dpumap_domain_alloc_error();
	return dpumap_fail(dpumap_errno_to_one_of(err, DOCA_ERROR_NO_MEMORY),
			   "%s: creating a completion queue for %u work requests failed: %s",
			   dpumap_hca_name(device->hca), attr->depth, strerror(err));
}
