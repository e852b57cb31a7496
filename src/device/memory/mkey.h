/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An mkey that was created through DEVX: indirect (device/memory/ksm.h), on a umem
 * (device/memory/umem_mkey.h) or an alias of another function's (device/memory/alias.h).
 */
#ifndef DPUMAP_DEVICE_MEMORY_MKEY_H
#define DPUMAP_DEVICE_MEMORY_MKEY_H

#include <stdint.h>

#include "device/device.h"
#include "device/memory/export.h"
#include "device/memory/region.h"

struct mlx5dv_devx_obj;

struct dpumap_mkey {
	struct mlx5dv_devx_obj *obj; /* NULL if it was not created */
	uint32_t key;		     /* as work requests name it */
};

/* DOCA_SUCCESS if the mkey was not created. */
doca_error_t dpumap_mkey_destroy(const struct dpumap_device *device, struct dpumap_mkey *mkey);

/*
 * Alias objects: mkeys of another function of the card, which exported them
 * (device/memory/export.h).
 */
doca_error_t dpumap_alias_create(struct dpumap_device *device,
				 const struct dpumap_pci_export *exported,
				 struct dpumap_mkey *alias);

/*
 * Indirect mkeys (KSM): another address space and other rights for memory that is registered or
 * imported already.
 */

/*
 * Create an indirect mkey on base, a key of the region. It has the addresses of the region's range.
 * rights is a mask of IBV_ACCESS_LOCAL_WRITE and DPUMAP_ACCESS_REMOTE.
 */
doca_error_t dpumap_ksm_create(const struct dpumap_region *region, uint32_t base,
			       unsigned int rights, struct dpumap_mkey *mkey);

#endif
