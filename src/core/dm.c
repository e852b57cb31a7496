/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/dm.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/dev.h"
#include "log/log.h"

#define DM_LOG_ALIGN 6u /* of each piece that the driver gives */

doca_error_t dpumap_dm_cap_get_max_len(const struct doca_devinfo *devinfo, uint64_t *max_len)
{
	struct dpumap_caps caps;
	doca_error_t result;

	if (!devinfo || !max_len)
		return dpumap_fail_null(__func__);
	result = dpumap_hca_get_caps(devinfo->hca, &caps);
	if (result == DOCA_SUCCESS)
		*max_len = caps.max_dm_len;
	return result;
}

doca_error_t dpumap_dm_cap_get_granularity(const struct doca_devinfo *devinfo,
					   uint64_t *granularity)
{
	struct dpumap_caps caps;
	doca_error_t result;

	if (!devinfo || !granularity)
		return dpumap_fail_null(__func__);
	result = dpumap_hca_get_caps(devinfo->hca, &caps);
	if (result == DOCA_SUCCESS)
		*granularity = caps.dm_granularity;
	return result;
}

doca_error_t dpumap_dm_cap_get_max_log_align(const struct doca_devinfo *devinfo,
					     uint32_t *max_log_align)
{
	struct dpumap_caps caps;
	doca_error_t result;

	if (!devinfo || !max_log_align)
		return dpumap_fail_null(__func__);
	result = dpumap_hca_get_caps(devinfo->hca, &caps);
	if (result == DOCA_SUCCESS)
		*max_log_align = caps.max_dm_log_align;
	return result;
}

doca_error_t dpumap_dm_query_free(struct doca_dev *dev, uint64_t *longest, uint64_t *total)
{
	if (!dev || !longest)
		return dpumap_fail_null(__func__);
	return dpumap_devmem_query_free(dev->device, longest, total);
}

struct dpumap_dm *dpumap_dm_get(struct dpumap_dm *dm)
{
	atomic_fetch_add(&dm->refs, 1);
	return dm;
}

void dpumap_dm_put(struct dpumap_dm *dm)
{
	if (atomic_fetch_sub(&dm->refs, 1) == 1)
		free(dm);
}

static doca_error_t check_request(const struct doca_dev *dev, size_t len, uint32_t log_align)
{
	const struct dpumap_caps *caps = dpumap_device_caps(dev->device);
	uint64_t max_len = caps->max_dm_len;
	const char *name = dpumap_hca_name(dev->info.hca);

	if (!max_len)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s has no device memory", name);
	if (!len || len > max_len)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: %zu bytes of device memory, can do 1 to %" PRIu64, name,
				   len, max_len);
	/* Without an answer of the firmware, only the kernel knows. */
	if (caps->has_vhca_id && log_align > caps->max_dm_log_align)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: device memory aligned to 2^%" PRIu32
				   ", can do at most 2^%" PRIu32,
				   name, log_align, caps->max_dm_log_align);
	return DOCA_SUCCESS;
}

/* What verbs may answer, as the interface names it. */
static doca_error_t alloc_error(doca_error_t error)
{
	switch (error) {
	case DOCA_SUCCESS:
	case DOCA_ERROR_INVALID_VALUE:
	case DOCA_ERROR_NO_MEMORY:
	case DOCA_ERROR_NOT_SUPPORTED:
		return error;
	default:
		return DOCA_ERROR_DRIVER;
	}
}

static void give_out(struct doca_dev *dev, struct dpumap_dm *made, struct dpumap_dm **dm)
{
	dpumap_dev_hold(dev);
	made->dev = dev;
	atomic_init(&made->refs, 1);
	atomic_init(&made->started, 0);
	atomic_init(&made->pools, 0);
	*dm = made;
}

doca_error_t dpumap_dm_alloc(struct doca_dev *dev, size_t len, uint32_t log_align,
			     struct dpumap_dm **dm)
{
	struct dpumap_dm *allocated;
	doca_error_t result;

