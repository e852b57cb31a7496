/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/region_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <infiniband/mlx5dv.h>

#include <doca_types.h>

#include "device/devmem_priv.h"
#include "log/log.h"

#define WRITE_BY_OTHERS                                               \
	(DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC | \
	 DOCA_ACCESS_FLAG_PCI_READ_WRITE)
#define READ_BY_OTHERS                                                 \
	(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_PCI_READ_ONLY | \
	 DOCA_ACCESS_FLAG_PCI_READ_WRITE)

/* How the memory behind a region is registered: once for system memory, once for device memory. */
struct source {
	struct dpumap_device *device;
	struct dpumap_range range;
	struct ibv_dm *dm; /* NULL for system memory */
	size_t dm_offset;
};

static unsigned int local_rights(const struct dpumap_device *device, uint32_t access)
{
	unsigned int rights = 0;

	if (access & DOCA_ACCESS_FLAG_LOCAL_READ_WRITE)
		rights |= IBV_ACCESS_LOCAL_WRITE;
	if (access & DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING)
		rights |= IBV_ACCESS_RELAXED_ORDERING;
	/* Without a DMA engine a local copy is an RDMA read that the device sends to itself. */
	if (!device->caps.max_memcpy_len)
		rights |= IBV_ACCESS_REMOTE_READ;
	return rights;
}

static unsigned int all_rights(const struct dpumap_device *device, uint32_t access)
{
	unsigned int rights = local_rights(device, access);

	if (access & READ_BY_OTHERS)
		rights |= IBV_ACCESS_REMOTE_READ;
	if (access & (DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE))
		rights |= IBV_ACCESS_REMOTE_WRITE;
	if (access & DOCA_ACCESS_FLAG_RDMA_ATOMIC)
		rights |= IBV_ACCESS_REMOTE_ATOMIC;
	if (access & WRITE_BY_OTHERS)
		rights |= IBV_ACCESS_LOCAL_WRITE; /* verbs: remote write implies it */
	return rights;
}

static doca_error_t fail_register(const struct source *source)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	const char *name = dpumap_hca_name(source->device->hca);
	int err = errno;

	if (err == ENOMEM && !source->dm && !getrlimit(RLIMIT_MEMLOCK, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: registering %" PRIu64 " bytes at 0x%" PRIx64
				   " failed: %s (at most %ju bytes may be locked: ulimit -l)",
				   name, source->range.len, source->range.addr, strerror(err),
				   (uintmax_t)limit.rlim_cur);
	return dpumap_fail(DOCA_ERROR_DRIVER,
			   "%s: registering %" PRIu64 " bytes of %s at 0x%" PRIx64 " failed: %s",
			   name, source->range.len, source->dm ? "device memory" : "memory",
			   source->range.addr, strerror(err));
}

static doca_error_t reg_mr(const struct source *source, unsigned int rights, struct ibv_mr **mr)
{
	struct ibv_pd *pd = source->device->pd;
	struct ibv_mr *registered;

	if (source->dm)
		registered = ibv_reg_dm_mr(pd, source->dm, source->dm_offset, source->range.len,
					   rights | IBV_ACCESS_ZERO_BASED);
	else
		registered = ibv_reg_mr(pd, (void *)(uintptr_t)source->range.addr,
					source->range.len, rights);
	if (!registered)
		return fail_register(source);
	*mr = registered;
	return DOCA_SUCCESS;
}

static struct dpumap_region *create_region(struct dpumap_device *device, struct dpumap_range range)
{
	struct dpumap_region *region = calloc(1, sizeof(*region));

	if (!region) {
		dpumap_log_line(DPUMAP_LOG_ERROR, DOCA_ERROR_NO_MEMORY, "no memory for a region");
		return NULL;
	}
	region->device = device;
	region->range = range;
	return region;
}

static doca_error_t register_source(const struct source *source, uint32_t access,
				    struct dpumap_region **region)
{
	unsigned int rights = all_rights(source->device, access);
	unsigned int local = local_rights(source->device, access);
	struct dpumap_region *created;
	doca_error_t result;

	created = create_region(source->device, source->range);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	result = reg_mr(source, rights, &created->mr);
	if (result != DOCA_SUCCESS)
		goto free_region;
	if ((rights ^ local) & IBV_ACCESS_LOCAL_WRITE) {
		result = reg_mr(source, local, &created->local_mr);
		if (result != DOCA_SUCCESS)
			goto dereg_mr;
	}
	created->lkey = created->local_mr ? created->local_mr->lkey : created->mr->lkey;
	created->rkey = created->mr->rkey;
	created->iova = source->dm ? 0 : source->range.addr;
	*region = created;
	return DOCA_SUCCESS;

dereg_mr:
	ibv_dereg_mr(created->mr);
free_region:
	free(created);
	return result;
}

doca_error_t dpumap_region_register(struct dpumap_device *device, struct dpumap_range range,
				    uint32_t access, struct dpumap_region **region)
{
	struct source source = {.device = device, .range = range};

	return register_source(&source, access, region);
}

doca_error_t dpumap_region_register_devmem(struct dpumap_devmem *mem, size_t offset,
					   struct dpumap_range range, uint32_t access,
					   struct dpumap_region **region)
{
	struct source source = {
		.device = mem->device,
		.range = range,
		.dm = mem->dm,
		.dm_offset = offset,
	};

	return register_source(&source, access, region);
}

doca_error_t dpumap_region_import(struct dpumap_device *device, const struct dpumap_share *share,
				  struct dpumap_range range, struct dpumap_region **region)
{
	struct dpumap_region *created = create_region(device, range);
	doca_error_t result;

	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	result = dpumap_alias_create(device, share, &created->alias, &created->lkey);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	created->rkey = created->lkey;
	created->iova = range.addr;
	created->imported = true;
	*region = created;
	return DOCA_SUCCESS;
}

static doca_error_t destroy_object(const struct dpumap_region *region, const char *what,
				   struct mlx5dv_devx_obj **obj)
{
	int err;

	if (!*obj)
		return DOCA_SUCCESS;
	err = mlx5dv_devx_obj_destroy(*obj);
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: destroying %s failed: %s",
				   dpumap_hca_name(region->device->hca), what, strerror(err));
	*obj = NULL;
	return DOCA_SUCCESS;
}

void dpumap_region_unshare(struct dpumap_region *region)
{
	/* What cannot be destroyed now is with the region. */
	destroy_object(region, "an exported mkey", &region->shared);
}

static doca_error_t dereg_mr(const struct dpumap_region *region, struct ibv_mr **mr)
{
	int err;

	if (!*mr)
		return DOCA_SUCCESS;
	err = ibv_dereg_mr(*mr);
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: deregistering memory failed: %s",
				   dpumap_hca_name(region->device->hca), strerror(err));
	*mr = NULL;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_region_destroy(struct dpumap_region *region)
{
	doca_error_t result;

	/* The exported mkey refers to the MR, so it goes first. */
	result = destroy_object(region, "an exported mkey", &region->shared);
	if (result == DOCA_SUCCESS)
		result = destroy_object(region, "an alias mkey", &region->alias);
	if (result == DOCA_SUCCESS)
		result = dereg_mr(region, &region->local_mr);
	if (result == DOCA_SUCCESS)
		result = dereg_mr(region, &region->mr);
	if (result == DOCA_SUCCESS)
		free(region);
	return result;
}
