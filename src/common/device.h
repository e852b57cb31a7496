/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_COMMON_DEVICE_H
#define DPUMAP_COMMON_DEVICE_H

#include <stdint.h>

#include <doca_dev.h>

#include "common/fault.h"

/* One of the library's doca_*_cap_is_*_supported functions. */
typedef doca_error_t dpumap_device_cap(const struct doca_devinfo *devinfo, uint8_t *supported);

struct dpumap_device {
	struct doca_dev *dev;
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
};

/*
 * Opens the device called which (an IB device name or a PCI address), or with NULL the first one
 * that can do what cap asks. doing says in an error what the device is wanted for. The caller
 * closes device->dev.
 */
doca_error_t dpumap_device_open(const char *which, dpumap_device_cap *cap, const char *doing,
				struct dpumap_device *device, struct dpumap_fault *fault);
/* The same device once more, for oneself (dpumap_dev_open_own). */
doca_error_t dpumap_device_open_own(const struct dpumap_device *other, struct dpumap_device *device,
				    struct dpumap_fault *fault);

/* A dpumap_device_cap: can it be connected to devices of other machines? */
doca_error_t dpumap_device_can_connect(const struct doca_devinfo *devinfo, uint8_t *supported);

#endif
