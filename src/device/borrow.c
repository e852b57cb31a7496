/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/borrow.h"

#include <stdlib.h>

#include <infiniband/mlx5dv.h>

#include "device/device.h"
#include "device/prm.h"
#include "log/log.h"

bool dpumap_device_is_borrowed(const struct dpumap_device *device)
{
	return device->borrowed;
}

struct ibv_pd *dpumap_device_pd(const struct dpumap_device *device)
{
	return device->pd;
}

bool dpumap_device_has_pd(const struct dpumap_device *device, const void *pd)
{
	return device->pd == pd;
}

/* How a context was opened shows in what it passes on. */
static bool has_devx(struct ibv_context *context)
{
	uint8_t out[PRM_QUERY_HCA_CAP_OUT_LEN] = {0};
	uint8_t in[PRM_QUERY_HCA_CAP_IN_LEN] = {0};

	if (!dpumap_ibdev_is_mlx5(context->device))
		return false;
	prm_set(in, PRM_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	prm_set(in, PRM_IN_OP_MOD, PRM_CAP_GENERAL_CURRENT);
	return !mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out));
}

static doca_error_t find_hca(const struct ibv_device *ibdev, struct dpumap_hca **hca)
{
	struct dpumap_hca **list;
	struct dpumap_hca *found = NULL;
	doca_error_t result;
	uint32_t n;

	result = dpumap_hca_list(&list, &n);
	if (result != DOCA_SUCCESS)
		return result;
	for (uint32_t i = 0; i < n; i++) {
		if (!found && dpumap_hca_has(list[i], ibdev))
			found = list[i];
		else
			dpumap_hca_put(list[i]);
	}
	free(list);
	if (!found)
		return dpumap_fail(
			DOCA_ERROR_NOT_SUPPORTED,
			"protection domain of %s: not a device that the library can drive",
			ibv_get_device_name((struct ibv_device *)ibdev));
	*hca = found;
	return DOCA_SUCCESS;
}

static doca_error_t set_up(struct dpumap_device *device)
{
	doca_error_t result = dpumap_caps_query(device->context, has_devx(device->context),
						&device->caps, &device->attr);

	return result == DOCA_SUCCESS ? dpumap_device_adopt_pd(device) : DOCA_ERROR_NOT_CONNECTED;
}

doca_error_t dpumap_device_borrow(struct ibv_pd *pd, struct dpumap_hca **hca,
				  struct dpumap_device **device)
{
	struct dpumap_device *created;
	struct dpumap_hca *found;
	doca_error_t result;

	result = find_hca(pd->context->device, &found);
	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created) {
		result = dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: no memory for a device",
				     dpumap_hca_name(found));
		goto put_hca;
	}
	created->hca = found;
	created->context = pd->context;
	created->pd = pd;
	created->borrowed = true;
	result = set_up(created);
	if (result != DOCA_SUCCESS)
		goto free_device;
	*hca = found;
	*device = created;
	dpumap_hca_get(found);
	return DOCA_SUCCESS;

free_device:
	free(created);
put_hca:
	dpumap_hca_put(found);
	return result;
}
