/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/memory/region_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>

#include "base/array.h"
#include "device/device_priv.h"
#include "device/errno.h"
#include "device/memory/access.h"
#include "device/memory/devmem_priv.h"
#include "device/memory/export.h"
#include "device/memory/mkey.h"
#include "log/log.h"

/* The memory to register. */
struct source {
	struct dpumap_device *device;
	struct dpumap_range range;
	const char *what;
	uint64_t iova;
	struct ibv_dm *dm; /* device memory, or NULL */
	int dmabuf;	   /* dma-buf, or -1 */
	uint64_t offset;   /* in either */
	bool or_read_only; /* memory: read only, if this process may not write it */
};

static doca_error_t fail_register(const struct source *source)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	const char *name = dpumap_hca_name(source->device->hca);
	int err = errno;

	if (err == ENOMEM && !source->dm && source->dmabuf < 0 &&
	    !getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: registering %" PRIu64 " bytes at 0x%" PRIx64
				   " failed: %s (limit on locked memory: %ju bytes, see ulimit -l)",
				   name, source->range.len, source->range.addr, strerror(err),
				   (uintmax_t)limit.rlim_cur);
	if (err == EOPNOTSUPP)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: registering %s is not supported by the driver", name,
				   source->what);
	return dpumap_fail(DOCA_ERROR_DRIVER,
			   "%s: registering %" PRIu64 " bytes of %s at 0x%" PRIx64 " failed: %s",
			   name, source->range.len, source->what, source->range.addr,
			   strerror(err));
}

static struct ibv_mr *reg_memory(const struct source *source, unsigned int *rights)
{
	void *addr = (void *)(uintptr_t)source->range.addr;
	struct ibv_mr *mr = ibv_reg_mr(source->device->pd, addr, source->range.len, *rights);

	if (mr || errno != EFAULT || !source->or_read_only || !(*rights & IBV_ACCESS_LOCAL_WRITE))
		return mr;
	*rights &= ~(unsigned int)IBV_ACCESS_LOCAL_WRITE;
	mr = ibv_reg_mr(source->device->pd, addr, source->range.len, *rights);
	if (mr)
		dpumap_log(DPUMAP_LOG_INFO,
			   "%s: the %" PRIu64 " bytes at 0x%" PRIx64
			   " are memory that this process may only read: registered for reading",
			   dpumap_hca_name(source->device->hca), source->range.len,
			   source->range.addr);
	return mr;
}

/* May take the right to write from *rights. */
static doca_error_t reg_mr(const struct source *source, unsigned int *rights, struct ibv_mr **mr)
{
	struct ibv_pd *pd = source->device->pd;
	struct ibv_mr *registered;

	if (source->dm)
		registered = ibv_reg_dm_mr(pd, source->dm, source->offset, source->range.len,
					   *rights | IBV_ACCESS_ZERO_BASED);
	else if (source->dmabuf >= 0)
		registered = ibv_reg_dmabuf_mr(pd, source->offset, source->range.len, source->iova,
					       source->dmabuf, (int)*rights);
	else
		registered = reg_memory(source, rights);
	if (!registered)
		return fail_register(source);
	*mr = registered;
	return DOCA_SUCCESS;
}

struct dpumap_region *dpumap_region_create(struct dpumap_device *device, struct dpumap_range range)
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
	unsigned int rights = dpumap_access_all(source->device, access);
	unsigned int local = dpumap_access_local(source->device, access);
	struct dpumap_region *created;
	doca_error_t result;

	created = dpumap_region_create(source->device, source->range);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	result = reg_mr(source, &rights, &created->mr);
	if (result != DOCA_SUCCESS)
		goto free_region;
	if (source->or_read_only)
		local &= rights;
	if ((rights ^ local) & IBV_ACCESS_LOCAL_WRITE) {
		result = reg_mr(source, &local, &created->local_mr);
		if (result != DOCA_SUCCESS)
			goto dereg_mr;
	}
	created->lkey = created->local_mr ? created->local_mr->lkey : created->mr->lkey;
	created->rkey = created->mr->rkey;
	created->local_rights = local & IBV_ACCESS_LOCAL_WRITE;
	created->remote_rights = rights & DPUMAP_ACCESS_REMOTE;
	created->iova = source->iova;
	created->is_memory = !source->dm && source->dmabuf < 0;
	*region = created;
	return DOCA_SUCCESS;

dereg_mr:
	ibv_dereg_mr(created->mr);
free_region:
	free(created);
	return result;
}

doca_error_t dpumap_region_register(struct dpumap_device *device, struct dpumap_range range,
				    uint32_t access, bool or_read_only,
				    struct dpumap_region **region)
{
	struct source source = {
		.device = device,
		.range = range,
		.what = "memory",
		.iova = range.addr,
		.dmabuf = -1,
		.or_read_only = or_read_only,
	};

