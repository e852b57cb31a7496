/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/export_map.h"

#include <doca_mmap.h>
#include <dpumap/mmap.h>

#include "channel/message.h"

uint32_t export_map_rdma_access(const struct export_spec *spec)
{
	return spec->writable ? DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE
			      : DOCA_ACCESS_FLAG_RDMA_READ;
}

static uint32_t pci_access_of(const struct export_spec *spec)
{
	return spec->writable ? DOCA_ACCESS_FLAG_PCI_READ_WRITE : DOCA_ACCESS_FLAG_PCI_READ_ONLY;
}

/* A read-only export may be read-only locally as well: a file without write permission. */
uint32_t export_map_access(const struct export_spec *spec)
{
	uint32_t local = spec->writable ? DOCA_ACCESS_FLAG_LOCAL_READ_WRITE
					: DOCA_ACCESS_FLAG_LOCAL_READ_ONLY;

	return local |
	       (spec->via == EXPORT_VIA_RDMA ? export_map_rdma_access(spec) : pci_access_of(spec));
}

static doca_error_t describe(const struct dpumap_device *device, const struct export_spec *spec,
			     struct export_map *map, struct dpumap_error *error)
{
	doca_error_t result;

	if (spec->via == EXPORT_VIA_RDMA)
		result = doca_mmap_export_rdma(map->mmap, device->dev, &map->desc, &map->desc_len);
	else
		result = doca_mmap_export_pci(map->mmap, device->dev, &map->desc, &map->desc_len);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "export %s: cannot export it on %s",
					 spec->name, device->name);
	if (map->desc_len <= DPUMAP_DESCRIPTOR_MAX)
		return DOCA_SUCCESS;
	map->desc = NULL;
	return dpumap_error_set(
		error, DOCA_ERROR_TOO_BIG,
		"export %s: its descriptor has %zu bytes, more than the limit of %u", spec->name,
		map->desc_len, DPUMAP_DESCRIPTOR_MAX);
}

static doca_error_t start(const struct dpumap_device *device, const struct export_spec *spec,
			  const struct memory *memory, const struct export_map *map,
			  struct dpumap_error *error)
{
	doca_error_t result = doca_mmap_set_permissions(map->mmap, export_map_access(spec));

	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result,
					 "export %s: cannot set its permissions on %s", spec->name,
					 device->name);
	result = doca_mmap_start(map->mmap);
	if (result != DOCA_SUCCESS)
		return memory_explain(memory, result, device->name, error);
	return DOCA_SUCCESS;
}

static doca_error_t fill(const struct dpumap_device *device, const struct export_spec *spec,
			 const struct memory *memory, struct export_map *map,
			 struct dpumap_error *error)
{
	doca_error_t result = doca_mmap_create(&map->mmap);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(map->mmap, device->dev);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "export %s: cannot create a map on %s",
					 spec->name, device->name);
	result = memory_give_to(memory, map->mmap, error);
	if (result == DOCA_SUCCESS)
		result = start(device, spec, memory, map, error);
	if (result == DOCA_SUCCESS)
		result = describe(device, spec, map, error);
	return result;
}

doca_error_t export_map_make(const struct dpumap_device *device, const struct export_spec *spec,
			     const struct memory *memory, struct export_map *map,
			     struct dpumap_error *error)
{
	doca_error_t result;

	if (map->mmap)
		return describe(device, spec, map, error);
	result = fill(device, spec, memory, map, error);
	if (result != DOCA_SUCCESS && map->mmap)
		export_map_destroy(map);
	return result;
}

doca_error_t export_map_revoke(const struct dpumap_device *device, struct export_map *map)
{
	doca_error_t result = DOCA_SUCCESS;

	if (map->mmap)
		result = dpumap_mmap_revoke_pci(map->mmap, device->dev);
	if (result == DOCA_SUCCESS)
		map->desc = NULL;
	return result;
}

doca_error_t export_map_destroy(struct export_map *map)
{
	doca_error_t result = map->mmap ? doca_mmap_destroy(map->mmap) : DOCA_SUCCESS;

	map->desc = NULL;
	if (result == DOCA_SUCCESS)
		map->mmap = NULL;
	return result;
}
