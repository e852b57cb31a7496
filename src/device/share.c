/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory across the functions of one card. The exporter lays an mkey of its own over the
 * registration and allows other functions to use it with an access key; the importer creates an
 * alias object that names function, mkey and key. An mkey made for the purpose has an address space
 * and rights of its own and can be revoked by destroying it.
 *
 * That mkey is indirect (KSM) where the firmware lets others use such, as on BlueField-3. On
 * BlueField-2 it does not, and no capability says so: UCX learnt it by trying and fell back to a
 * direct mkey on a umem, until it gave BlueField-2 up (commit a8c655658d). So do we, for memory of
 * this process; what has no pages of its own cannot be shared on such a device.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "device/devx.h"
#include "device/prm.h"
#include "device/umem_priv.h"
#include "log/log.h"

static doca_error_t draw_key(uint8_t *key)
{
	ssize_t got;

	do {
		got = getrandom(key, DPUMAP_ACCESS_KEY_SIZE, 0);
	} while (got < 0 && errno == EINTR);
	if (got != DPUMAP_ACCESS_KEY_SIZE)
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM, "no random access key: %s",
				   strerror(errno));
	return DOCA_SUCCESS;
}

static doca_error_t allow(const struct dpumap_region *region, uint32_t mkey, const uint8_t *key,
			  bool probe)
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
		return draw_key(chosen);
	memcpy(chosen, key, DPUMAP_ACCESS_KEY_SIZE);
	return DOCA_SUCCESS;
}

/*
 * NOT_SUPPORTED: not in this way. What cannot be undone now stays with the region, and is undone
 * before the next attempt or with it.
 */
static doca_error_t share_indirect(struct dpumap_region *region, unsigned int rights,
				   const uint8_t *key)
{
	doca_error_t result, undone;

	result = dpumap_ksm_create(region, region->rkey, rights, &region->shared);
	if (result != DOCA_SUCCESS)
		return result;
	result = allow(region, region->shared.mkey, key, true);
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	undone = dpumap_region_unshare(region);
	return undone == DOCA_SUCCESS ? result : undone;
}

static doca_error_t register_again(struct dpumap_region *region, unsigned int rights)
{
	struct mlx5dv_devx_umem_in in = {
		.addr = (void *)(uintptr_t)region->range.addr,
		.size = region->range.len,
		.access = rights & IBV_ACCESS_LOCAL_WRITE,
		.pgsz_bitmap = DPUMAP_UMEM_PAGE,
	};

	region->shared_pages = mlx5dv_devx_umem_reg_ex(region->device->context, &in);
	if (!region->shared_pages)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: registering %" PRIu64 " bytes at 0x%" PRIx64
				   " for other functions failed: %s",
				   dpumap_hca_name(region->device->hca), region->range.len,
				   region->range.addr, strerror(errno));
	return DOCA_SUCCESS;
}

static doca_error_t find_pages(struct dpumap_region *region, unsigned int rights,
			       struct dpumap_umem_place *place)
{
	doca_error_t result;

	if (region->pages.len) {
		*place = region->pages;
		return DOCA_SUCCESS;
	}
	if (!region->memory)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s shares no indirect mkeys with other functions: what can be "
				   "exported is memory, or a umem from the start of a page, but no "
				   "device memory or dma-buf",
				   dpumap_hca_name(region->device->hca));
	result = register_again(region, rights);
	if (result != DOCA_SUCCESS)
		return result;
	place->umem_id = region->shared_pages->umem_id;
	place->start = region->range.addr;
	place->len = region->range.len;
	return DOCA_SUCCESS;
}

static doca_error_t share_direct(struct dpumap_region *region, unsigned int rights,
				 const uint8_t *key)
{
	struct dpumap_umem_place place = {0};
	doca_error_t result;

	result = find_pages(region, rights, &place);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_umem_lay_mkey(region->device, &place, rights, &region->shared);
	if (result == DOCA_SUCCESS)
		result = allow(region, region->shared.mkey, key, false);
	if (result != DOCA_SUCCESS)
		dpumap_region_unshare(region);
	return result;
}

