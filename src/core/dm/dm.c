/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/dm/dm.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/dev/caps.h"
#include "log/log.h"

doca_error_t dpumap_dm_cap_get_max_len(const struct doca_devinfo *devinfo, uint64_t *max_len)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, max_len, &caps);

	if (result == DOCA_SUCCESS)
		*max_len = caps.max_dm_len;
	return result;
}

doca_error_t dpumap_dm_cap_get_granularity(const struct doca_devinfo *devinfo,
					   uint64_t *granularity)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, granularity, &caps);

	if (result == DOCA_SUCCESS)
		*granularity = caps.dm_granularity;
	return result;
}

doca_error_t dpumap_dm_cap_get_max_log_align(const struct doca_devinfo *devinfo,
					     uint32_t *max_log_align)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, max_log_align, &caps);

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
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: device memory is not supported",
				   name);
	if (!len || len > max_len)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"%s: cannot allocate %zu bytes of device memory, must be 1 to %" PRIu64,
			name, len, max_len);
	/* Without firmware commands (DEVX), only the kernel knows the limit. */
	if (caps->has_vhca_id && log_align > caps->max_dm_log_align)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: cannot align device memory to 2^%" PRIu32
				   ", at most to 2^%" PRIu32,
				   name, log_align, caps->max_dm_log_align);
	return DOCA_SUCCESS;
}

/* The errors that the interface documents. */
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

static void init(struct doca_dev *dev, struct dpumap_dm *dm_object, struct dpumap_dm **dm)
{
	dpumap_dev_add_user(dev);
	dm_object->dev = dev;
	atomic_init(&dm_object->refs, 1);
	atomic_init(&dm_object->started, 0);
	atomic_init(&dm_object->pools, 0);
	*dm = dm_object;
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
	allocated->log_align = log_align > DPUMAP_DM_LOG_LINE ? log_align : DPUMAP_DM_LOG_LINE;
	init(dev, allocated, dm);
	return DOCA_SUCCESS;
}

/* The errors that the interface documents. */
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
	imported->log_align = DPUMAP_DM_LOG_LINE;
	init(dev, imported, dm);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dm_get_handle(const struct dpumap_dm *dm, uint32_t *handle)
{
	if (!dm || !handle)
		return dpumap_fail_null(__func__);
	*handle = dpumap_devmem_handle(dm->mem);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dm_export_dmabuf(const struct dpumap_dm *dm, int *fd)
{
	if (!dm || !fd)
		return dpumap_fail_null(__func__);
	return dpumap_devmem_export_dmabuf(dm->mem, fd);
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
				   "freeing device memory: %u started maps use it; stop them first",
				   started);
	pools = atomic_load(&dm->pools);
	if (pools)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "freeing device memory: %u pools use it; destroy them first",
				   pools);
	result = dpumap_devmem_free(dm->mem);
	if (result != DOCA_SUCCESS)
		return result;
	dm->mem = NULL;
	dpumap_dev_remove_user(dm->dev);
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
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"%zu bytes at offset %zu are outside the %zu bytes of device memory", len,
			offset, dm->len);
	if (offset % 4 || len % 4)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "device memory at offset %zu, %zu bytes: must be multiples of 4",
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
