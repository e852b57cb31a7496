/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A range of memory as one device knows it: registered here, or another function's and imported.
 */
#ifndef DPUMAP_DEVICE_REGION_H
#define DPUMAP_DEVICE_REGION_H

#include <stddef.h>
#include <stdint.h>

#include "device/hca.h"

#define DPUMAP_ACCESS_KEY_SIZE 32

struct dpumap_devmem;
struct dpumap_region;

struct dpumap_range {
	uint64_t addr;
	uint64_t len;
};

/* What an importer needs to reach a region. The key is a secret: whoever fills one wipes it. */
struct dpumap_share {
	uint32_t mkey;
	uint16_t vhca_id;
	uint8_t access_key[DPUMAP_ACCESS_KEY_SIZE];
};

/* access is a mask of enum doca_access_flag. */
doca_error_t dpumap_region_register(struct dpumap_device *device, struct dpumap_range range,
				    uint32_t access, struct dpumap_region **region);
doca_error_t dpumap_region_register_devmem(struct dpumap_devmem *mem, size_t offset,
					   struct dpumap_range range, uint32_t access,
					   struct dpumap_region **region);
/* The range is len bytes from offset on in the dma-buf; its address is but a name. */
doca_error_t dpumap_region_register_dmabuf(struct dpumap_device *device, int fd, uint64_t offset,
					   struct dpumap_range range, uint32_t access,
					   struct dpumap_region **region);
/* access is what the exporter granted. */
doca_error_t dpumap_region_import(struct dpumap_device *device, const struct dpumap_share *share,
				  struct dpumap_range range, uint32_t access,
				  struct dpumap_region **region);

/* The key by which work requests of this process name the bytes, at the addresses of the range. */
doca_error_t dpumap_region_get_key(struct dpumap_region *region, uint32_t *key);

/*
 * The key by which queue pairs that are connected to the device's protection domain name the bytes,
 * at the addresses of the range, with the RDMA rights of access and no others.
 */
doca_error_t dpumap_region_open_to_peers(struct dpumap_region *region, uint32_t access,
					 uint32_t *key);
void dpumap_region_close_to_peers(struct dpumap_region *region);

/*
 * Once per region, with the key that is given, or with a random one for NULL. Unsharing or
 * destroying it, or the death of the process, ends it for all importers.
 */
doca_error_t dpumap_region_share(struct dpumap_region *region, bool writable, const uint8_t *key,
				 struct dpumap_share *share);
doca_error_t dpumap_region_unshare(struct dpumap_region *region);

/* On failure the region is still there, without what could be destroyed; call again. */
doca_error_t dpumap_region_destroy(struct dpumap_region *region);

#endif
