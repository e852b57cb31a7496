/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "side.h"

#include <stdlib.h>
#include <string.h>

doca_error_t side_open(struct side *side)
{
	doca_error_t result;

	memset(side, 0, sizeof(*side));
	result = rig_open(&side->rig);
	if (result != DOCA_SUCCESS)
		return result;
	result = rig_buf_create(&side->rig, SIDE_BOUNCE_LEN, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
				&side->bounce);
	if (result != DOCA_SUCCESS)
		rig_close(&side->rig);
	return result;
}

doca_error_t side_close(struct side *side)
{
	doca_error_t result = DOCA_SUCCESS;

	for (unsigned int i = 0; i < SIDE_MAPS; i++)
		DOCA_ERROR_PROPAGATE(result, side_drop(side, i));
	DOCA_ERROR_PROPAGATE(result, rig_buf_destroy(&side->bounce));
	DOCA_ERROR_PROPAGATE(result, rig_close(&side->rig));
	return result;
}

static doca_error_t fill_dm(struct dpumap_dm *dm, size_t len, uint32_t seed)
{
	uint8_t *bytes = malloc(len);
	doca_error_t result;

	if (!bytes)
		return DOCA_ERROR_NO_MEMORY;
	rig_fill(bytes, len, seed);
	result = dpumap_dm_write(dm, 0, bytes, len);
	free(bytes);
	return result;
}

static doca_error_t set_source(const struct side *side, struct side_map *map,
			       const struct side_export *what)
{
	doca_error_t result;

	if (what->source == SIDE_DEVICE_MEMORY) {
		result = dpumap_dm_alloc(side->rig.dev, what->len, 0, &map->dm);
		DOCA_ERROR_PROPAGATE(result, fill_dm(map->dm, what->len, what->seed));
		DOCA_ERROR_PROPAGATE(result,
				     dpumap_mmap_set_dm_memrange(map->mmap, map->dm, 0, what->len));
		return result;
	}
	map->bytes = malloc(what->len);
	if (!map->bytes)
		return DOCA_ERROR_NO_MEMORY;
	rig_fill(map->bytes, what->len, what->seed);
	return doca_mmap_set_memrange(map->mmap, map->bytes, what->len);
}

doca_error_t side_export_map(struct side *side, unsigned int index, const struct side_export *what,
			     struct side_desc *desc)
{
	struct side_map *map = &side->maps[index];
	const void *blob;
	doca_error_t result;

	result = doca_mmap_create(&map->mmap);
	DOCA_ERROR_PROPAGATE(result, set_source(side, map, what));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_permissions(map->mmap, what->access));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(map->mmap, side->rig.dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(map->mmap));
	DOCA_ERROR_PROPAGATE(result,
			     doca_mmap_export_pci(map->mmap, side->rig.dev, &blob, &desc->len));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_get_memrange(map->mmap, &map->addr, &map->len));
	if (result == DOCA_SUCCESS && desc->len > sizeof(desc->bytes))
		result = DOCA_ERROR_TOO_BIG;
	if (result == DOCA_SUCCESS)
		memcpy(desc->bytes, blob, desc->len);
	else
		side_drop(side, index);
	return result;
}

doca_error_t side_import_map(struct side *side, unsigned int index, const struct side_desc *desc)
{
	struct side_map *map = &side->maps[index];
	doca_error_t result;

	result = doca_mmap_create_from_export(NULL, desc->bytes, desc->len, side->rig.dev,
					      &map->mmap);
	DOCA_ERROR_PROPAGATE(result, doca_mmap_get_memrange(map->mmap, &map->addr, &map->len));
	return result;
}

doca_error_t side_read(struct side *side, unsigned int index, size_t offset, uint8_t *dst,
		       size_t len)
{
	const struct side_map *map = &side->maps[index];
	struct rig_copy copy = {
		.dst = side->bounce.mmap,
		.dst_addr = side->bounce.bytes,
		.src = map->mmap,
		.src_addr = (const uint8_t *)map->addr + offset,
		.len = len,
	};
	doca_error_t result;

	memset(side->bounce.bytes, 0xee, len);
	result = rig_copy(&side->rig, &copy);
	if (result == DOCA_SUCCESS)
		memcpy(dst, side->bounce.bytes, len);
	return result;
}

doca_error_t side_write(struct side *side, unsigned int index, size_t offset, const uint8_t *src,
			size_t len)
{
	const struct side_map *map = &side->maps[index];
	struct rig_copy copy = {
		.dst = map->mmap,
		.dst_addr = (uint8_t *)map->addr + offset,
		.src = side->bounce.mmap,
		.src_addr = side->bounce.bytes,
		.len = len,
	};

	memcpy(side->bounce.bytes, src, len);
	return rig_copy(&side->rig, &copy);
}

doca_error_t side_peek(struct side *side, unsigned int index, size_t offset, uint8_t *dst,
		       size_t len)
{
	const struct side_map *map = &side->maps[index];

	if (map->dm)
		return dpumap_dm_read(map->dm, offset, dst, len);
	if (!map->bytes)
		return DOCA_ERROR_NOT_FOUND;
	memcpy(dst, map->bytes + offset, len);
	return DOCA_SUCCESS;
}

doca_error_t side_stop(struct side *side, unsigned int index)
{
	return doca_mmap_stop(side->maps[index].mmap);
}

doca_error_t side_drop(struct side *side, unsigned int index)
{
	struct side_map *map = &side->maps[index];
	doca_error_t result = DOCA_SUCCESS;

	if (map->mmap)
		result = doca_mmap_destroy(map->mmap);
	if (map->dm)
		DOCA_ERROR_PROPAGATE(result, dpumap_dm_free(map->dm));
	free(map->bytes);
	memset(map, 0, sizeof(*map));
	return result;
}