static doca_error_t share_with(struct dpumap_region *region, unsigned int rights,
			       const uint8_t *key)
{
	doca_error_t result;

	result = dpumap_region_unshare(region);
	if (result != DOCA_SUCCESS)
		return result;
	result = share_indirect(region, rights, key);
	if (result == DOCA_ERROR_NOT_SUPPORTED)
		result = share_direct(region, rights, key);
	return result;
}

doca_error_t dpumap_region_share(struct dpumap_region *region, bool writable, const uint8_t *key,
				 struct dpumap_share *share)
{
	unsigned int rights = IBV_ACCESS_REMOTE_READ;
	doca_error_t result;

	if (writable)
		rights |= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	result = choose_key(key, share->access_key);
	if (result != DOCA_SUCCESS)
		return result;
	result = share_with(region, rights, share->access_key);
	if (result != DOCA_SUCCESS) {
		explicit_bzero(share->access_key, sizeof(share->access_key));
		return result;
	}
	share->mkey = region->shared.mkey;
	share->vhca_id = region->device->caps.vhca_id;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_region_unshare(struct dpumap_region *region)
{
	doca_error_t result = dpumap_view_destroy(region->device, &region->shared);
	int err;

	if (result != DOCA_SUCCESS || !region->shared_pages)
		return result;
	err = mlx5dv_devx_umem_dereg(region->shared_pages);
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: deregistering shared memory failed: %s",
				   dpumap_hca_name(region->device->hca), strerror(err));
	region->shared_pages = NULL;
	return DOCA_SUCCESS;
}

static void build_alias(uint8_t *in, const struct dpumap_device *device,
			const struct dpumap_share *share)
{
	uint8_t *alias = in + PRM_ALIAS_CONTEXT;

	prm_set(in, PRM_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	prm_set(in, PRM_OBJECT_TYPE, PRM_OBJ_TYPE_MKEY);
	prm_set(in, PRM_OBJECT_IS_ALIAS, 1);
	prm_set(alias, PRM_ALIAS_VHCA_ID, share->vhca_id);
	prm_set(alias, PRM_ALIAS_OBJECT_ID, share->mkey >> 8);
	prm_set(alias, PRM_ALIAS_METADATA_1, device->pdn);
	memcpy(alias + PRM_ALIAS_ACCESS_KEY, share->access_key, DPUMAP_ACCESS_KEY_SIZE);
}

static doca_error_t refuse_alias(const struct dpumap_device *device,
				 const struct dpumap_share *share, uint32_t status)
{
	return dpumap_fail(
		DOCA_ERROR_NOT_PERMITTED,
		"%s: mkey 0x%x of function 0x%x refused (alias status %u): the access key "
		"is wrong or the export has ended",
		dpumap_hca_name(device->hca), share->mkey, share->vhca_id, status);
}

doca_error_t dpumap_alias_create(struct dpumap_device *device, const struct dpumap_share *share,
				 struct dpumap_view *alias)
{
	uint8_t in[PRM_ALIAS_LEN] = {0};
	uint8_t out[PRM_ALIAS_LEN] = {0};
	struct dpumap_devx_cmd cmd = {
		.what = "importing an mkey of another function (wrong key, or the export ended?)",
		.in = in,
		.in_len = sizeof(in),
		.out = out,
		.out_len = sizeof(out),
		.refusal = DOCA_ERROR_NOT_PERMITTED,
	};
	struct mlx5dv_devx_obj *obj;
	doca_error_t result;
	uint32_t status;

	build_alias(in, device, share);
	result = dpumap_devx_create(device->context, &cmd, &obj);
	explicit_bzero(in, sizeof(in));
	if (result == DOCA_SUCCESS) {
		status = (uint32_t)prm_get(out + PRM_ALIAS_CONTEXT, PRM_ALIAS_STATUS);
		if (status) {
			mlx5dv_devx_obj_destroy(obj);
			result = refuse_alias(device, share, status);
		}
	}
	if (result == DOCA_SUCCESS) {
		alias->obj = obj;
		alias->mkey = (uint32_t)prm_get(out, PRM_OBJECT_ID) << 8;
	}
	explicit_bzero(out, sizeof(out));
	return result;
}
