/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/domain_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/errno.h"
#include "device/queue_memory.h"
#include "log/log.h"

#define SAME(ours, theirs) _Static_assert((uint32_t)(theirs) == (uint32_t)(ours), "resource " #ours)
SAME(DPUMAP_RESOURCE_QP, MLX5DV_RES_TYPE_QP);
SAME(DPUMAP_RESOURCE_DOORBELL, MLX5DV_RES_TYPE_DBR);
SAME(DPUMAP_RESOURCE_CQ, MLX5DV_RES_TYPE_CQ);

static _Thread_local doca_error_t alloc_error;

void dpumap_domain_clear_alloc_error(void)
{
	alloc_error = DOCA_SUCCESS;
}

doca_error_t dpumap_domain_alloc_error(void)
{
	return alloc_error;
}

/* Queues of other types, possibly of later versions, use libmlx5's memory. */
static bool is_known(uint64_t type)
{
	return type == MLX5DV_RES_TYPE_QP || type == MLX5DV_RES_TYPE_DBR ||
	       type == MLX5DV_RES_TYPE_CQ;
}

static void *alloc_memory(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
			  uint64_t type)
{
	const struct dpumap_domain *domain = pd_context;
	const struct dpumap_allocator *allocator = &domain->allocator;
	enum dpumap_resource resource = (enum dpumap_resource)(uint32_t)type;
	void *memory;

	(void)pd;
	if (!is_known(type))
		return IBV_ALLOCATOR_USE_DEFAULT;
	memory = allocator->alloc(allocator->context, size, alignment, resource);
	if (memory == DPUMAP_ALLOC_DEFAULT)
		return IBV_ALLOCATOR_USE_DEFAULT;
	if (!memory) {
		alloc_error =
			dpumap_fail(DOCA_ERROR_NO_MEMORY,
				    "%s: the allocator has no %zu bytes aligned to %zu for %s",
				    dpumap_hca_name(domain->device->hca), size, alignment,
				    dpumap_queue_memory_name(resource));
		return NULL;
	}
	alloc_error = dpumap_queue_memory_check(memory, size, alignment, resource);
	if (alloc_error == DOCA_SUCCESS)
		return memory;
	allocator->free(allocator->context, memory, resource);
	return NULL;
}

static void free_memory(struct ibv_pd *pd, void *pd_context, void *memory, uint64_t type)
{
	const struct dpumap_domain *domain = pd_context;

	(void)pd;
	domain->allocator.free(domain->allocator.context, memory,
			       (enum dpumap_resource)(uint32_t)type);
}

static doca_error_t fail_create(const struct dpumap_domain *domain, const char *what)
{
	int err = errno;

	return dpumap_fail(
		dpumap_errno_to_one_of(err, DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED),
		"%s: creating a %s domain failed: %s", dpumap_hca_name(domain->device->hca), what,
		strerror(err));
}

static doca_error_t alloc_td(struct dpumap_domain *domain)
{
	struct ibv_td_init_attr attr = {0};

	domain->td = ibv_alloc_td(domain->device->context, &attr);
	return domain->td ? DOCA_SUCCESS : fail_create(domain, "thread");
}

static doca_error_t alloc_parent(struct dpumap_domain *domain)
{
	struct ibv_parent_domain_init_attr attr = {.pd = domain->device->pd, .td = domain->td};

	if (domain->allocator.alloc) {
		attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
				 IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
		attr.alloc = alloc_memory;
		attr.free = free_memory;
		attr.pd_context = domain;
	}
	domain->parent = ibv_alloc_parent_domain(domain->device->context, &attr);
	return domain->parent ? DOCA_SUCCESS : fail_create(domain, "parent");
}

doca_error_t dpumap_domain_create(struct dpumap_device *device,
				  const struct dpumap_allocator *allocator, bool single_thread,
				  struct dpumap_domain **domain)
{
	struct dpumap_domain *created = calloc(1, sizeof(*created));
	doca_error_t result = DOCA_SUCCESS;

	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a parent domain");
	created->device = device;
	if (allocator)
		created->allocator = *allocator;
	if (single_thread)
		result = alloc_td(created);
	if (result != DOCA_SUCCESS)
		goto free_domain;
	result = alloc_parent(created);
	if (result != DOCA_SUCCESS)
		goto dealloc_td;
	*domain = created;
	return DOCA_SUCCESS;

dealloc_td:
	if (created->td)
		ibv_dealloc_td(created->td);
free_domain:
	free(created);
	return result;
}

doca_error_t dpumap_domain_create_default(struct dpumap_device *device,
					  struct dpumap_domain **domain)
{
	struct dpumap_domain *created;

	if (device->caps.is_mlx5)
		return dpumap_domain_create(device, NULL, false, domain);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a domain of queues");
	created->device = device;
	*domain = created;
	return DOCA_SUCCESS;
}

struct ibv_pd *dpumap_domain_pd(const struct dpumap_domain *domain)
{
	return domain->parent ? domain->parent : domain->device->pd;
}

static doca_error_t fail_destroy(const struct dpumap_domain *domain, const char *what, int err)
{
	return dpumap_fail(dpumap_errno_to_one_of(err, DOCA_ERROR_IN_USE),
			   "%s: destroying a %s domain failed: %s",
			   dpumap_hca_name(domain->device->hca), what, strerror(err));
}

doca_error_t dpumap_domain_destroy(struct dpumap_domain *domain)
{
	int err;

	if (domain->parent) {
		err = dpumap_errno_of_end(domain->device->context, ibv_dealloc_pd(domain->parent));
		if (err)
			return fail_destroy(domain, "parent", err);
		domain->parent = NULL;
	}
	if (domain->td) {
		err = dpumap_errno_of_end(domain->device->context, ibv_dealloc_td(domain->td));
		if (err)
			return fail_destroy(domain, "thread", err);
	}
	free(domain);
	return DOCA_SUCCESS;
}
