/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The map of an export: its memory, registered on the device, and the descriptor that clients get. */
#ifndef DPUMAPD_EXPORT_MAP_H
#define DPUMAPD_EXPORT_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "common/device.h"
#include "dpu/exports/memory.h"
#include "dpu/spec/export_spec.h"

/* All zero: none. */
struct export_map {
	struct doca_mmap *mmap;
	const void *desc; /* borrowed until the map stops or is revoked; NULL: none now */
	size_t desc_len;
};

/* Permissions of the map; of connections to an export over RDMA. */
uint32_t export_map_access(const struct export_spec *spec);
uint32_t export_map_rdma_access(const struct export_spec *spec);

/*
 * Registers the memory, unless the map has, and creates the descriptor: takes long for much memory, and waits for the
 * disk of a file. May run in any thread. On failure the map is as before, as far as the device lets it.
 */
doca_error_t export_map_make(const struct dpumap_device *device, const struct export_spec *spec,
			     const struct memory *memory, struct export_map *map,
			     struct dpumap_error *error);
/* Revokes the descriptor of an export over PCI. On failure it stays valid. */
doca_error_t export_map_revoke(const struct dpumap_device *device, struct export_map *map);
/* Revokes the descriptor and frees the memory for other uses, which takes long for much of it. Or nothing changes. */
doca_error_t export_map_destroy(struct export_map *map);

#endif
