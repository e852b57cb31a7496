/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory on one device: registered, or imported from another function. */
#ifndef DPUMAP_DEVICE_MEMORY_REGION_H
#define DPUMAP_DEVICE_MEMORY_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"

struct dpumap_devmem;
struct dpumap_devx_umem;
struct dpumap_pci_export;
struct dpumap_region;

struct dpumap_range {
	uint64_t addr;
	uint64_t len;
};

/*
 * access is a mask of enum doca_access_flag. With or_read_only, memory that this process may only read is registered
 * without the right to write.
 */
doca_error_t dpumap_region_register(struct dpumap_device *device, struct dpumap_range range,
				    uint32_t access, bool or_read_only,
				    struct dpumap_region **region);
doca_error_t dpumap_region_register_devmem(struct dpumap_devmem *mem, size_t offset,
					   struct dpumap_range range, uint32_t access,
					   struct dpumap_region **region);
/* The range starts at offset in the dma-buf; its address is used by keys only. */
doca_error_t dpumap_region_register_dmabuf(struct dpumap_device *device, int fd, uint64_t offset,
					   struct dpumap_range range, uint32_t access,
					   struct dpumap_region **region);
/* access is the mask that the exporter granted. */
doca_error_t dpumap_region_import(struct dpumap_device *device,
				  const struct dpumap_pci_export *exported,
				  struct dpumap_range range, uint32_t access,
				  struct dpumap_region **region);

/* The key for work requests of this process, at the addresses of the range. */
doca_error_t dpumap_region_get_key(struct dpumap_region *region, uint32_t *key);

/*
 * The key for RDMA peers, at the addresses of the range, with the RDMA rights of access only. Peers
 * are connected to queue pairs on the device's protection domain.
 */
doca_error_t dpumap_region_export_rdma(struct dpumap_region *region, uint32_t access,
				       uint32_t *key);
void dpumap_region_unexport_rdma(struct dpumap_region *region);

/* On failure the region stays, without what could be destroyed; call again. */
doca_error_t dpumap_region_destroy(struct dpumap_region *region);

/* Register a range on a umem whose first byte is `offset` bytes after that of the umem. */
doca_error_t dpumap_region_register_umem(struct dpumap_devx_umem *umem, uint64_t offset,
					 struct dpumap_range range, uint32_t access,
					 struct dpumap_region **region);

#endif
