/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Direct mkeys on the pages of a umem. */
#ifndef DPUMAP_DEVICE_MEMORY_UMEM_MKEY_H
#define DPUMAP_DEVICE_MEMORY_UMEM_MKEY_H

#include "device/memory/mkey.h"

struct dpumap_devx_umem;

#define DPUMAP_UMEM_LOG_PAGE 12u /* the driver splits umems into such pages by default */
#define DPUMAP_UMEM_PAGE     (UINT64_C(1) << DPUMAP_UMEM_LOG_PAGE)

/* Part of a umem, and the address of its first byte. */
struct dpumap_umem_part {
	uint32_t umem_id;
	uint64_t offset;
	uint64_t start;
	uint64_t len;
};

/* Create an mkey; rights as for dpumap_ksm_create(). */
doca_error_t dpumap_umem_mkey_create(const struct dpumap_device *device,
				     const struct dpumap_umem_part *part, unsigned int rights,
				     struct dpumap_mkey *mkey);

/* Create or destroy the mkey that keeps the firmware from destroying the umem; it grants nothing. */
doca_error_t dpumap_umem_create_reference(struct dpumap_devx_umem *umem);
doca_error_t dpumap_umem_destroy_reference(struct dpumap_devx_umem *umem);

#endif
