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
/* Of imported memory only the import ends. IN_USE while somebody has it registered. */
doca_error_t dpumap_devmem_free(struct dpumap_devmem *mem);

/*
 * What could be allocated now, by trying: the longest piece, and the sum of the pieces if one takes
 * the longest there is until there is none. Given back before the return. total may be NULL.
 */
doca_error_t dpumap_devmem_query_free(struct dpumap_device *device, uint64_t *longest,
				      uint64_t *total);

/* By its number in the kernel's context, which several processes may share. */
uint32_t dpumap_devmem_handle(const struct dpumap_devmem *mem);
doca_error_t dpumap_devmem_import(struct dpumap_device *device, uint32_t handle,
				  struct dpumap_devmem **mem);
size_t dpumap_devmem_len(const struct dpumap_devmem *mem);

/* Where the process has the memory mapped: its unique name among addresses. */
void *dpumap_devmem_base(const struct dpumap_devmem *mem);

/* offset and len are multiples of 4 within the memory. */
doca_error_t dpumap_devmem_write(struct dpumap_devmem *mem, size_t offset, const void *src,
				 size_t len);
doca_error_t dpumap_devmem_read(struct dpumap_devmem *mem, size_t offset, void *dst, size_t len);

#endif
