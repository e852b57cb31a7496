/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/hca.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/devx.h"
#include "device/hca_priv.h"
#include "device/prm.h"
#include "log/log.h"

struct answer {
	uint8_t bytes[PRM_QUERY_ESW_FUNCTIONS_OUT_LEN];
};

/* The firmware or the kernel refuses if the device is not an e-switch manager. */
static bool is_refusal(int err, const struct answer *answer)
{
	if (err == EREMOTEIO)
		return prm_get(answer->bytes, PRM_OUT_STATUS) != PRM_STATUS_INTERNAL_ERR;
	return err == EINVAL || err == EPERM || err == EOPNOTSUPP;
}

static doca_error_t query(struct ibv_context *context, struct answer *answer)
{
	uint8_t in[PRM_QUERY_ESW_FUNCTIONS_IN_LEN] = {0};
	int err;

	memset(answer, 0, sizeof(*answer));
	prm_set(in, PRM_IN_OPCODE, PRM_OP_QUERY_ESW_FUNCTIONS);
	err = mlx5dv_devx_general_cmd(context, in, sizeof(in), answer->bytes,
				      sizeof(answer->bytes));
	if (!err) {
		dpumap_devx_log(context, "querying the host's function", answer->bytes);
		return DOCA_SUCCESS;
	}
	if (err < 0)
		err = errno;
	if (!is_refusal(err, answer))
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying the host's function failed: %s",
				   ibv_get_device_name(context->device), strerror(err));
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED,
				"%s has no representors, it is not an e-switch manager: %s",
				ibv_get_device_name(context->device), strerror(err));
}

static doca_error_t parse(const struct dpumap_hca *hca, const struct answer *answer,
			  struct dpumap_host_pf *pf)
{
	const uint8_t *host = answer->bytes + PRM_HOST_PARAMS;
	unsigned int bus = (unsigned int)prm_get(host, PRM_HOST_PCI_BUS);
	unsigned int device = (unsigned int)prm_get(host, PRM_HOST_PCI_DEVICE);
	unsigned int function = (unsigned int)prm_get(host, PRM_HOST_PCI_FUNCTION);

	/* Address 0 is that of a root bridge, never of a card. */
	if (prm_get(host, PRM_HOST_PF_DISABLED) || !(bus | device | function))
		return dpumap_fail_info(
			DOCA_ERROR_NOT_SUPPORTED,
			"%s has no representors: its function on the host is disabled",
			dpumap_hca_name(hca));
	snprintf(pf->pci_addr, sizeof(pf->pci_addr), "0000:%02x:%02x.%x", bus & 0xff, device & 0x1f,
		 function & 0x7);
	pf->has_vhca_id = prm_get(host, PRM_HOST_PF_VHCA_ID_VALID);
	pf->vhca_id = (uint16_t)prm_get(host, PRM_HOST_PF_VHCA_ID);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_hca_query_host_pf(const struct dpumap_hca *hca, struct dpumap_host_pf *pf)
{
	struct ibv_context *context;
	struct answer answer;
	doca_error_t result;
	bool devx;

	context = dpumap_hca_open_context(hca, &devx);
	if (!context)
		return DOCA_ERROR_DRIVER;
	if (devx)
		result = query(context, &answer);
	else
		result = dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s: DEVX is not available",
					  dpumap_hca_name(hca));
	ibv_close_device(context);
	return result == DOCA_SUCCESS ? parse(hca, &answer, pf) : result;
}
