/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/memory/devmem_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/errno.h"
#include "log/log.h"

/* dpumap_devmem_query_free() takes all memory: other threads' allocations wait for it. */
static pthread_mutex_t alloc_lock = PTHREAD_MUTEX_INITIALIZER;

static struct ibv_dm *alloc_dm(struct ibv_context *context, uint64_t len, uint32_t log_align)
{
	struct ibv_alloc_dm_attr attr = {.length = len, .log_align_req = log_align};
	struct ibv_dm *dm;

	pthread_mutex_lock(&alloc_lock);
	dm = ibv_alloc_dm(context, &attr);
	pthread_mutex_unlock(&alloc_lock);
	return dm;
}

static doca_error_t find_mapping(struct ibv_dm *dm, struct dpumap_devmem *mem)
{
	struct mlx5dv_dm dv = {0};
	struct mlx5dv_obj obj = {.dm.in = dm, .dm.out = &dv};
	int err = mlx5dv_init_obj(&obj, MLX5DV_OBJ_DM);

	if (err || !dv.buf)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: finding the mapping of device memory failed: %s",
				   ibv_get_device_name(dm->context->device), strerror(err));
	mem->base = dv.buf;
	mem->len = dv.length;
	return DOCA_SUCCESS;
}

static doca_error_t fail_alloc(const struct dpumap_device *device, size_t len, uint32_t log_align)
{
	int err = errno;

	return dpumap_fail(dpumap_errno_to_error(err),
			   "%s: allocating %zu bytes of device memory aligned to 2^%u failed: %s",
			   dpumap_hca_name(device->hca), len, log_align, strerror(err));
}

doca_error_t dpumap_devmem_alloc(struct dpumap_device *device, size_t len, uint32_t log_align,
				 struct dpumap_devmem **mem)
{
	struct dpumap_devmem *allocated = calloc(1, sizeof(*allocated));
	doca_error_t result;

	if (!allocated)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a device memory object");
	allocated->device = device;
	allocated->dm = alloc_dm(device->context, len, log_align);
	if (!allocated->dm) {
		result = fail_alloc(device, len, log_align);
		goto free_object;
	}
	result = find_mapping(allocated->dm, allocated);
	if (result != DOCA_SUCCESS)
		goto free_dm;
	*mem = allocated;
	return DOCA_SUCCESS;

free_dm:
	ibv_free_dm(allocated->dm);
free_object:
	free(allocated);
	return result;
}

doca_error_t dpumap_devmem_free(struct dpumap_devmem *mem)
{
	int err = 0;

	if (mem->imported)
		ibv_unimport_dm(mem->dm);
	else
		err = dpumap_errno_of_end(mem->device->context, ibv_free_dm(mem->dm));
	if (err == EBUSY)
		return dpumap_fail(
			DOCA_ERROR_IN_USE,
			"%s: freeing device memory: another process or object has registered it",
			dpumap_hca_name(mem->device->hca));
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: freeing device memory failed: %s",
				   dpumap_hca_name(mem->device->hca), strerror(err));
	free(mem);
	return DOCA_SUCCESS;
}

struct probe {
	struct dpumap_device *device;
	struct ibv_dm **pieces; /* allocated pieces */
	size_t num_pieces;
};

static uint64_t len_of(const struct probe *probe, uint64_t units)
{
	const struct dpumap_caps *caps = &probe->device->caps;
	uint64_t len = units * caps->dm_granularity;

	return len < caps->max_dm_len ? len : caps->max_dm_len;
}

static doca_error_t fail_probe(const struct probe *probe, const char *what, int err)
{
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: measuring free device memory: %s failed: %s",
			   dpumap_hca_name(probe->device->hca), what, strerror(err));
}

/* *dm is NULL if no such piece is free. */
static doca_error_t alloc_units(const struct probe *probe, uint64_t units, struct ibv_dm **dm)
{
	struct ibv_alloc_dm_attr attr = {.length = len_of(probe, units)};

	*dm = ibv_alloc_dm(probe->device->context, &attr);
	if (!*dm && errno != ENOMEM)
		return fail_probe(probe, "allocating device memory", errno);
	return DOCA_SUCCESS;
}

static doca_error_t free_units(const struct probe *probe, struct ibv_dm *dm)
{
	int err = ibv_free_dm(dm);

	if (err) /* try again: the object still exists */
		err = ibv_free_dm(dm);
	if (err) /* closing the device frees it */
		return fail_probe(probe, "freeing device memory", err);
	return DOCA_SUCCESS;
}

/* The most units, up to bound, that are free in one piece. */
static doca_error_t find_longest(const struct probe *probe, uint64_t bound, uint64_t *units)
{
	uint64_t low = 0, high = bound, tried = bound;

	while (low < high) {
		struct ibv_dm *dm;
		doca_error_t result = alloc_units(probe, tried, &dm);

		if (result == DOCA_SUCCESS && dm)
			result = free_units(probe, dm);
		if (result != DOCA_SUCCESS)
			return result;
		if (dm)
			low = tried;
		else
			high = tried - 1;
		tried = low + (high - low + 1) / 2;
	}
	*units = low;
	return DOCA_SUCCESS;
}

