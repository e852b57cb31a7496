/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An open device: a context and a protection domain. */
#ifndef DPUMAP_DEVICE_DEVICE_H
#define DPUMAP_DEVICE_DEVICE_H

#include "device/hca.h"

struct dpumap_device;

doca_error_t dpumap_device_open(struct dpumap_hca *hca, struct dpumap_device **device);
void dpumap_device_close(struct dpumap_device *device);
const struct dpumap_caps *dpumap_device_caps(const struct dpumap_device *device);

#endif
