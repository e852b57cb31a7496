/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Device memory. */
#ifndef DPUMAP_DEVICE_MEMORY_DEVMEM_H
#define DPUMAP_DEVICE_MEMORY_DEVMEM_H

#include <stddef.h>
#include <stdint.h>

#include "device/device.h"

struct dpumap_devmem;

doca_error_t dpumap_devmem_alloc(struct dpumap_device *device, size_t len, uint32_t log_align,
				 struct dpumap_devmem **mem);
/* Imported memory is unimported only. DOCA_ERROR_IN_USE while a region uses it. */
doca_error_t dpumap_devmem_free(struct dpumap_devmem *mem);

/*
 * Determine by trial how much could be allocated: the longest piece, and the sum of the pieces when
 * the longest one is allocated repeatedly. All is freed before the return. total may be NULL.
 */
doca_error_t dpumap_devmem_query_free(struct dpumap_device *device, uint64_t *longest,
				      uint64_t *total);

/* The number of the memory in its kernel context, which processes can share. */
uint32_t dpumap_devmem_handle(const struct dpumap_devmem *mem);
doca_error_t dpumap_devmem_import(struct dpumap_device *device, uint32_t handle,
				  struct dpumap_devmem **mem);
size_t dpumap_devmem_len(const struct dpumap_devmem *mem);

/* A new descriptor, which nobody can map. The memory can be freed meanwhile. */
doca_error_t dpumap_devmem_export_dmabuf(const struct dpumap_devmem *mem, int *fd);

/* Where the memory is mapped: a unique address, not for access. */
void *dpumap_devmem_base(const struct dpumap_devmem *mem);

/* offset and len are multiples of 4 within the memory. */
doca_error_t dpumap_devmem_write(struct dpumap_devmem *mem, size_t offset, const void *src,
				 size_t len);
doca_error_t dpumap_devmem_read(struct dpumap_devmem *mem, size_t offset, void *dst, size_t len);

#endif
