/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory across the functions of one card. The exporter lays an indirect mkey of its own (KSM) over
 * the registration and allows other functions to use it with an access key; the importer creates an
 * alias object that names function, mkey and key. An mkey made for the purpose has an address space
 * and rights of its own and can be revoked by destroying it.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "device/devx.h"
#include "device/prm.h"
#include "device/region_priv.h"
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

static doca_error_t allow(const struct dpumap_region *region, uint32_t mkey, const uint8_t *key)
{
	uint8_t in[PRM_ALLOW_IN_LEN] = {0};
	uint8_t out[PRM_ALLOW_OUT_LEN] = {0};
	struct dpumap_devx_cmd cmd = {
		.what = "ALLOW_OTHER_VHCA_ACCESS",
		.in = in,
		.in_len = sizeof(in),
		.out = out,
		.out_len = sizeof(out),
		.refusal = DOCA_ERROR_DRIVER,
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

doca_error_t dpumap_region_share(struct dpumap_region *region, bool writable, const uint8_t *key,
				 struct dpumap_share *share)
{
	unsigned int rights = IBV_ACCESS_REMOTE_READ;
	struct dpumap_view view = {0};
	doca_error_t result;

	if (writable)
		rights |= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	result = dpumap_ksm_create(region, region->rkey, rights, &view);
	if (result != DOCA_SUCCESS)
		return result;
	result = choose_key(key, share->access_key);
	if (result != DOCA_SUCCESS)
		goto destroy_ksm;
	result = allow(region, view.mkey, share->access_key);
	if (result != DOCA_SUCCESS)
		goto wipe_key;
	region->shared = view;
	share->mkey = view.mkey;
	share->vhca_id = region->device->caps.vhca_id;
	return DOCA_SUCCESS;

wipe_key:
	explicit_bzero(share->access_key, sizeof(share->access_key));
destroy_ksm:
	dpumap_view_destroy(region->device, &view);
	return result;
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
