/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap.h"

#include <stdlib.h>

#include "log/log.h"

#define ALL_FLAGS                                                           \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |   \
	 DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC |       \
	 DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE | \
	 DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING)
#define PCI_FLAGS ((uint32_t)(DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE))

doca_error_t dpumap_mmap_check_settable(const struct doca_mmap *mmap, const char *function)
{
	if (dpumap_mmap_is_imported(mmap))
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED, "%s: map %p is imported", function,
				   (const void *)mmap);
	if (dpumap_mmap_state(mmap) == MMAP_STARTED)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: map %p is started", function,
				   (const void *)mmap);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_mmap_check_access(uint32_t access_mask)
{
	if (access_mask & ~(uint32_t)ALL_FLAGS)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "access mask 0x%x has undefined bits",
				   access_mask);
	if ((access_mask & PCI_FLAGS) == PCI_FLAGS)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "access mask 0x%x: PCI_READ_ONLY excludes PCI_READ_WRITE",
				   access_mask);
	if ((access_mask & PCI_FLAGS) && (access_mask & DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "access mask 0x%x: PCI_RELAXED_ORDERING excludes a PCI export",
				   access_mask);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
	doca_error_t result;

	if (!mmap)
		return dpumap_fail_null(__func__);
	result = dpumap_mmap_check_access(access_mask);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_mmap_guard(mmap);
	result = dpumap_mmap_check_settable(mmap, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->access = access_mask;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb,
				   void *opaque)
{
	doca_error_t result;

	if (!mmap)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	result = dpumap_mmap_check_settable(mmap, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->free_cb = free_cb;
	mmap->free_cookie = opaque;
	mmap->free_armed = false;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data)
{
	doca_error_t result;

	if (!mmap)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	result = dpumap_mmap_check_settable(mmap, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices)
{
	if (!mmap)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	if (mmap->was_started || dpumap_mmap_is_imported(mmap))
		return dpumap_fail(
			DOCA_ERROR_NOT_PERMITTED,
			"map %p was started or imported: its maximum of devices is fixed",
			(void *)mmap);
	if (!max_num_devices || max_num_devices < mmap->num_slots)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "map %p: at most %u devices, it has %u and needs at least 1",
				   (void *)mmap, max_num_devices, mmap->num_slots);
	mmap->max_slots = max_num_devices;
	return DOCA_SUCCESS;
}

static doca_error_t check_devices_settable(const struct doca_mmap *mmap, const char *function)
{
	if (dpumap_mmap_state(mmap) == MMAP_STARTED || dpumap_mmap_is_imported(mmap))
		return dpumap_fail(
			DOCA_ERROR_NOT_PERMITTED, "%s: map %p is %s", function, (const void *)mmap,
			dpumap_mmap_state(mmap) == MMAP_STARTED ? "started" : "imported");
	return DOCA_SUCCESS;
}

doca_error_t dpumap_mmap_add_slot(struct doca_mmap *mmap, struct doca_dev *dev)
{
	struct mmap_slot *slots;

	slots = reallocarray(mmap->slots, (size_t)mmap->num_slots + 1, sizeof(*slots));
	if (!slots)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "map %p: no memory for a device",
				   (void *)mmap);
	slots[mmap->num_slots++] = (struct mmap_slot){.dev = dev};
	mmap->slots = slots;
	dpumap_dev_hold(dev);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result;

	if (!mmap || !dev)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	result = check_devices_settable(mmap, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (dpumap_mmap_find_slot(mmap, dev))
		return dpumap_fail(DOCA_ERROR_ALREADY_EXIST, "map %p has device %s already",
				   (void *)mmap, dpumap_hca_name(dev->info.hca));
	if (mmap->num_slots >= mmap->max_slots)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "map %p has its maximum of %u devices",
				   (void *)mmap, mmap->max_slots);
	return dpumap_mmap_add_slot(mmap, dev);
}

doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	struct mmap_slot *slot;
	doca_error_t result;

	if (!mmap || !dev)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	result = check_devices_settable(mmap, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	slot = dpumap_mmap_find_slot(mmap, dev);
	if (!slot)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND, "map %p does not have device %s",
				   (void *)mmap, dpumap_hca_name(dev->info.hca));
	if (dpumap_mmap_unregister(slot) != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_PERMITTED;
	dpumap_mmap_drop_token(slot);
	*slot = mmap->slots[--mmap->num_slots];
	dpumap_dev_release(dev);
	return DOCA_SUCCESS;
}
