/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An mkey that was created through DEVX: indirect (device/memory/ksm.h), on a umem
 * (device/memory/umem_mkey.h) or an alias of another function's (device/memory/alias.h).
 */
#ifndef DPUMAP_DEVICE_MEMORY_MKEY_H
#define DPUMAP_DEVICE_MEMORY_MKEY_H

#include <stdint.h>

#include "device/device.h"

struct mlx5dv_devx_obj;

struct dpumap_mkey {
	struct mlx5dv_devx_obj *obj; /* NULL if it was not created */
	uint32_t key;		     /* as work requests name it */
};

/* DOCA_SUCCESS if the mkey was not created. */
doca_error_t dpumap_mkey_destroy(const struct dpumap_device *device, struct dpumap_mkey *mkey);

#endif
