/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/memory/mkey.h"

#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/errno.h"
#include "log/log.h"

doca_error_t dpumap_mkey_destroy(const struct dpumap_device *device, struct dpumap_mkey *mkey)
{
	int err;

	if (!mkey->obj)
		return DOCA_SUCCESS;
	err = dpumap_errno_of_end(device->context, mlx5dv_devx_obj_destroy(mkey->obj));
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: destroying mkey 0x%x failed: %s",
				   dpumap_hca_name(device->hca), mkey->key, strerror(err));
	dpumap_log(DPUMAP_LOG_DEBUG, "%s: destroying mkey 0x%x succeeded",
		   dpumap_hca_name(device->hca), mkey->key);
	*mkey = (struct dpumap_mkey){0};
	return DOCA_SUCCESS;
}