	return register_source(&source, access, region);
}

doca_error_t dpumap_region_register_devmem(struct dpumap_devmem *mem, size_t offset,
					   struct dpumap_range range, uint32_t access,
					   struct dpumap_region **region)
{
	struct source source = {
		.device = mem->device,
		.range = range,
		.what = "device memory",
		.iova = 0,
		.dm = mem->dm,
		.dmabuf = -1,
		.offset = offset,
	};

	return register_source(&source, access, region);
}

/* The kernel requires the same offset within a page for the address and in the dma-buf. */
static uint64_t choose_iova(uint64_t addr, uint64_t offset)
{
	uint64_t in_page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;

	return (addr ^ offset) & in_page ? offset : addr;
}

doca_error_t dpumap_region_register_dmabuf(struct dpumap_device *device, int fd, uint64_t offset,
					   struct dpumap_range range, uint32_t access,
					   struct dpumap_region **region)
{
	struct source source = {
		.device = device,
		.range = range,
		.what = "a dma-buf",
		.iova = choose_iova(range.addr, offset),
		.dmabuf = fd,
		.offset = offset,
	};

	return register_source(&source, access, region);
}

doca_error_t dpumap_region_import(struct dpumap_device *device,
				  const struct dpumap_pci_export *exported,
				  struct dpumap_range range, uint32_t access,
				  struct dpumap_region **region)
{
	struct dpumap_region *created = dpumap_region_create(device, range);
	doca_error_t result;

	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	result = dpumap_alias_create(device, exported, &created->mkey);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	created->lkey = created->mkey.key;
	created->rkey = created->mkey.key;
	created->remote_rights = dpumap_access_pci(access);
	if (created->remote_rights & IBV_ACCESS_REMOTE_WRITE)
		created->local_rights = IBV_ACCESS_LOCAL_WRITE;
	created->iova = range.addr;
	created->is_imported = true;
	*region = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_region_get_key(struct dpumap_region *region, uint32_t *key)
{
	doca_error_t result = DOCA_SUCCESS;

	if (region->iova == region->range.addr) {
		*key = region->lkey;
		return DOCA_SUCCESS;
	}
	if (!region->local_mkey.obj)
		result = dpumap_ksm_create(region, region->lkey, region->local_rights,
					   &region->local_mkey);
	if (result == DOCA_SUCCESS)
		*key = region->local_mkey.key;
	return result;
}

doca_error_t dpumap_region_export_rdma(struct dpumap_region *region, uint32_t access, uint32_t *key)
{
	unsigned int rights = dpumap_access_rdma(access);
	doca_error_t result = DOCA_SUCCESS;

	if (region->iova == region->range.addr && region->remote_rights == rights &&
	    !region->starts_early) {
		*key = region->rkey;
		return DOCA_SUCCESS;
	}
	if (rights & ~(unsigned int)IBV_ACCESS_REMOTE_READ)
		rights |= IBV_ACCESS_LOCAL_WRITE; /* as for registrations */
	if (!region->rdma_mkey.obj)
		result = dpumap_ksm_create(region, region->rkey, rights, &region->rdma_mkey);
	if (result == DOCA_SUCCESS)
		*key = region->rdma_mkey.key;
	return result;
}

void dpumap_region_unexport_rdma(struct dpumap_region *region)
{
	/* An mkey that cannot be destroyed now is destroyed with the region. */
	dpumap_mkey_destroy(region->device, &region->rdma_mkey);
}

static doca_error_t dereg_mr(const struct dpumap_region *region, struct ibv_mr **mr)
{
	int err;

	if (!*mr)
		return DOCA_SUCCESS;
	err = dpumap_errno_of_end(region->device->context, ibv_dereg_mr(*mr));
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: deregistering memory failed: %s",
				   dpumap_hca_name(region->device->hca), strerror(err));
	*mr = NULL;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_region_destroy(struct dpumap_region *region)
{
	/* An mkey goes before the one that it is on. */
	struct dpumap_mkey *const mkeys[] = {&region->rdma_mkey, &region->local_mkey,
					     &region->umem_local_mkey, &region->mkey};
	struct ibv_mr **const mrs[] = {&region->local_mr, &region->mr};
	doca_error_t result = dpumap_region_drop_pci(region);

	for (size_t i = 0; i < ARRAY_SIZE(mkeys) && result == DOCA_SUCCESS; i++)
		result = dpumap_mkey_destroy(region->device, mkeys[i]);
	for (size_t i = 0; i < ARRAY_SIZE(mrs) && result == DOCA_SUCCESS; i++)
		result = dereg_mr(region, mrs[i]);
	if (result == DOCA_SUCCESS)
		free(region);
	return result;
}
