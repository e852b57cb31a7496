/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/domain/parent_domain.h"

#include <stdlib.h>

#include "log/log.h"

static doca_error_t check_attr(const struct dpumap_parent_domain_attr *attr)
{
	if (attr->allocator && (!attr->allocator->alloc || !attr->allocator->free))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "parent domain: the allocator must have alloc and free");
	return DOCA_SUCCESS;
}

doca_error_t dpumap_parent_domain_create(struct doca_dev *dev,
					 const struct dpumap_parent_domain_attr *attr,
					 struct dpumap_parent_domain **domain)
{
	static const struct dpumap_parent_domain_attr plain;
	struct dpumap_parent_domain *created;
	doca_error_t result;

	if (!dev || !domain)
		return dpumap_fail_null(__func__);
	if (!attr)
		attr = &plain;
	result = check_attr(attr);
	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a parent domain");
	result = dpumap_domain_create(dev->device, attr->allocator, attr->single_thread,
				      &created->domain);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	created->dev = dev;
	atomic_init(&created->users, 0);
	dpumap_dev_add_user(dev);
	*domain = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_parent_domain_destroy(struct dpumap_parent_domain *domain)
{
	unsigned int users;
	doca_error_t result;

	if (!domain)
		return dpumap_fail_null(__func__);
	users = atomic_load(&domain->users);
	if (users)
		return dpumap_fail(
			DOCA_ERROR_IN_USE,
			"destroying a parent domain of %s: %u queues use it; destroy them first",
			dpumap_hca_name(domain->dev->info.hca), users);
	result = dpumap_domain_destroy(domain->domain);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_dev_remove_user(domain->dev);
	free(domain);
	return DOCA_SUCCESS;
}
