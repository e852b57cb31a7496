/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The exporter creates an mkey of its own on the registration and allows other functions to use it
 * with an access key (ALLOW_OTHER_VHCA_ACCESS). The importer creates an alias of it, naming
 * function, mkey and key. The exporter's mkey has its own address space and rights, and destroying
 * it revokes the export.
 *
 * The mkey is indirect (KSM) where the firmware lets other functions use such mkeys, as BlueField-3
 * does. BlueField-2 does not, and no capability reports it: UCX detected it by trying and fell back
 * to a direct mkey on a umem, until it dropped BlueField-2 (commit a8c655658d). This file does the
 * same for memory of this process; device memory and dma-bufs cannot be exported on such a device.
 */
#include "device/memory/export.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/devx.h"
#include "device/errno.h"
#include "device/memory/access.h"
#include "device/memory/mkey.h"
#include "device/memory/region_priv.h"
#include "device/memory/umem_mkey.h"
#include "device/prm.h"
#include "log/log.h"

static doca_error_t make_random_key(uint8_t *key)
{
	ssize_t got;

	do {
		got = getrandom(key, DPUMAP_ACCESS_KEY_SIZE, 0);
	} while (got < 0 && errno == EINTR);
	if (got != DPUMAP_ACCESS_KEY_SIZE)
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "reading random numbers for an access key failed: %s",
				   strerror(errno));
	return DOCA_SUCCESS;
}

static doca_error_t allow_other_vhca(const struct dpumap_region *region, uint32_t mkey,
				     const uint8_t *key, bool probe)
{
	uint8_t in[PRM_ALLOW_IN_LEN] = {0};
	uint8_t out[PRM_ALLOW_OUT_LEN] = {0};
	struct dpumap_devx_cmd cmd = {
		.what = "ALLOW_OTHER_VHCA_ACCESS",
		.in = in,
		.in_len = sizeof(in),
		.out = out,
		.out_len = sizeof(out),
		.refusal = probe ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_DRIVER,
		.probe = probe,
	};
	doca_error_t result;

	prm_set(in, PRM_IN_OPCODE, PRM_OP_ALLOW_OTHER_VHCA_ACCESS);
	prm_set(in, PRM_ALLOW_OBJECT_TYPE, PRM_OBJ_TYPE_MKEY);
	prm_set(in, PRM_ALLOW_OBJECT_ID, mkey >> 8);
	memcpy(in + PRM_ALLOW_ACCESS_KEY, key, DPUMAP_ACCESS_KEY_SIZE);
	result = dpumap_devx_command(region->device->context, &cmd);
	explicit_bzero(in, sizeof(in));
	return result;
}

static doca_error_t choose_key(const uint8_t *key, uint8_t chosen[DPUMAP_ACCESS_KEY_SIZE])
{
	if (!key)
		return make_random_key(chosen);
	memcpy(chosen, key, DPUMAP_ACCESS_KEY_SIZE);
	return DOCA_SUCCESS;
}

/*
 * DOCA_ERROR_NOT_SUPPORTED: try a direct mkey. An mkey that cannot be destroyed now is destroyed
 * before the next attempt, or with the region.
 */
static doca_error_t export_indirect(struct dpumap_region *region, unsigned int rights,
				    const uint8_t *key)
{
	doca_error_t result, undone;

	result = dpumap_ksm_create(region, region->rkey, rights, &region->pci_mkey);
	if (result != DOCA_SUCCESS)
		return result;
	result = allow_other_vhca(region, region->pci_mkey.key, key, true);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	undone = dpumap_region_unexport_pci(region);
	return undone == DOCA_SUCCESS ? result : undone;
}

