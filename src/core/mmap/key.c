/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap/mmap.h"

#include "log/log.h"

/* In a partially stopped map, some devices still have a key. */
static bool has_key(const struct doca_mmap *mmap, const struct mmap_slot *slot)
{
	return dpumap_mmap_is_usable(mmap) && !slot->ending && (slot->region || slot->peer_key);
}

static doca_error_t find_key(const struct mmap_slot *slot, uint32_t *key)
{
	if (slot->region)
		return dpumap_region_get_key(slot->region, key);
	*key = slot->peer_key;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_mkey(const struct doca_mmap *mmap, const struct doca_dev *dev,
				uint32_t *mkey)
{
	const struct mmap_slot *slot;

	if (!mmap || !dev || !mkey)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	slot = dpumap_mmap_find_slot(mmap, dev);
	if (!slot)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "key: map %p does not have device %s",
				   (const void *)mmap, dpumap_hca_name(dev->info.hca));
	if (!has_key(mmap, slot))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "key: map %p is not started",
				   (const void *)mmap);
	return find_key(slot, mkey);
}

doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
					  doca_dpa_dev_mmap_t *handle)
{
	const struct mmap_slot *slot;

	if (!mmap || !dev || !handle)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	slot = dpumap_mmap_find_slot(mmap, dev);
	if (!slot)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND,
				   "DPA handle: map %p does not have device %s", (void *)mmap,
				   dpumap_hca_name(dev->info.hca));
	if (!has_key(mmap, slot))
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED, "DPA handle: map %p is not started",
				   (void *)mmap);
	return find_key(slot, handle);
}
