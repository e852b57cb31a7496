/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <dpumap/mmap.h>

#include "log/log.h"

void dpumap_mmap_enter(struct doca_mmap *mmap, enum mmap_state state)
{
	bool usable = state == MMAP_STARTED || state == MMAP_IMPORTED;
	const struct mmap_slot *slot = usable && mmap->num_slots ? &mmap->slots[0] : NULL;

	dpumap_mmap_forget_usual(mmap);
	if (slot && slot->region) {
		mmap->usual_name = dpumap_ring_name(slot->region);
		atomic_store_explicit(&mmap->usual_dev, slot->dev, memory_order_release);
	}
	atomic_store_explicit(&mmap->state, state, memory_order_release);
}

static doca_error_t check_dm(const struct doca_mmap *mmap)
{
	if (!mmap->dm->mem)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "map %p: its device memory was freed",
				   (const void *)mmap);
	for (uint32_t i = 0; i < mmap->num_slots; i++)
		if (mmap->slots[i].dev != mmap->dm->dev)
			return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
					   "map %p: its device memory is not on device %s",
					   (const void *)mmap,
					   dpumap_hca_name(mmap->slots[i].dev->info.hca));
	return DOCA_SUCCESS;
}

static doca_error_t check_startable(const struct doca_mmap *mmap)
{
	if (dpumap_mmap_is_imported(mmap))
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED, "map %p is imported",
				   (const void *)mmap);
	if (dpumap_mmap_state(mmap) == MMAP_STARTED)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED, "map %p is started already",
				   (const void *)mmap);
	if (!mmap->has_range)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "map %p has no range",
				   (const void *)mmap);
	if (!mmap->num_slots)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "map %p has no device",
				   (const void *)mmap);
	if (mmap->umem)
		return dpumap_umem_check_map(mmap->umem, mmap);
	return mmap->dm ? check_dm(mmap) : DOCA_SUCCESS;
}

static doca_error_t register_on(const struct doca_mmap *mmap, struct mmap_slot *slot)
{
	struct dpumap_device *device = slot->dev->device;

	if (mmap->dm)
		return dpumap_region_register_devmem(mmap->dm->mem, mmap->offset, mmap->range,
						     mmap->access, &slot->region);
	if (mmap->umem)
		return dpumap_region_register_pages(mmap->umem->pages, mmap->offset, mmap->range,
						    mmap->access, &slot->region);
	if (mmap->dmabuf >= 0)
		return dpumap_region_register_dmabuf(device, mmap->dmabuf, mmap->offset,
						     mmap->range, mmap->access, &slot->region);
	return dpumap_region_register(device, mmap->range, mmap->access, &slot->region);
}

static void drop_desc(struct mmap_desc *desc)
{
	if (!desc->bytes)
		return;
	explicit_bzero(desc->bytes, desc->len);
	free(desc->bytes);
	*desc = (struct mmap_desc){0};
}

doca_error_t dpumap_mmap_unregister(struct mmap_slot *slot)
{
	doca_error_t result;

	if (!slot->region)
		return DOCA_SUCCESS;
	result = dpumap_region_destroy(slot->region);
	slot->ending = result != DOCA_SUCCESS;
	if (slot->ending)
		return result;
	slot->region = NULL;
	drop_desc(&slot->pci);
	drop_desc(&slot->rdma);
	return DOCA_SUCCESS;
}

static doca_error_t register_all(struct doca_mmap *mmap)
{
	for (uint32_t i = 0; i < mmap->num_slots; i++) {
		/* What an earlier failed start could not take back has the rights of then. */
		doca_error_t result = dpumap_mmap_unregister(&mmap->slots[i]);

		if (result == DOCA_SUCCESS)
			result = register_on(mmap, &mmap->slots[i]);
		if (result != DOCA_SUCCESS) {
			while (i)
				dpumap_mmap_unregister(&mmap->slots[--i]);
			return result;
		}
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
	doca_error_t result;

	if (!mmap)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	result = check_startable(mmap);
	if (result != DOCA_SUCCESS)
		return result;
	result = register_all(mmap);
	if (result != DOCA_SUCCESS)
		return result;
	if (mmap->dm)
		atomic_fetch_add(&mmap->dm->started, 1);
	if (mmap->umem)
		atomic_fetch_add(&mmap->umem->started, 1);
	mmap->free_armed = true;
	mmap->was_started = true;
	dpumap_mmap_enter(mmap, MMAP_STARTED);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
	bool stuck = false;

	if (!mmap)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	if (!dpumap_mmap_is_usable(mmap))
		return DOCA_SUCCESS;
	if (mmap->num_bufs)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "map %p: %" PRIu32 " bufs still point into it", (void *)mmap,
				   mmap->num_bufs);
	dpumap_mmap_forget_usual(mmap);
	for (uint32_t i = 0; i < mmap->num_slots; i++)
		stuck |= dpumap_mmap_unregister(&mmap->slots[i]) != DOCA_SUCCESS;
	if (stuck)
		return DOCA_ERROR_NOT_PERMITTED;
	if (mmap->dm)
		atomic_fetch_sub(&mmap->dm->started, 1);
	if (mmap->umem)
		atomic_fetch_sub(&mmap->umem->started, 1);
	dpumap_mmap_enter(mmap,
			  dpumap_mmap_is_imported(mmap) ? MMAP_IMPORTED_STOPPED : MMAP_STOPPED);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_mmap_revoke_pci(struct doca_mmap *mmap, const struct doca_dev *dev)
{
	struct mmap_slot *slot;
	doca_error_t result;

	if (!mmap || !dev)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	slot = dpumap_mmap_find_slot(mmap, dev);
	if (!slot)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND, "revoke: map %p does not have device %s",
				   (void *)mmap, dpumap_hca_name(dev->info.hca));
	if (dpumap_mmap_state(mmap) != MMAP_STARTED || !slot->region || slot->ending)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "revoke: map %p is not started, or imported", (void *)mmap);
	result = dpumap_region_unshare(slot->region);
	if (result == DOCA_SUCCESS)
		drop_desc(&slot->pci);
	return result;
}
