/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_DEVICE_DEVMEM_PRIV_H
#define DPUMAP_DEVICE_DEVMEM_PRIV_H

#include <stdbool.h>

#include "device/device.h"
#include "device/devmem.h"

struct dpumap_devmem {
	struct dpumap_device *device;
	struct ibv_dm *dm;
	void *base;
	size_t len;
	bool imported;
};

#endif
