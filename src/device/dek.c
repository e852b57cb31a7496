/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/dek.h"

#include <string.h>

#include "device/device_priv.h"
#include "device/devx.h"
#include "device/errno.h"
#include "device/prm.h"
#include "log/log.h"

static void build(uint8_t *in, const struct dpumap_device *device, const void *raw, size_t len)
{
	uint8_t *dek = in + PRM_DEK_CONTEXT;

	prm_set(in, PRM_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	prm_set(in, PRM_OBJECT_TYPE, PRM_OBJ_TYPE_DEK);
	prm_set(dek, PRM_DEK_KEY_SIZE,
		len == PRM_DEK_KEY_LEN ? PRM_KEY_SIZE_256 : PRM_KEY_SIZE_128);
	prm_set(dek, PRM_DEK_KEY_PURPOSE, PRM_KEY_PURPOSE_GCM);
	prm_set(dek, PRM_DEK_PD, device->pdn);
	memcpy(dek + PRM_DEK_KEY + PRM_DEK_KEY_LEN - len, raw, len);
}

doca_error_t dpumap_dek_create(struct dpumap_device *device, const void *raw, size_t len,
			       struct dpumap_dek *dek)
{
	uint8_t in[PRM_DEK_IN_LEN] = {0};
	uint8_t out[PRM_DEK_OUT_LEN] = {0};
	struct dpumap_devx_cmd cmd = {
		.what = "creating a data encryption key",
		.in = in,
		.in_len = sizeof(in),
		.out = out,
		.out_len = sizeof(out),
		.refusal = DOCA_ERROR_DRIVER,
	};
	doca_error_t result;

	build(in, device, raw, len);
	result = dpumap_devx_create(device->context, &cmd, &dek->obj);
	explicit_bzero(in, sizeof(in));
	if (result == DOCA_SUCCESS)
		dek->number = (uint32_t)prm_get(out, PRM_OBJECT_ID);
	return result;
}

doca_error_t dpumap_dek_destroy(struct dpumap_device *device, struct dpumap_dek *dek)
{
	int err = dpumap_errno_of_end(device->context, mlx5dv_devx_obj_destroy(dek->obj));

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: destroying data encryption key 0x%x failed: %s",
				   dpumap_hca_name(device->hca), dek->number, strerror(err));
	*dek = (struct dpumap_dek){0};
	return DOCA_SUCCESS;
}
