/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "sharer.h"

#include <stdlib.h>
#include <string.h>

doca_error_t sharer_open(struct sharer *sharer)
{
	doca_error_t result;

	memset(sharer, 0, sizeof(*sharer));
	result = fixture_open(&sharer->fixture);
	if (result != DOCA_SUCCESS)
		return result;
	result = fixture_buf_create(&sharer->fixture, SHARER_BOUNCE_LEN,
				    DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &sharer->bounce);
	if (result != DOCA_SUCCESS)
		fixture_close(&sharer->fixture);
	return result;
}

doca_error_t sharer_close(struct sharer *sharer)
{
	doca_error_t result = DOCA_SUCCESS;

	for (unsigned int i = 0; i < SHARER_MAPS; i++)
		DOCA_ERROR_PROPAGATE(result, sharer_drop(sharer, i));
	DOCA_ERROR_PROPAGATE(result, fixture_buf_destroy(&sharer->bounce));
	DOCA_ERROR_PROPAGATE(result, fixture_close(&sharer->fixture));
	return result;
}

static doca_error_t fill_dm(struct dpumap_dm *dm, size_t len, uint32_t seed)
{
	uint8_t *bytes = malloc(len);
	doca_error_t result;

	if (!bytes)
		return DOCA_ERROR_NO_MEMORY;
	fixture_fill(bytes, len, seed);
	result = dpumap_dm_write(dm, 0, bytes, len);
	free(bytes);
	return result;
}

static doca_error_t set_source(const struct sharer *sharer, struct shared_map *map,
			       const struct map_spec *what)
{
	doca_error_t result;

	if (what->source == FROM_DEVICE_MEMORY) {
		result = dpumap_dm_alloc(sharer->fixture.dev, what->len, 0, &map->dm);
		DOCA_ERROR_PROPAGATE(result, fill_dm(map->dm, what->len, what->seed));
		DOCA_ERROR_PROPAGATE(result,
				     dpumap_mmap_set_dm_memrange(map->mmap, map->dm, 0, what->len));
		return result;
	}
	map->bytes = fixture_memory_create(what->len);
	if (!map->bytes)
		return DOCA_ERROR_NO_MEMORY;
	fixture_fill(map->bytes, what->len, what->seed);
	return doca_mmap_set_memrange(map->mmap, map->bytes, what->len);
}

doca_error_t sharer_export(struct sharer *sharer, unsigned int index, const struct map_spec *what,
			   struct descriptor *desc)
{
	struct shared_map *map = &sharer->maps[index];
	const void *blob;
	doca_error_t result;

	result = doca_mmap_create(&map->mmap);
	DOCA_ERROR_PROPAGATE(result, set_source(sharer, map, what));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_permissions(map->mmap, what->access));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(map->mmap, sharer->fixture.dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(map->mmap));
	DOCA_ERROR_PROPAGATE(
		result, doca_mmap_export_pci(map->mmap, sharer->fixture.dev, &blob, &desc->len));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_get_memrange(map->mmap, &map->addr, &map->len));
	if (result == DOCA_SUCCESS && desc->len > sizeof(desc->bytes))
		result = DOCA_ERROR_TOO_BIG;
	if (result == DOCA_SUCCESS)
		memcpy(desc->bytes, blob, desc->len);
	else
		sharer_drop(sharer, index);
	return result;
}

doca_error_t sharer_import(struct sharer *sharer, unsigned int index, const struct descriptor *desc)
{
	struct shared_map *map = &sharer->maps[index];
	doca_error_t result;

	result = doca_mmap_create_from_export(NULL, desc->bytes, desc->len, sharer->fixture.dev,
					      &map->mmap);
	DOCA_ERROR_PROPAGATE(result, doca_mmap_get_memrange(map->mmap, &map->addr, &map->len));
	return result;
}

doca_error_t sharer_read(struct sharer *sharer, unsigned int index, size_t offset, uint8_t *dst,
			 size_t len)
{
	const struct shared_map *map = &sharer->maps[index];
	struct fixture_copy copy = {
		.dst = sharer->bounce.mmap,
		.dst_addr = sharer->bounce.bytes,
		.src = map->mmap,
		.src_addr = (const uint8_t *)map->addr + offset,
		.len = len,
	};
	doca_error_t result;

	memset(sharer->bounce.bytes, 0xee, len);
	result = fixture_copy(&sharer->fixture, &copy);
	if (result == DOCA_SUCCESS)
		memcpy(dst, sharer->bounce.bytes, len);
	return result;
}

doca_error_t sharer_write(struct sharer *sharer, unsigned int index, size_t offset,
			  const uint8_t *src, size_t len)
{
	const struct shared_map *map = &sharer->maps[index];
	struct fixture_copy copy = {
		.dst = map->mmap,
		.dst_addr = (uint8_t *)map->addr + offset,
		.src = sharer->bounce.mmap,
		.src_addr = sharer->bounce.bytes,
		.len = len,
	};

	memcpy(sharer->bounce.bytes, src, len);
	return fixture_copy(&sharer->fixture, &copy);
}

doca_error_t sharer_peek(struct sharer *sharer, unsigned int index, size_t offset, uint8_t *dst,
			 size_t len)
{
	const struct shared_map *map = &sharer->maps[index];

	if (map->dm)
		return dpumap_dm_read(map->dm, offset, dst, len);
	if (!map->bytes)
		return DOCA_ERROR_NOT_FOUND;
	memcpy(dst, map->bytes + offset, len);
	return DOCA_SUCCESS;
}

doca_error_t sharer_stop(struct sharer *sharer, unsigned int index)
{
	return doca_mmap_stop(sharer->maps[index].mmap);
}

doca_error_t sharer_drop(struct sharer *sharer, unsigned int index)
{
	struct shared_map *map = &sharer->maps[index];
	doca_error_t result = DOCA_SUCCESS;

	if (map->mmap)
		result = doca_mmap_destroy(map->mmap);
	if (map->dm)
		DOCA_ERROR_PROPAGATE(result, dpumap_dm_free(map->dm));
	fixture_memory_destroy(map->bytes);
	memset(map, 0, sizeof(*map));
	return result;
}

bool sharer_was_refused(doca_error_t result, enum map_source source)
{
	bool refused = source == FROM_DEVICE_MEMORY && test_options.shares_direct;

	assert_error(result, refused ? DOCA_ERROR_NOT_SUPPORTED : DOCA_SUCCESS);
	return refused;
}
