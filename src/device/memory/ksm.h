/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Indirect mkeys (KSM): another address space and other rights for memory that is registered or
 * imported already.
 */
#ifndef DPUMAP_DEVICE_MEMORY_KSM_H
#define DPUMAP_DEVICE_MEMORY_KSM_H

#include "device/memory/mkey.h"
#include "device/memory/region.h"

/*
 * Create an indirect mkey on base, a key of the region. It has the addresses of the region's range.
 * rights is a mask of IBV_ACCESS_LOCAL_WRITE and DPUMAP_ACCESS_REMOTE.
 */
doca_error_t dpumap_ksm_create(const struct dpumap_region *region, uint32_t base,
			       unsigned int rights, struct dpumap_mkey *mkey);

#endif