static doca_error_t register_umem(struct dpumap_region *region, unsigned int rights)
{
	struct mlx5dv_devx_umem_in in = {
		.addr = (void *)(uintptr_t)region->range.addr,
		.size = region->range.len,
		.access = rights & IBV_ACCESS_LOCAL_WRITE,
		.pgsz_bitmap = DPUMAP_UMEM_PAGE,
	};

	if (region->pci_umem)
		return DOCA_SUCCESS;
	region->pci_umem = mlx5dv_devx_umem_reg_ex(region->device->context, &in);
	if (!region->pci_umem)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: registering %" PRIu64 " bytes at 0x%" PRIx64
				   " as a umem for export failed: %s",
				   dpumap_hca_name(region->device->hca), region->range.len,
				   region->range.addr, strerror(errno));
	return DOCA_SUCCESS;
}

static doca_error_t find_umem(struct dpumap_region *region, unsigned int rights,
			      struct dpumap_umem_part *part)
{
	doca_error_t result;

	*part = (struct dpumap_umem_part){
		.umem_id = region->umem_id,
		.offset = region->umem_offset,
		.start = region->range.addr,
		.len = region->range.len,
	};
	if (region->has_umem)
		return DOCA_SUCCESS;
	if (!region->is_memory)
		return dpumap_fail(
			DOCA_ERROR_NOT_SUPPORTED,
			"%s cannot export indirect mkeys: it can export memory, or a umem from the "
			"start of a page, but not device memory or a dma-buf",
			dpumap_hca_name(region->device->hca));
	result = register_umem(region, rights);
	if (result != DOCA_SUCCESS)
		return result;
	part->umem_id = region->pci_umem->umem_id;
	return DOCA_SUCCESS;
}

static doca_error_t export_direct(struct dpumap_region *region, unsigned int rights,
				  const uint8_t *key)
{
	struct dpumap_umem_part part = {0};
	doca_error_t result;

	result = find_umem(region, rights, &part);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_umem_mkey_create(region->device, &part, rights, &region->pci_mkey);
	if (result == DOCA_SUCCESS)
		result = allow_other_vhca(region, region->pci_mkey.key, key, false);
	if (result != DOCA_SUCCESS)
		dpumap_region_unexport_pci(region);
	return result;
}

static doca_error_t export_with(struct dpumap_region *region, unsigned int rights,
				const uint8_t *key)
{
	doca_error_t result;

	result = dpumap_region_unexport_pci(region);
	if (result != DOCA_SUCCESS)
		return result;
	result = export_indirect(region, rights, key);
	if (result == DOCA_ERROR_NOT_SUPPORTED)
		result = export_direct(region, rights, key);
	return result;
}

doca_error_t dpumap_region_export_pci(struct dpumap_region *region, uint32_t access,
				      const uint8_t *key, struct dpumap_pci_export *exported)
{
	unsigned int rights = dpumap_access_pci(access);
	doca_error_t result;

	if (rights & IBV_ACCESS_REMOTE_WRITE)
		rights |= IBV_ACCESS_LOCAL_WRITE;
	result = choose_key(key, exported->access_key);
	if (result != DOCA_SUCCESS)
		return result;
	result = export_with(region, rights, exported->access_key);
	if (result != DOCA_SUCCESS) {
		explicit_bzero(exported->access_key, sizeof(exported->access_key));
		return result;
	}
	exported->mkey = region->pci_mkey.key;
	exported->vhca_id = region->device->caps.vhca_id;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_region_unexport_pci(struct dpumap_region *region)
{
	return dpumap_mkey_destroy(region->device, &region->pci_mkey);
}

doca_error_t dpumap_region_drop_pci(struct dpumap_region *region)
{
	doca_error_t result = dpumap_region_unexport_pci(region);
	int err;

	if (result != DOCA_SUCCESS || !region->pci_umem)
		return result;
	err = dpumap_errno_of_end(region->device->context,
				  mlx5dv_devx_umem_dereg(region->pci_umem));
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: deregistering the umem of an export failed: %s",
				   dpumap_hca_name(region->device->hca), strerror(err));
	region->pci_umem = NULL;
	return DOCA_SUCCESS;
}
