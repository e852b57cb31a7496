/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/device_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/domain.h"
#include "device/errno.h"
#include "device/hca_priv.h"
#include "log/log.h"

doca_error_t dpumap_device_find_pdn(const struct dpumap_device *device, struct ibv_pd *pd,
				    uint32_t *pdn)
{
	struct mlx5dv_pd out = {0};
	struct mlx5dv_obj obj = {.pd.in = pd, .pd.out = &out};
	int err = mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: reading the number of a protection domain failed: %s",
				   dpumap_hca_name(device->hca), strerror(err));
	*pdn = out.pdn;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_device_init_pd(struct dpumap_device *device)
{
	doca_error_t result = DOCA_SUCCESS;

	if (device->caps.is_mlx5)
		result = dpumap_device_find_pdn(device, device->pd, &device->pdn);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_domain_create_default(device, &device->domain);
	return result == DOCA_SUCCESS || result == DOCA_ERROR_NO_MEMORY ? result
									: DOCA_ERROR_DRIVER;
}

static doca_error_t alloc_pd(struct dpumap_device *device)
{
	doca_error_t result;

	device->pd = ibv_alloc_pd(device->context);
	if (!device->pd)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "%s: allocating a protection domain failed: %s",
				   dpumap_hca_name(device->hca), strerror(errno));
	result = dpumap_device_init_pd(device);
	if (result != DOCA_SUCCESS)
		ibv_dealloc_pd(device->pd);
	return result;
}

doca_error_t dpumap_device_create(struct dpumap_hca *hca, struct ibv_context *context, bool devx,
				  struct dpumap_device **device)
{
	struct dpumap_device *opened = calloc(1, sizeof(*opened));
	doca_error_t result;

	if (!opened)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: no memory to open the device",
				   dpumap_hca_name(hca));
	opened->hca = hca;
	opened->context = context;
	result = dpumap_caps_query(context, devx, &opened->caps, &opened->attr);
	if (result != DOCA_SUCCESS)
		result = DOCA_ERROR_NOT_CONNECTED;
	else
		result = alloc_pd(opened);
	if (result != DOCA_SUCCESS) {
		free(opened);
		return result;
	}
	dpumap_hca_get(hca);
	dpumap_hca_set_caps(hca, &opened->caps);
	*device = opened;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_device_open(struct dpumap_hca *hca, struct dpumap_device **device)
{
	struct ibv_context *context;
	doca_error_t result;
	bool devx;

	context = dpumap_hca_open_context(hca, &devx);
	if (!context)
		return DOCA_ERROR_NOT_CONNECTED;
	result = dpumap_device_create(hca, context, devx, device);
	if (result != DOCA_SUCCESS)
		ibv_close_device(context);
	return result;
}

static void close_own(const struct dpumap_device *device)
{
	int err = dpumap_errno_of_end(device->context, ibv_dealloc_pd(device->pd));

	if (err)
		dpumap_log(DPUMAP_LOG_WARNING, "%s: deallocating the protection domain failed: %s",
			   dpumap_hca_name(device->hca), strerror(err));
	if (ibv_close_device(device->context))
		dpumap_log(DPUMAP_LOG_WARNING, "%s: closing the device failed: %s",
			   dpumap_hca_name(device->hca), strerror(errno));
}

void dpumap_device_close(struct dpumap_device *device)
{
	dpumap_domain_destroy(device->domain);
	if (!device->user_pd)
		close_own(device);
	dpumap_hca_put(device->hca);
	free(device);
}

const struct dpumap_caps *dpumap_device_caps(const struct dpumap_device *device)
{
	return &device->caps;
}
