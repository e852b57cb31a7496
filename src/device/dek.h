/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Data encryption keys, which the device has: whoever creates one need not keep a copy. */
#ifndef DPUMAP_DEVICE_DEK_H
#define DPUMAP_DEVICE_DEK_H

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

struct dpumap_device;
struct mlx5dv_devx_obj;

struct dpumap_dek {
	struct mlx5dv_devx_obj *obj;
	uint32_t number; /* as work requests have it */
};

/* Create a key for AES-GCM on queues of the device's own protection domain, from 16 or 32 bytes. */
doca_error_t dpumap_dek_create(struct dpumap_device *device, const void *raw, size_t len,
			       struct dpumap_dek *dek);
doca_error_t dpumap_dek_destroy(struct dpumap_device *device, struct dpumap_dek *dek);

#endif
