/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap/mmap.h"

#include <stdlib.h>

#include "core/access.h"
#include "log/log.h"

doca_error_t dpumap_mmap_check_settable(const struct doca_mmap *mmap, const char *function)
{
	if (dpumap_mmap_is_imported(mmap))
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED, "%s: map %p is imported", function,
				   (const void *)mmap);
	if (dpumap_mmap_state(mmap) == MMAP_STARTED)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: map %p is started: stop it first",
				   function, (const void *)mmap);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
	doca_error_t result;

	if (!mmap)
		return dpumap_fail_null(__func__);
	result = dpumap_access_check(access_mask);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_mmap_guard(mmap);
	result = dpumap_mmap_check_settable(mmap, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->access = access_mask;
	mmap->has_access = true;
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
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "map %p was started or imported: its maximum number of devices "
				   "cannot change",
				   (void *)mmap);
	if (!max_num_devices || max_num_devices < mmap->num_slots)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "map %p: a maximum of %u devices is invalid: it has %u, and the "
				   "minimum is 1",
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

doca_error_t dpumap_mmap_get_slot(const struct doca_mmap *mmap, const struct doca_dev *dev,
				  struct mmap_slot **slot)
{
	struct mmap_slot *found = dpumap_mmap_find_slot(mmap, dev);

	if (!found)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND,
				   "map %p does not have device %s: call doca_mmap_add_dev() first",
				   (const void *)mmap, dpumap_hca_name(dev->info.hca));
	*slot = found;
	return DOCA_SUCCESS;
}

/* The slots, with room for one more; NULL without memory. */
static struct mmap_slot *grow_slots(struct doca_mmap *mmap)
{
	bool own = mmap->slots && mmap->slots != &mmap->first;
	struct mmap_slot *slots;

	if (!mmap->num_slots && !own)
		return &mmap->first;
	slots = reallocarray(own ? mmap->slots : NULL, (size_t)mmap->num_slots + 1, sizeof(*slots));
	if (slots && !own)
		slots[0] = mmap->first;
	return slots;
}

doca_error_t dpumap_mmap_add_slot(struct doca_mmap *mmap, struct doca_dev *dev)
{
	struct mmap_slot *slots = grow_slots(mmap);

	if (!slots)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "map %p: no memory for a device",
				   (void *)mmap);
	slots[mmap->num_slots++] = (struct mmap_slot){.dev = dev};
	mmap->slots = slots;
	dpumap_dev_add_user(dev);
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
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "map %p has its maximum of %u devices: raise it by "
				   "doca_mmap_set_max_num_devices()",
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
	result = dpumap_mmap_get_slot(mmap, dev, &slot);
	if (result != DOCA_SUCCESS)
		return result;
	if (dpumap_mmap_unregister(slot) != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_PERMITTED;
	dpumap_mmap_drop_token(slot);
	*slot = mmap->slots[--mmap->num_slots];
	dpumap_dev_remove_user(dev);
	return DOCA_SUCCESS;
}
