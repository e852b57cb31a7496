/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Devices on a protection domain of the user's. */
#ifndef DPUMAP_DEVICE_USER_PD_H
#define DPUMAP_DEVICE_USER_PD_H

#include "device/device.h"

struct ibv_pd;

/* *hca is a reference. Closing the device leaves the protection domain as it was. */
doca_error_t dpumap_device_open_pd(struct ibv_pd *pd, struct dpumap_hca **hca,
				   struct dpumap_device **device);
bool dpumap_device_has_user_pd(const struct dpumap_device *device);

struct ibv_pd *dpumap_device_pd(const struct dpumap_device *device);
/* Whether pd, a struct ibv_pd, is the protection domain of the device. */
bool dpumap_device_has_pd(const struct dpumap_device *device, const void *pd);

#endif
