/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Umems of programs that create objects of the firmware. */
#include <doca_umem.h>

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/access.h"
#include "core/dev/dev.h"
#include "device/memory/devx_resource.h"
#include "log/log.h"

#define UNIT 64u

struct doca_umem {
	struct doca_dev *dev;
	struct dpumap_devx_memory *devx;
	void *address;
	size_t size;
};

static doca_error_t check(const void *address, size_t size, uint32_t access)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	if ((uintptr_t)address % page)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_umem_create: address %p is not at the start of a page",
				   address);
	if (!size || size % UNIT)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "doca_umem_create: size %zu is not a multiple of %u", size,
				   UNIT);
	return dpumap_access_check(access);
}

doca_error_t doca_umem_create(const struct doca_dev *dev, void *address, size_t size,
			      uint32_t access, struct doca_umem **umem)
{
	struct doca_umem *created;
	doca_error_t result;

	if (!dev || !address || !umem)
		return dpumap_fail_null(__func__);
	result = check(address, size, access);
	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: no memory", __func__);
	created->dev = (struct doca_dev *)dev; /* the interface takes a const device */
	created->address = address;
	created->size = size;
	result = dpumap_devx_memory_register(dev->device, address, size, access, &created->devx);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	dpumap_dev_add_user(created->dev);
	*umem = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_umem_destroy(struct doca_umem *umem)
{
	doca_error_t result;

	if (!umem)
		return dpumap_fail_null(__func__);
	result = dpumap_devx_memory_deregister(umem->devx);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_dev_remove_user(umem->dev);
	free(umem);
	return DOCA_SUCCESS;
}

doca_error_t doca_umem_dpa_create(struct doca_dpa *dpa, uint64_t address, size_t size,
				  uint32_t access, struct doca_umem **umem)
{
	(void)address, (void)size, (void)access;
	if (!dpa || !umem)
		return dpumap_fail_null(__func__);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: DPAs are not supported", __func__);
}

doca_error_t doca_umem_gpu_create(struct doca_gpu *gpu, struct doca_dev *dev, void *address,
				  size_t size, uint32_t access, struct doca_umem **umem)
{
	(void)dev, (void)address, (void)size, (void)access;
	if (!gpu || !umem)
		return dpumap_fail_null(__func__);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: GPUs are not supported", __func__);
}

doca_error_t doca_umem_get_id(const struct doca_umem *umem, uint32_t *umem_id)
{
	if (!umem || !umem_id)
		return dpumap_fail_null(__func__);
	*umem_id = dpumap_devx_memory_id(umem->devx);
	return DOCA_SUCCESS;
}

doca_error_t doca_umem_get_size(const struct doca_umem *umem, uint32_t *umem_size)
{
	if (!umem || !umem_size)
		return dpumap_fail_null(__func__);
	if (umem->size > UINT32_MAX)
		return dpumap_fail(DOCA_ERROR_TOO_BIG, "%s: %zu bytes do not fit into 32 bits",
				   __func__, umem->size);
	*umem_size = (uint32_t)umem->size;
	return DOCA_SUCCESS;
}

doca_error_t doca_umem_get_address(const struct doca_umem *umem, void **umem_address)
{
	if (!umem || !umem_address)
		return dpumap_fail_null(__func__);
	*umem_address = umem->address;
	return DOCA_SUCCESS;
}