static doca_error_t append_piece(struct probe *probe, struct ibv_dm *dm)
{
	struct ibv_dm **more =
		reallocarray(probe->pieces, probe->num_pieces + 1, sizeof(struct ibv_dm *));

	if (!more) {
		free_units(probe, dm);
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a list of %zu pieces",
				   probe->num_pieces + 1);
	}
	probe->pieces = more;
	probe->pieces[probe->num_pieces++] = dm;
	return DOCA_SUCCESS;
}

/* Allocate the longest free piece, up to *bound units. *bound becomes its length, 0 for none. */
static doca_error_t alloc_longest(struct probe *probe, uint64_t *bound)
{
	struct ibv_dm *dm = NULL;
	doca_error_t result;

	do {
		result = find_longest(probe, *bound, bound);
		if (result == DOCA_SUCCESS && *bound)
			result = alloc_units(probe, *bound, &dm);
		if (result != DOCA_SUCCESS)
			return result;
		/* Without a piece, another process has allocated memory meanwhile: search again. */
	} while (*bound && !dm);
	return dm ? append_piece(probe, dm) : DOCA_SUCCESS;
}

static doca_error_t sum_free(struct probe *probe, uint64_t bound, uint64_t *total)
{
	doca_error_t result;
	uint64_t sum = 0;

	do {
		result = alloc_longest(probe, &bound);
		if (result == DOCA_SUCCESS)
			sum += len_of(probe, bound);
	} while (result == DOCA_SUCCESS && bound);
	while (probe->num_pieces) {
		doca_error_t freed = free_units(probe, probe->pieces[--probe->num_pieces]);

		if (result == DOCA_SUCCESS)
			result = freed;
	}
	free(probe->pieces);
	if (result == DOCA_SUCCESS)
		*total = sum;
	return result;
}

doca_error_t dpumap_devmem_query_free(struct dpumap_device *device, uint64_t *longest,
				      uint64_t *total)
{
	const struct dpumap_caps *caps = &device->caps;
	struct probe probe = {.device = device};
	uint64_t units = 0, sum = 0;
	doca_error_t result;

	if (caps->max_dm_len)
		units = (caps->max_dm_len - 1) / caps->dm_granularity + 1;
	pthread_mutex_lock(&alloc_lock);
	result = find_longest(&probe, units, &units);
	if (result == DOCA_SUCCESS && total)
		result = sum_free(&probe, units, &sum);
	pthread_mutex_unlock(&alloc_lock);
	if (result != DOCA_SUCCESS)
		return result;
	*longest = len_of(&probe, units);
	if (total)
		*total = sum;
	return DOCA_SUCCESS;
}

static doca_error_t fail_import(const struct dpumap_device *device, uint32_t handle)
{
	const char *name = dpumap_hca_name(device->hca);
	int err = errno;

	/* The kernel reports either for a number without an object or with one of another type. */
	if (err == ENOENT || err == EINVAL)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND,
				   "%s: handle %" PRIu32
				   " is not device memory of this device context",
				   name, handle);
	return dpumap_fail(dpumap_errno_to_error(err),
			   "%s: importing device memory with handle %" PRIu32 " failed: %s", name,
			   handle, strerror(err));
}

doca_error_t dpumap_devmem_import(struct dpumap_device *device, uint32_t handle,
				  struct dpumap_devmem **mem)
{
	struct dpumap_devmem *imported = calloc(1, sizeof(*imported));
	doca_error_t result;

	if (!imported)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a device memory object");
	imported->device = device;
	imported->imported = true;
	imported->dm = ibv_import_dm(device->context, handle);
	if (!imported->dm) {
		result = fail_import(device, handle);
		goto free_object;
	}
	result = find_mapping(imported->dm, imported);
	if (result != DOCA_SUCCESS)
		goto unimport_dm;
	*mem = imported;
	return DOCA_SUCCESS;

unimport_dm:
	ibv_unimport_dm(imported->dm);
free_object:
	free(imported);
	return result;
}

uint32_t dpumap_devmem_handle(const struct dpumap_devmem *mem)
{
	return mem->dm->handle;
}

size_t dpumap_devmem_len(const struct dpumap_devmem *mem)
{
	return mem->len;
}

void *dpumap_devmem_base(const struct dpumap_devmem *mem)
{
	return mem->base;
}

static doca_error_t check_access(const struct dpumap_devmem *mem, int err)
{
	if (err)
		return dpumap_fail(dpumap_errno_to_error(err),
				   "%s: accessing device memory failed: %s",
				   dpumap_hca_name(mem->device->hca), strerror(err));
	return DOCA_SUCCESS;
}

doca_error_t dpumap_devmem_write(struct dpumap_devmem *mem, size_t offset, const void *src,
				 size_t len)
{
	return check_access(mem, ibv_memcpy_to_dm(mem->dm, offset, src, len));
}

doca_error_t dpumap_devmem_read(struct dpumap_devmem *mem, size_t offset, void *dst, size_t len)
{
	return check_access(mem, ibv_memcpy_from_dm(dst, mem->dm, offset, len));
}
