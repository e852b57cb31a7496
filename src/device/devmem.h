/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory on the device itself.
 */
#ifndef DPUMAP_DEVICE_DEVMEM_H
#define DPUMAP_DEVICE_DEVMEM_H

#include <stddef.h>
#include <stdint.h>

#include "device/hca.h"

struct dpumap_devmem;

doca_error_t dpumap_devmem_alloc(struct dpumap_device *device, size_t len, uint32_t log_align,
				 struct dpumap_devmem **mem);
doca_error_t dpumap_devmem_free(struct dpumap_devmem *mem);

/* Where the process has the memory mapped: its unique name among addresses. */
void *dpumap_devmem_base(const struct dpumap_devmem *mem);

/* offset and len are multiples of 4 within the memory. */
doca_error_t dpumap_devmem_write(struct dpumap_devmem *mem, size_t offset, const void *src,
				 size_t len);
doca_error_t dpumap_devmem_read(struct dpumap_devmem *mem, size_t offset, void *dst, size_t len);

#endif
