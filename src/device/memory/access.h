/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Permissions of a map as access flags of verbs. */
#ifndef DPUMAP_DEVICE_MEMORY_ACCESS_H
#define DPUMAP_DEVICE_MEMORY_ACCESS_H

#include <stdint.h>

#include <doca_types.h>

#include "device/device.h"

#define DPUMAP_ACCESS_PCI \
	((uint32_t)(DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE))
#define DPUMAP_ACCESS_RDMA                                                     \
	((uint32_t)(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE | \
		    DOCA_ACCESS_FLAG_RDMA_ATOMIC))

/* access is a mask of enum doca_access_flag, the result one of enum ibv_access_flags. */

/* What RDMA peers may do. */
unsigned int dpumap_access_rdma(uint32_t access);
/* What other functions of the card may do. The device has one right for atomics of both kinds of peers. */
unsigned int dpumap_access_pci(uint32_t access);
/* What this process may do. */
unsigned int dpumap_access_local(const struct dpumap_device *device, uint32_t access);
/* What this process, RDMA peers and other functions of the card may do. */
unsigned int dpumap_access_all(const struct dpumap_device *device, uint32_t access);

#endif
