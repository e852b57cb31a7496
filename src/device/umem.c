/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/errno.h"
#include "device/umem_priv.h"
#include "log/log.h"

unsigned int dpumap_umem_access(const struct dpumap_pages *pages)
{
	return pages->source.writable ? IBV_ACCESS_LOCAL_WRITE : 0;
}

doca_error_t dpumap_umem_fail_reg(const struct dpumap_pages *pages, int err)
{
	doca_error_t result = dpumap_errno_to_error(err);

	if (err == EFAULT)
		result = DOCA_ERROR_INVALID_VALUE;
	else if (result != DOCA_ERROR_NO_MEMORY && result != DOCA_ERROR_NOT_SUPPORTED)
		result = DOCA_ERROR_DRIVER;
	return dpumap_fail(result, "%s: registering %ju bytes at 0x%jx as a umem failed: %s",
			   dpumap_hca_name(pages->device->hca), (uintmax_t)pages->source.len,
			   (uintmax_t)pages->source.start, strerror(err));
}

static doca_error_t check_driver(const struct dpumap_device *device)
{
	if (device->caps.is_mlx5)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s has no umems: it is no mlx5 device",
			   dpumap_hca_name(device->hca));
}

/* Whole pages, so that every mkey over them begins where a page does. */
static doca_error_t create(struct dpumap_device *device, const struct dpumap_umem_source *source,
			   struct dpumap_pages **pages)
{
	uint64_t end = (source->start + source->len + DPUMAP_UMEM_PAGE - 1) & -DPUMAP_UMEM_PAGE;
	struct dpumap_pages *created;

	if (source->start > UINT64_MAX - source->len ||
	    source->start + source->len > -DPUMAP_UMEM_PAGE)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%ju bytes at 0x%jx are no range",
				   (uintmax_t)source->len, (uintmax_t)source->start);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a umem");
	created->device = device;
	created->source = *source;
	created->source.dmabuf = -1;
	created->base = source->start & -DPUMAP_UMEM_PAGE;
	created->size = end - created->base;
	*pages = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_pages_register(struct dpumap_device *device,
				   const struct dpumap_umem_source *source,
				   struct dpumap_pages **pages)
{
	const struct dpumap_umem_way *way = dpumap_umem_by_libmlx5();
	struct dpumap_pages *created;
	doca_error_t result;

	result = check_driver(device);
	if (result == DOCA_SUCCESS)
		result = create(device, source, &created);
	if (result != DOCA_SUCCESS)
		return result;
	created->way = way ? way : &dpumap_umem_by_ioctl;
	result = created->way->reg(created, source->dmabuf);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	*pages = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_pages_export(struct dpumap_pages *pages, struct dpumap_umem_ticket *ticket)
{
	struct dpumap_umem_ticket made = {
		.form = pages->way->form,
		.umem_id = pages->umem_id,
		.pd_handle = pages->device->pd->handle,
		.pdn = pages->device->pdn,
	};
	doca_error_t result;

	result = dpumap_umem_hold(pages);
	if (result == DOCA_SUCCESS)
		result = pages->way->export(pages, &made);
	if (result == DOCA_SUCCESS)
		*ticket = made;
	return result;
}

static doca_error_t find_pdn(struct ibv_pd *pd, uint32_t *pdn)
{
	struct mlx5dv_pd out = {0};
	struct mlx5dv_obj obj = {.pd.in = pd, .pd.out = &out};
	int err = mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "protection domain has no number: %s",
				   strerror(err));
	*pdn = out.pdn;
	return DOCA_SUCCESS;
}

static doca_error_t refuse_context(const struct dpumap_device *device)
{
	return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
			   "%s: the umem is of another device context than this one",
			   dpumap_hca_name(device->hca));
}

/*
 * Handles mean something in one kernel context only. The number that the device gave the exporter's
 * protection domain is unique on it: who finds that number under that handle is in that context.
 */
static doca_error_t check_context(const struct dpumap_device *device,
				  const struct dpumap_umem_ticket *ticket)
{
	struct ibv_pd *pd = ibv_import_pd(device->context, ticket->pd_handle);
	doca_error_t result;
	uint32_t pdn = 0;
	int err = errno;

	if (!pd && (err == ENOENT || err == EINVAL))
		return refuse_context(device);
	if (!pd)
		return dpumap_fail(err == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER,
				   "%s: looking for the umem's context failed: %s",
				   dpumap_hca_name(device->hca), strerror(err));
	result = find_pdn(pd, &pdn);
	ibv_unimport_pd(pd);
	if (result == DOCA_SUCCESS && pdn != ticket->pdn)
		result = refuse_context(device);
	return result;
}

static doca_error_t choose_way(const struct dpumap_device *device,
			       const struct dpumap_umem_ticket *ticket,
			       const struct dpumap_umem_way **way)
{
	const struct dpumap_umem_way *chosen = &dpumap_umem_by_ioctl;

	if (ticket->form != chosen->form)
		chosen = dpumap_umem_by_libmlx5();
	if (!chosen)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: the umem was exported by libmlx5 of rdma-core 63 or later, "
				   "the one here is older",
				   dpumap_hca_name(device->hca));
	*way = chosen;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_pages_import(struct dpumap_device *device,
				 const struct dpumap_umem_source *source,
				 const struct dpumap_umem_ticket *ticket,
				 struct dpumap_pages **pages)
{
	const struct dpumap_umem_way *way = NULL;
	struct dpumap_pages *created;
	doca_error_t result;

	result = check_driver(device);
	if (result == DOCA_SUCCESS)
		result = choose_way(device, ticket, &way);
	if (result == DOCA_SUCCESS)
		result = check_context(device, ticket);
	if (result == DOCA_SUCCESS)
		result = create(device, source, &created);
	if (result != DOCA_SUCCESS)
		return result;
	created->way = way;
	result = way->import(created, ticket);
	if (result != DOCA_SUCCESS)
		goto free_pages;
	result = dpumap_umem_hold(created);
	if (result != DOCA_SUCCESS)
		goto forget;
	*pages = created;
	return DOCA_SUCCESS;

forget:
	way->forget(created);
free_pages:
	free(created);
	return result;
}

static doca_error_t fail_dereg(const struct dpumap_pages *pages, int err)
{
	const char *name = dpumap_hca_name(pages->device->hca);

	/* What the firmware says of an object in use is EINVAL to some kernels. */
	if (err == EBUSY || err == EINVAL)
		return dpumap_fail(DOCA_ERROR_IN_USE, "%s: umem %u is held by another process",
				   name, pages->umem_id);
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: deregistering umem %u failed: %s", name,
			   pages->umem_id, strerror(err));
}

/* If not now, then with the next export. */
static void hold_again(struct dpumap_pages *pages)
{
	dpumap_umem_hold(pages);
}

doca_error_t dpumap_pages_deregister(struct dpumap_pages *pages)
{
	bool held = pages->hold.obj;
	doca_error_t result;
	int err;

	result = dpumap_umem_release(pages);
	if (result != DOCA_SUCCESS)
		return result;
	err = pages->way->dereg(pages);
	if (!err) {
		free(pages);
		return DOCA_SUCCESS;
	}
	result = fail_dereg(pages, err);
	if (held)
		hold_again(pages);
	return result;
}

doca_error_t dpumap_pages_leave(struct dpumap_pages *pages)
{
	doca_error_t result = dpumap_umem_release(pages);

	if (result != DOCA_SUCCESS)
		return result;
	pages->way->forget(pages);
	free(pages);
	return DOCA_SUCCESS;
}