	if (!dev || !dm)
		return dpumap_fail_null(__func__);
	result = check_request(dev, len, log_align);
	if (result != DOCA_SUCCESS)
		return result;
	allocated = calloc(1, sizeof(*allocated));
	if (!allocated)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a device memory object");
	result = dpumap_devmem_alloc(dev->device, len, log_align, &allocated->mem);
	if (result != DOCA_SUCCESS) {
		free(allocated);
		return alloc_error(result);
	}
	allocated->len = len;
	allocated->log_align = log_align > DM_LOG_ALIGN ? log_align : DM_LOG_ALIGN;
	give_out(dev, allocated, dm);
	return DOCA_SUCCESS;
}

/* What verbs may answer, as the interface names it. */
static doca_error_t import_error(doca_error_t error)
{
	switch (error) {
	case DOCA_SUCCESS:
	case DOCA_ERROR_NO_MEMORY:
	case DOCA_ERROR_NOT_FOUND:
	case DOCA_ERROR_NOT_SUPPORTED:
		return error;
	default:
		return DOCA_ERROR_DRIVER;
	}
}

doca_error_t dpumap_dm_import(struct doca_dev *dev, uint32_t handle, struct dpumap_dm **dm)
{
	struct dpumap_dm *imported;
	doca_error_t result;

	if (!dev || !dm)
		return dpumap_fail_null(__func__);
	imported = calloc(1, sizeof(*imported));
	if (!imported)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a device memory object");
	result = dpumap_devmem_import(dev->device, handle, &imported->mem);
	if (result != DOCA_SUCCESS) {
		free(imported);
		return import_error(result);
	}
	imported->len = dpumap_devmem_len(imported->mem);
	imported->log_align = DM_LOG_ALIGN;
	give_out(dev, imported, dm);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dm_get_handle(const struct dpumap_dm *dm, uint32_t *handle)
{
	if (!dm || !handle)
		return dpumap_fail_null(__func__);
	*handle = dpumap_devmem_handle(dm->mem);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dm_free(struct dpumap_dm *dm)
{
	unsigned int started, pools;
	doca_error_t result;

	if (!dm)
		return dpumap_fail_null(__func__);
	started = atomic_load(&dm->started);
	if (started)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "device memory is the range of %u started maps", started);
	pools = atomic_load(&dm->pools);
	if (pools)
		return dpumap_fail(DOCA_ERROR_IN_USE, "device memory is given out by %u pools",
				   pools);
	result = dpumap_devmem_free(dm->mem);
	if (result != DOCA_SUCCESS)
		return result;
	dm->mem = NULL;
	dpumap_dev_release(dm->dev);
	dpumap_dm_put(dm);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dm_get_len(const struct dpumap_dm *dm, size_t *len)
{
	if (!dm || !len)
		return dpumap_fail_null(__func__);
	*len = dm->len;
	return DOCA_SUCCESS;
}

static doca_error_t check_access(const struct dpumap_dm *dm, size_t offset, size_t len)
{
	if (offset > dm->len || len > dm->len - offset)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%zu bytes at offset %zu of %zu bytes of device memory", len,
				   offset, dm->len);
	if (offset % 4 || len % 4)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "device memory at offset %zu, %zu bytes: not multiples of 4",
				   offset, len);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dm_write(struct dpumap_dm *dm, size_t offset, const void *src, size_t len)
{
	doca_error_t result;

	if (!dm || !src)
		return dpumap_fail_null(__func__);
	result = check_access(dm, offset, len);
	return result == DOCA_SUCCESS ? dpumap_devmem_write(dm->mem, offset, src, len) : result;
}

doca_error_t dpumap_dm_read(struct dpumap_dm *dm, size_t offset, void *dst, size_t len)
{
	doca_error_t result;

	if (!dm || !dst)
		return dpumap_fail_null(__func__);
	result = check_access(dm, offset, len);
	return result == DOCA_SUCCESS ? dpumap_devmem_read(dm->mem, offset, dst, len) : result;
}
