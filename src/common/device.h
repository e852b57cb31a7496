/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The device that an agent uses. */
#ifndef DPUMAP_COMMON_DEVICE_H
#define DPUMAP_COMMON_DEVICE_H

#include <stdint.h>

#include <doca_dev.h>

#include "local/error.h"

/* One of the library's doca_*_cap_is_*_supported functions. */
typedef doca_error_t dpumap_device_cap(const struct doca_devinfo *devinfo, uint8_t *supported);

struct dpumap_device {
	struct doca_dev *dev;
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
};

/*
 * Opens the device called which (an IB device name or a PCI address), or with NULL the first one
 * that has the capability cap. Errors name the capability doing. The caller closes device->dev.
 */
doca_error_t dpumap_device_open(const char *which, dpumap_device_cap *cap, const char *doing,
				struct dpumap_device *device, struct dpumap_error *error);
/* Opens the same device again, with a context of its own (dpumap_dev_open_own). */
doca_error_t dpumap_device_open_own(const struct dpumap_device *other, struct dpumap_device *device,
				    struct dpumap_error *error);

/* A dpumap_device_cap: does it support RDMA connections to other machines? */
doca_error_t dpumap_device_can_connect(const struct doca_devinfo *devinfo, uint8_t *supported);

#endif
