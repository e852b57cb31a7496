/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Contexts and capabilities of devices, for the device room. */
#ifndef DPUMAP_DEVICE_HCA_PRIV_H
#define DPUMAP_DEVICE_HCA_PRIV_H

#include <infiniband/verbs.h>

#include "device/hca.h"

bool dpumap_ibdev_is_mlx5(struct ibv_device *ibdev);

/* *hca is a reference to the device, or NULL if the library cannot drive it. */
doca_error_t dpumap_hca_find(const struct ibv_device *ibdev, struct dpumap_hca **hca);
/* As dpumap_ibdev_open(); logs a failure. */
struct ibv_context *dpumap_hca_open_context(const struct dpumap_hca *hca, bool *devx);
/* Remember what was queried. */
void dpumap_hca_set_caps(struct dpumap_hca *hca, const struct dpumap_caps *caps);

#endif
