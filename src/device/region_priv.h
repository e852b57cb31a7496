/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_DEVICE_REGION_PRIV_H
#define DPUMAP_DEVICE_REGION_PRIV_H

#include "device/device.h"
#include "device/region.h"

struct mlx5dv_devx_obj;

struct dpumap_region {
	struct dpumap_device *device;
	struct dpumap_range range;
	uint64_t iova; /* what the keys call the first byte; 0 for device memory */
	uint32_t lkey;
	uint32_t rkey;
	bool imported;
	struct ibv_mr *mr;
	struct ibv_mr *local_mr; /* where local rights are less than those of others */
	struct mlx5dv_devx_obj *shared;
	struct mlx5dv_devx_obj *alias;
};

/* In share.c. */
doca_error_t dpumap_alias_create(struct dpumap_device *device, const struct dpumap_share *share,
				 struct mlx5dv_devx_obj **alias, uint32_t *mkey);

#endif
