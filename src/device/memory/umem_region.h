/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Regions on a umem. */
#ifndef DPUMAP_DEVICE_MEMORY_UMEM_REGION_H
#define DPUMAP_DEVICE_MEMORY_UMEM_REGION_H

#include "device/memory/region.h"
#include "device/memory/umem.h"

/* Register a range whose first byte is `offset` bytes after that of the umem. */
doca_error_t dpumap_region_register_umem(struct dpumap_devx_umem *umem, uint64_t offset,
					 struct dpumap_range range, uint32_t access,
					 struct dpumap_region **region);

#endif
