/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap/mmap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	created->dmabuf = -1;
	created->ops = DPUMAP_DESC_OP_ALL;
	atomic_init(&created->state, MMAP_NEW);
	*mmap = created;
	return DOCA_SUCCESS;
}

static void drop_lock(struct doca_mmap *mmap)
{
	if (!mmap->lock)
		return;
	pthread_mutex_destroy(mmap->lock);
	free(mmap->lock);
}

static void drop_range(struct doca_mmap *mmap)
{
	if (mmap->dm)
		dpumap_dm_put(mmap->dm);
	if (mmap->umem)
		dpumap_umem_put(mmap->umem);
	if (mmap->dmabuf >= 0)
		close(mmap->dmabuf);
	if (mmap->free_armed && mmap->free_cb)
		mmap->free_cb((void *)(uintptr_t)mmap->range.addr, mmap->range.len,
			      mmap->free_cookie);
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
	for (uint32_t i = 0; i < mmap->num_slots; i++) {
		dpumap_mmap_drop_token(&mmap->slots[i]);
		dpumap_dev_remove_user(mmap->slots[i].dev);
	}
	drop_range(mmap);
	drop_lock(mmap);
	if (mmap->slots != &mmap->first)
		free(mmap->slots);
	free(mmap);
	return DOCA_SUCCESS;
}

static doca_error_t check_shareable(const struct doca_mmap *mmap)
{
	if (dpumap_mmap_state(mmap) == MMAP_STARTED)
		return dpumap_fail(
			DOCA_ERROR_NOT_PERMITTED,
			"map %p is started: enable thread safety before doca_mmap_start()",
			(const void *)mmap);
	if (mmap->num_bufs)
		return dpumap_fail(
			DOCA_ERROR_NOT_PERMITTED,
			"map %p: %" PRIu32
			" buf(s) refer to it; release them (doca_buf_dec_refcount) first",
			(const void *)mmap, mmap->num_bufs);
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap)
{
	pthread_mutex_t *lock;
	doca_error_t result;
	int err;

	if (!mmap)
		return dpumap_fail_null(__func__);
	result = check_shareable(mmap);
	if (result != DOCA_SUCCESS || mmap->lock)
		return result;
	lock = malloc(sizeof(*lock));
	if (!lock)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "map %p: no memory for a lock",
				   (void *)mmap);
	err = pthread_mutex_init(lock, NULL);
	if (err) {
		free(lock);
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "map %p: creating a lock failed: %s", (void *)mmap,
				   strerror(err));
	}
	mmap->lock = lock;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len)
{
	if (!mmap || !addr || !len)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	if (!mmap->has_range)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "map %p has no range: call doca_mmap_set_memrange()",
				   (const void *)mmap);
	*addr = (void *)(uintptr_t)mmap->range.addr;
	*len = mmap->range.len;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data)
{
	if (!mmap || !user_data)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	*user_data = mmap->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices)
{
	if (!mmap || !max_num_devices)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	*max_num_devices = mmap->max_slots;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs)
{
	if (!mmap || !num_bufs)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	*num_bufs = mmap->num_bufs;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported)
{
	uint8_t found = 0;

	if (!mmap || !exported)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	for (uint32_t i = 0; i < mmap->num_slots; i++)
		found |= mmap->slots[i].pci.bytes || mmap->slots[i].rdma.bytes;
	*exported = found;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export)
{
	if (!mmap || !from_export)
		return dpumap_fail_null(__func__);
	dpumap_mmap_guard(mmap);
	*from_export = dpumap_mmap_is_imported(mmap);
	return DOCA_SUCCESS;
}
