/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/devmem_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/errno.h"
#include "log/log.h"

static doca_error_t find_base(struct ibv_dm *dm, void **base)
{
	struct mlx5dv_dm dv = {0};
	struct mlx5dv_obj obj = {.dm.in = dm, .dm.out = &dv};
	int err = mlx5dv_init_obj(&obj, MLX5DV_OBJ_DM);

	if (err || !dv.buf)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: device memory is not mapped: %s",
				   ibv_get_device_name(dm->context->device), strerror(err));
	*base = dv.buf;
	return DOCA_SUCCESS;
}

static doca_error_t fail_alloc(const struct dpumap_device *device, size_t len, uint32_t log_align)
{
	int err = errno;

	return dpumap_fail(dpumap_errno_to_error(err),
			   "%s: %zu bytes of device memory aligned to 2^%u: %s",
			   dpumap_hca_name(device->hca), len, log_align, strerror(err));
}

doca_error_t dpumap_devmem_alloc(struct dpumap_device *device, size_t len, uint32_t log_align,
				 struct dpumap_devmem **mem)
{
	struct ibv_alloc_dm_attr attr = {.length = len, .log_align_req = log_align};
	struct dpumap_devmem *allocated = calloc(1, sizeof(*allocated));
	doca_error_t result;

	if (!allocated)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a device memory object");
	allocated->device = device;
	allocated->dm = ibv_alloc_dm(device->context, &attr);
	if (!allocated->dm) {
		result = fail_alloc(device, len, log_align);
		goto free_object;
	}
	result = find_base(allocated->dm, &allocated->base);
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
	int err = ibv_free_dm(mem->dm);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: freeing device memory failed: %s",
				   dpumap_hca_name(mem->device->hca), strerror(err));
	free(mem);
	return DOCA_SUCCESS;
}

void *dpumap_devmem_base(const struct dpumap_devmem *mem)
{
	return mem->base;
}

static doca_error_t check_access(const struct dpumap_devmem *mem, int err)
{
	if (err)
		return dpumap_fail(dpumap_errno_to_error(err),
				   "%s: access to device memory failed: %s",
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
