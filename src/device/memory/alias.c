/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/memory/mkey.h"

#include <string.h>

#include "device/device_priv.h"
#include "device/devx.h"
#include "device/prm.h"
#include "log/log.h"

static void build_alias(uint8_t *in, const struct dpumap_device *device,
			const struct dpumap_pci_export *exported)
{
	uint8_t *alias = in + PRM_ALIAS_CONTEXT;

	prm_set(in, PRM_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	prm_set(in, PRM_OBJECT_TYPE, PRM_OBJ_TYPE_MKEY);
	prm_set(in, PRM_OBJECT_IS_ALIAS, 1);
	prm_set(alias, PRM_ALIAS_VHCA_ID, exported->vhca_id);
	prm_set(alias, PRM_ALIAS_OBJECT_ID, exported->mkey >> 8);
	prm_set(alias, PRM_ALIAS_METADATA_1, device->pdn);
	memcpy(alias + PRM_ALIAS_ACCESS_KEY, exported->access_key, DPUMAP_ACCESS_KEY_SIZE);
}

static doca_error_t refuse_alias(const struct dpumap_device *device,
				 const struct dpumap_pci_export *exported, uint32_t status)
{
	return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
			   "%s: importing mkey 0x%x of function 0x%x refused (alias status %u): "
			   "wrong access key, or the export has ended",
			   dpumap_hca_name(device->hca), exported->mkey, exported->vhca_id, status);
}

doca_error_t dpumap_alias_create(struct dpumap_device *device,
				 const struct dpumap_pci_export *exported,
				 struct dpumap_mkey *alias)
{
	uint8_t in[PRM_ALIAS_LEN] = {0};
	uint8_t out[PRM_ALIAS_LEN] = {0};
	struct dpumap_devx_cmd cmd = {
		.what = "importing an mkey of another function",
		.hint = " (wrong access key, or export ended?)",
		.in = in,
		.in_len = sizeof(in),
		.out = out,
		.out_len = sizeof(out),
		.refusal = DOCA_ERROR_NOT_PERMITTED,
	};
	struct mlx5dv_devx_obj *obj;
	doca_error_t result;
	uint32_t status;

	build_alias(in, device, exported);
	result = dpumap_devx_create(device->context, &cmd, &obj);
	explicit_bzero(in, sizeof(in));
	if (result == DOCA_SUCCESS) {
		status = (uint32_t)prm_get(out + PRM_ALIAS_CONTEXT, PRM_ALIAS_STATUS);
		if (status) {
			mlx5dv_devx_obj_destroy(obj);
			result = refuse_alias(device, exported, status);
		}
	}
	if (result == DOCA_SUCCESS) {
		alias->obj = obj;
		alias->key = (uint32_t)prm_get(out, PRM_OBJECT_ID) << 8;
	}
	explicit_bzero(out, sizeof(out));
	return result;
}
