/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/memory/region.h"

#include <stdlib.h>

#include "device/memory/access.h"
#include "device/memory/region_priv.h"
#include "device/memory/umem_mkey.h"
#include "device/memory/umem_priv.h"

/* A byte must have the same offset in its page in both address spaces. */
static uint64_t choose_iova(const struct dpumap_devx_umem *umem, uint64_t offset, uint64_t addr)
{
	uint64_t at = umem->source.start + offset;

	return (addr ^ at) & (DPUMAP_UMEM_PAGE - 1) ? at : addr;
}

static doca_error_t create_mkeys(struct dpumap_region *region, const struct dpumap_umem_part *part,
				 unsigned int rights, unsigned int local)
{
	struct dpumap_device *device = region->device;
	doca_error_t result;

	result = dpumap_umem_mkey_create(device, part, rights, &region->mkey);
	if (result == DOCA_SUCCESS && (rights ^ local) & IBV_ACCESS_LOCAL_WRITE) {
		result = dpumap_umem_mkey_create(device, part, local, &region->umem_local_mkey);
		if (result != DOCA_SUCCESS)
			dpumap_mkey_destroy(device, &region->mkey);
	}
	return result == DOCA_SUCCESS || result == DOCA_ERROR_NO_MEMORY ? result
									: DOCA_ERROR_DRIVER;
}

doca_error_t dpumap_region_register_umem(struct dpumap_devx_umem *umem, uint64_t offset,
					 struct dpumap_range range, uint32_t access,
					 struct dpumap_region **region)
{
	struct dpumap_region *created;
	unsigned int rights = dpumap_access_all(umem->device, access);
	unsigned int local = dpumap_access_local(umem->device, access);
	uint64_t iova = choose_iova(umem, offset, range.addr);
	uint64_t before = iova & (DPUMAP_UMEM_PAGE - 1);
	struct dpumap_umem_part part = {
		.umem_id = umem->umem_id,
		.offset = umem->source.start + offset - before - umem->base,
		.start = iova - before,
		.len = before + range.len,
	};
	doca_error_t result;

	created = dpumap_region_create(umem->device, range);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	result = create_mkeys(created, &part, rights, local);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	created->rkey = created->mkey.key;
	created->lkey = created->umem_local_mkey.obj ? created->umem_local_mkey.key : created->rkey;
	created->local_rights = local & IBV_ACCESS_LOCAL_WRITE;
	created->remote_rights = rights & DPUMAP_ACCESS_REMOTE;
	created->iova = iova;
	created->starts_early = before;
	created->has_umem = !before && iova == range.addr;
	created->umem_id = part.umem_id;
	created->umem_offset = part.offset;
	*region = created;
	return DOCA_SUCCESS;
}
