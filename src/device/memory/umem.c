/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/errno.h"
#include "device/memory/umem_mkey.h"
#include "device/memory/umem_priv.h"
#include "log/log.h"

unsigned int dpumap_umem_access(const struct dpumap_devx_umem *umem)
{
	return umem->source.writable ? IBV_ACCESS_LOCAL_WRITE : 0;
}

doca_error_t dpumap_umem_fail_reg(const struct dpumap_devx_umem *umem, int err)
{
	doca_error_t result =
		dpumap_errno_to_one_of(err, DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED);

	if (err == EFAULT)
		result = DOCA_ERROR_INVALID_VALUE;
	return dpumap_fail(result, "%s: registering %ju bytes at 0x%jx as a umem failed: %s",
			   dpumap_hca_name(umem->device->hca), (uintmax_t)umem->source.len,
			   (uintmax_t)umem->source.start, strerror(err));
}

static doca_error_t check_driver(const struct dpumap_device *device)
{
	if (device->caps.is_mlx5)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "%s does not support umems: not an mlx5 device",
			   dpumap_hca_name(device->hca));
}

/* Registers whole pages, so that each mkey on the umem can begin at a page. */
static doca_error_t create(struct dpumap_device *device, const struct dpumap_umem_source *source,
			   struct dpumap_devx_umem **umem)
{
	uint64_t end = (source->start + source->len + DPUMAP_UMEM_PAGE - 1) & -DPUMAP_UMEM_PAGE;
	struct dpumap_devx_umem *created;

	if (source->start > UINT64_MAX - source->len ||
	    source->start + source->len > -DPUMAP_UMEM_PAGE)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "umem: %ju bytes at 0x%jx are not a valid range",
				   (uintmax_t)source->len, (uintmax_t)source->start);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a umem");
	created->device = device;
	created->source = *source;
	created->source.dmabuf = -1;
	created->base = source->start & -DPUMAP_UMEM_PAGE;
	created->size = end - created->base;
	*umem = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_devx_umem_register(struct dpumap_device *device,
				       const struct dpumap_umem_source *source,
				       struct dpumap_devx_umem **umem)
{
	const struct dpumap_umem_ops *ops = dpumap_umem_libmlx5_ops();
	struct dpumap_devx_umem *created;
	doca_error_t result;

	result = check_driver(device);
	if (result == DOCA_SUCCESS)
		result = create(device, source, &created);
	if (result != DOCA_SUCCESS)
		return result;
	created->ops = ops ? ops : &dpumap_umem_ioctl_ops;
	result = created->ops->reg(created, source->dmabuf);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	*umem = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_devx_umem_export(struct dpumap_devx_umem *umem,
				     struct dpumap_umem_handle *handle)
{
	struct dpumap_umem_handle exported = {
		.form = umem->ops->form,
		.umem_id = umem->umem_id,
		.pd_handle = umem->device->pd->handle,
		.pdn = umem->device->pdn,
	};
	doca_error_t result;

	result = dpumap_umem_create_reference(umem);
	if (result == DOCA_SUCCESS)
		result = umem->ops->export_umem(umem, &exported);
	if (result == DOCA_SUCCESS)
		*handle = exported;
	return result;
}

static doca_error_t refuse_context(const struct dpumap_device *device)
{
	return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
			   "%s: the umem belongs to another device context; import that context "
			   "(dpumap_dev_open_from_fd()) first",
			   dpumap_hca_name(device->hca));
}

/*
 * Handles are valid within one kernel context only. The number of the exporter's protection domain
 * is unique on the device: if the handle leads to that number here, this is the same context.
 */
static doca_error_t check_context(const struct dpumap_device *device,
				  const struct dpumap_umem_handle *handle)
{
	struct ibv_pd *pd = ibv_import_pd(device->context, handle->pd_handle);
	doca_error_t result;
	uint32_t pdn = 0;
	int err = errno;

	if (!pd && (err == ENOENT || err == EINVAL))
		return refuse_context(device);
	if (!pd)
		return dpumap_fail(dpumap_errno_to_one_of(err, DOCA_ERROR_NO_MEMORY),
				   "%s: comparing the umem's device context failed: %s",
				   dpumap_hca_name(device->hca), strerror(err));
	result = dpumap_device_find_pdn(device, pd, &pdn);
	ibv_unimport_pd(pd);
	if (result == DOCA_SUCCESS && pdn != handle->pdn)
		result = refuse_context(device);
	return result;
}

static doca_error_t choose_ops(const struct dpumap_device *device,
			       const struct dpumap_umem_handle *handle,
			       const struct dpumap_umem_ops **ops)
{
	const struct dpumap_umem_ops *chosen = &dpumap_umem_ioctl_ops;

	if (handle->form != chosen->form)
		chosen = dpumap_umem_libmlx5_ops();
	if (!chosen)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: the umem was exported by libmlx5 of rdma-core 63 or later; "
				   "update rdma-core",
				   dpumap_hca_name(device->hca));
	*ops = chosen;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_devx_umem_import(struct dpumap_device *device,
				     const struct dpumap_umem_source *source,
				     const struct dpumap_umem_handle *handle,
				     struct dpumap_devx_umem **umem)
{
	const struct dpumap_umem_ops *ops = NULL;
	struct dpumap_devx_umem *created;
	doca_error_t result;

	result = check_driver(device);
	if (result == DOCA_SUCCESS)
		result = choose_ops(device, handle, &ops);
	if (result == DOCA_SUCCESS)
		result = check_context(device, handle);
	if (result == DOCA_SUCCESS)
		result = create(device, source, &created);
	if (result != DOCA_SUCCESS)
		return result;
	created->ops = ops;
	result = ops->import_umem(created, handle);
	if (result != DOCA_SUCCESS)
		goto free_umem;
	result = dpumap_umem_create_reference(created);
	if (result != DOCA_SUCCESS)
		goto unimport;
	*umem = created;
	return DOCA_SUCCESS;

unimport:
	ops->unimport(created);
free_umem:
	free(created);
	return result;
}

static doca_error_t fail_dereg(const struct dpumap_devx_umem *umem, int err)
{
	const char *name = dpumap_hca_name(umem->device->hca);

	/* Some kernels report EINVAL for an object that is in use. */
	if (err == EBUSY || err == EINVAL)
		return dpumap_fail(DOCA_ERROR_IN_USE, "%s: umem %u is in use by another process",
				   name, umem->umem_id);
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: deregistering umem %u failed: %s", name,
			   umem->umem_id, strerror(err));
}

/* If this fails, the next export tries again. */
static void restore_reference(struct dpumap_devx_umem *umem)
{
	dpumap_umem_create_reference(umem);
}

doca_error_t dpumap_devx_umem_deregister(struct dpumap_devx_umem *umem)
{
	bool is_referenced = umem->reference.obj;
	doca_error_t result;
	int err;

	result = dpumap_umem_destroy_reference(umem);
	if (result != DOCA_SUCCESS)
		return result;
	err = dpumap_errno_of_end(umem->device->context, umem->ops->dereg(umem));
	if (!err) {
		free(umem);
		return DOCA_SUCCESS;
	}
	result = fail_dereg(umem, err);
	if (is_referenced)
		restore_reference(umem);
	return result;
}

doca_error_t dpumap_devx_umem_unimport(struct dpumap_devx_umem *umem)
{
	doca_error_t result = dpumap_umem_destroy_reference(umem);

	if (result != DOCA_SUCCESS)
		return result;
	umem->ops->unimport(umem);
	free(umem);
	return DOCA_SUCCESS;
}
