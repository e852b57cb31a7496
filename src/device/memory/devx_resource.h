/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory and doorbell pages for objects of the firmware that a program creates itself. */
#ifndef DPUMAP_DEVICE_MEMORY_DEVX_RESOURCE_H
#define DPUMAP_DEVICE_MEMORY_DEVX_RESOURCE_H

#include <doca_uar.h>

#include "device/device.h"

/* libmlx5's objects. */
struct dpumap_devx_memory;
struct dpumap_devx_page;

/* access is a mask of enum doca_access_flag. */
doca_error_t dpumap_devx_memory_register(const struct dpumap_device *device, void *addr, size_t len,
					 uint32_t access, struct dpumap_devx_memory **memory);
doca_error_t dpumap_devx_memory_deregister(struct dpumap_devx_memory *memory);
uint32_t dpumap_devx_memory_id(const struct dpumap_devx_memory *memory);

doca_error_t dpumap_devx_page_alloc(const struct dpumap_device *device,
				    enum doca_uar_allocation_type type,
				    struct dpumap_devx_page **page);
void dpumap_devx_page_free(struct dpumap_devx_page *page);

uint32_t dpumap_devx_page_id(const struct dpumap_devx_page *page);
const void *dpumap_devx_page_addr(const struct dpumap_devx_page *page);
const void *dpumap_devx_page_doorbell(const struct dpumap_devx_page *page);

#endif
