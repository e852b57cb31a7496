/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/device.h"

#include <stdlib.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/hca_priv.h"
#include "device/prm.h"
#include "log/log.h"

bool dpumap_device_is_limited(const struct dpumap_device *device)
{
	return device->is_limited;
}

struct ibv_pd *dpumap_device_pd(const struct dpumap_device *device)
{
	return device->pd;
}

bool dpumap_device_has_pd(const struct dpumap_device *device, const void *pd)
{
	return device->pd == pd;
}

/* Only a context that was opened with DEVX passes commands on. */
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

static doca_error_t init(struct dpumap_device *device)
{
	doca_error_t result = dpumap_caps_query(device->context, has_devx(device->context),
						&device->caps, &device->attr);

	return result == DOCA_SUCCESS ? dpumap_device_init_pd(device) : DOCA_ERROR_NOT_CONNECTED;
}

doca_error_t dpumap_device_open_pd(struct ibv_pd *pd, bool is_limited, struct dpumap_hca **hca,
				   struct dpumap_device **device)
{
	struct dpumap_device *created;
	struct dpumap_hca *found;
	doca_error_t result;

	result = dpumap_hca_find(pd->context->device, &found);
	if (result == DOCA_SUCCESS && !found)
		result = dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				     "protection domain of %s: the device is not supported",
				     ibv_get_device_name(pd->context->device));
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
	created->user_pd = true;
	created->is_limited = is_limited;
	result = init(created);
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
