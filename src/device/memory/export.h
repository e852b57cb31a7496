/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Regions for other functions of the same card. */
#ifndef DPUMAP_DEVICE_MEMORY_EXPORT_H
#define DPUMAP_DEVICE_MEMORY_EXPORT_H

#include "device/memory/region.h"

#define DPUMAP_ACCESS_KEY_SIZE 32

/* What an importer needs. access_key is a secret: each function that fills one in wipes it. */
struct dpumap_pci_export {
	uint32_t mkey;
	uint16_t vhca_id;
	uint8_t access_key[DPUMAP_ACCESS_KEY_SIZE];
};

/*
 * Export the region with the PCI rights of access, at most once at a time, with the access key
 * given, or with a random one for NULL. The export ends for all importers when it or the region is
 * destroyed, or the process dies.
 */
doca_error_t dpumap_region_export_pci(struct dpumap_region *region, uint32_t access,
				      const uint8_t *key, struct dpumap_pci_export *exported);
/* Ends the export. The memory stays registered for the next one: also where an export needs a umem. */
doca_error_t dpumap_region_unexport_pci(struct dpumap_region *region);
/* Ends the export and its registration, before the region. */
doca_error_t dpumap_region_drop_pci(struct dpumap_region *region);

#endif
