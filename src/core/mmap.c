/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap.h"

#include <stdlib.h>

#include "log/log.h"

#define DEFAULT_MAX_DEVICES 16

doca_error_t doca_mmap_create(struct doca_mmap **mmap)
{
	struct doca_mmap *created;

	if (!mmap)
		return dpumap_fail_null(__func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a map");
	created->access = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;
	created->max_slots = DEFAULT_MAX_DEVICES;
	*mmap = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
	doca_error_t result;

	if (!mmap)
		return dpumap_fail_null(__func__);
	result = doca_mmap_stop(mmap);
	if (result != DOCA_SUCCESS)
		return result;
	for (uint32_t i = 0; i < mmap->num_slots; i++)
		if (dpumap_mmap_unregister(&mmap->slots[i]) != DOCA_SUCCESS)
			return DOCA_ERROR_NOT_PERMITTED;
	for (uint32_t i = 0; i < mmap->num_slots; i++)
		dpumap_dev_release(mmap->slots[i].dev);
	if (mmap->dm)
		dpumap_dm_put(mmap->dm);
	if (mmap->free_armed && mmap->free_cb)
		mmap->free_cb((void *)(uintptr_t)mmap->range.addr, mmap->range.len,
			      mmap->free_cookie);
	free(mmap->slots);
	free(mmap);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len)
{
	if (!mmap || !addr || !len)
		return dpumap_fail_null(__func__);
	if (!mmap->has_range)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "map %p has no range", (const void *)mmap);
	*addr = (void *)(uintptr_t)mmap->range.addr;
	*len = mmap->range.len;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data)
{
	if (!mmap || !user_data)
		return dpumap_fail_null(__func__);
	*user_data = mmap->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices)
{
	if (!mmap || !max_num_devices)
		return dpumap_fail_null(__func__);
	*max_num_devices = mmap->max_slots;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported)
{
	uint8_t found = 0;

	if (!mmap || !exported)
		return dpumap_fail_null(__func__);
	for (uint32_t i = 0; i < mmap->num_slots; i++)
		found |= mmap->slots[i].desc != NULL;
	*exported = found;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export)
{
	if (!mmap || !from_export)
		return dpumap_fail_null(__func__);
	*from_export = dpumap_mmap_is_imported(mmap);
	return DOCA_SUCCESS;
}
