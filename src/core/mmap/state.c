/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap/mmap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <dpumap/mmap.h>

#include "device/memory/export.h"
#include "device/memory/region.h"
#include "log/log.h"
#include "secret/secret.h"

void dpumap_mmap_set_state(struct doca_mmap *mmap, enum mmap_state state)
{
	bool usable = state >= MMAP_STARTED;
	const struct mmap_slot *slot = usable && mmap->num_slots ? &mmap->slots[0] : NULL;

	dpumap_mmap_drop_fast_key(mmap);
	if (slot && slot->region) {
		mmap->fast_key = dpumap_sq_key(slot->region);
		mmap->fast_peer_key = dpumap_sq_peer_key(slot->region);
		atomic_store_explicit(&mmap->fast_dev, slot->dev, memory_order_release);
	}
	atomic_store_explicit(&mmap->buf_limit, usable ? mmap->range.len + 1 : 0,
			      memory_order_release);
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

static doca_error_t check_umem(const struct doca_mmap *mmap)
{
	const struct dpumap_umem *umem = mmap->umem;
	uint32_t allowed = umem->access;

	if (!umem->devx_umem)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "map %p: its umem was deregistered",
				   (const void *)mmap);
	for (uint32_t i = 0; i < mmap->num_slots; i++)
		if (mmap->slots[i].dev != umem->dev)
			return dpumap_fail(
				DOCA_ERROR_INVALID_VALUE, "map %p: its umem is not on device %s",
				(const void *)mmap, dpumap_hca_name(mmap->slots[i].dev->info.hca));
	if (allowed & DOCA_ACCESS_FLAG_PCI_READ_WRITE)
		allowed |= DOCA_ACCESS_FLAG_PCI_READ_ONLY;
	if (mmap->access & ~allowed)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "map %p: access mask 0x%x exceeds that of its umem, 0x%x",
				   (const void *)mmap, mmap->access, umem->access);
	return DOCA_SUCCESS;
}

static doca_error_t check_startable(const struct doca_mmap *mmap)
{
	if (dpumap_mmap_is_imported(mmap))
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "map %p is imported and started already", (const void *)mmap);
	if (dpumap_mmap_state(mmap) == MMAP_STARTED)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED, "map %p is started already",
				   (const void *)mmap);
	if (!mmap->has_range)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "map %p has no range: call doca_mmap_set_memrange() first",
				   (const void *)mmap);
	if (!mmap->num_slots)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "map %p has no device: call doca_mmap_add_dev() first",
				   (const void *)mmap);
	if (mmap->umem)
		return check_umem(mmap);
	return mmap->dm ? check_dm(mmap) : DOCA_SUCCESS;
}

static doca_error_t register_on(const struct doca_mmap *mmap, struct mmap_slot *slot)
{
	struct dpumap_device *device = slot->dev->device;

	if (mmap->dm)
		return dpumap_region_register_devmem(mmap->dm->mem, mmap->offset, mmap->range,
						     mmap->access, &slot->region);
	if (mmap->umem)
		return dpumap_region_register_umem(mmap->umem->devx_umem, mmap->offset, mmap->range,
						   mmap->access, &slot->region);
	if (mmap->dmabuf >= 0)
		return dpumap_region_register_dmabuf(device, mmap->dmabuf, mmap->offset,
						     mmap->range, mmap->access, &slot->region);
	return dpumap_region_register(device, mmap->range, mmap->access, !mmap->has_access,
				      &slot->region);
}

static void drop_desc(struct mmap_desc *desc)
{
	dpumap_secret_free(desc->bytes, desc->len);
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
		/* An earlier start that failed may have left a registration with other rights. */
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
	dpumap_mmap_set_state(mmap, MMAP_STARTED);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
	bool is_partial = false;

	if (!mmap)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	if (!dpumap_mmap_is_usable(mmap))
		return DOCA_SUCCESS;
	if (mmap->num_bufs)
		return dpumap_fail(
			DOCA_ERROR_NOT_PERMITTED,
			"map %p: %" PRIu32
			" buf(s) refer to it; release them (doca_buf_dec_refcount) first",
			(void *)mmap, mmap->num_bufs);
	dpumap_mmap_drop_fast_key(mmap);
	for (uint32_t i = 0; i < mmap->num_slots; i++)
		is_partial |= dpumap_mmap_unregister(&mmap->slots[i]) != DOCA_SUCCESS;
	if (is_partial)
		return DOCA_ERROR_NOT_PERMITTED;
	if (mmap->dm)
		atomic_fetch_sub(&mmap->dm->started, 1);
	if (mmap->umem)
		atomic_fetch_sub(&mmap->umem->started, 1);
	dpumap_mmap_set_state(mmap,
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
	result = dpumap_mmap_get_slot(mmap, dev, &slot);
	if (result != DOCA_SUCCESS)
		return result;
	if (dpumap_mmap_state(mmap) != MMAP_STARTED || !slot->region || slot->ending)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "revoke: map %p is not started, or it is imported",
				   (void *)mmap);
	result = dpumap_region_unexport_pci(slot->region);
	if (result == DOCA_SUCCESS)
		drop_desc(&slot->pci);
	return result;
}
