/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Devices whose context and protection domain are the user's.
 */
#ifndef DPUMAP_DEVICE_BORROW_H
#define DPUMAP_DEVICE_BORROW_H

#include "device/hca.h"

struct ibv_pd;

/* *hca is a reference. Closing the device leaves the protection domain as it was. */
doca_error_t dpumap_device_borrow(struct ibv_pd *pd, struct dpumap_hca **hca,
				  struct dpumap_device **device);
bool dpumap_device_is_borrowed(const struct dpumap_device *device);

struct ibv_pd *dpumap_device_pd(const struct dpumap_device *device);
/* Is pd, a struct ibv_pd, the device's? */
bool dpumap_device_has_pd(const struct dpumap_device *device, const void *pd);

#endif
