/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fields of device memory. */
#ifndef DPUMAP_DEVICE_MEMORY_DEVMEM_PRIV_H
#define DPUMAP_DEVICE_MEMORY_DEVMEM_PRIV_H

#include <stdbool.h>

#include "device/device_priv.h"
#include "device/memory/devmem.h"

struct dpumap_devmem {
	struct dpumap_device *device;
	struct ibv_dm *dm;
	void *base;
	size_t len;
	bool imported;
};

#endif
