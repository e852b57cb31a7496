/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/devx.h"

#include <errno.h>
#include <string.h>

#include "device/errno.h"
#include "device/prm.h"
#include "log/log.h"

/*
 * Newer kernels return EREMOTEIO and the firmware's status in the output, older ones translate the
 * status to an errno. A wrong or outdated object number is a bad parameter or resource.
 */
static bool is_refusal(int err, uint32_t status)
{
	return err == EINVAL || err == EPERM || status == PRM_STATUS_BAD_PARAM ||
	       status == PRM_STATUS_BAD_RES || status == PRM_STATUS_BAD_RES_STATE ||
	       status == PRM_STATUS_BAD_INDEX;
}

static doca_error_t classify(const struct dpumap_devx_cmd *cmd, int err, uint32_t status)
{
	if (is_refusal(err, status) || (cmd->probe && status))
		return cmd->refusal;
	return dpumap_errno_to_one_of(err, DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED);
}

static doca_error_t fail(const struct ibv_context *context, const struct dpumap_devx_cmd *cmd,
			 int err)
{
	uint32_t status = (uint32_t)prm_get(cmd->out, PRM_OUT_STATUS);
	uint32_t syndrome = (uint32_t)prm_get(cmd->out, PRM_OUT_SYNDROME);
	doca_error_t result = classify(cmd, err, status);

	dpumap_log_line(cmd->probe && result == cmd->refusal ? DPUMAP_LOG_INFO : DPUMAP_LOG_ERROR,
			result, "%s: %s%s failed: %s (status 0x%x, syndrome 0x%x)",
			ibv_get_device_name(context->device), cmd->what, cmd->hint ? cmd->hint : "",
			strerror(err), status, syndrome);
	return result;
}

void dpumap_devx_log(const struct ibv_context *context, const char *what, const void *out)
{
	dpumap_log(DPUMAP_LOG_DEBUG, "%s: %s succeeded (status 0x%x, syndrome 0x%x)",
		   ibv_get_device_name(context->device), what,
		   (uint32_t)prm_get(out, PRM_OUT_STATUS),
		   (uint32_t)prm_get(out, PRM_OUT_SYNDROME));
}

doca_error_t dpumap_devx_command(struct ibv_context *context, const struct dpumap_devx_cmd *cmd)
{
	int err = mlx5dv_devx_general_cmd(context, cmd->in, cmd->in_len, cmd->out, cmd->out_len);

	if (err)
		return fail(context, cmd, err > 0 ? err : errno);
	dpumap_devx_log(context, cmd->what, cmd->out);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_devx_create(struct ibv_context *context, const struct dpumap_devx_cmd *cmd,
				struct mlx5dv_devx_obj **obj)
{
	struct mlx5dv_devx_obj *created;

	created = mlx5dv_devx_obj_create(context, cmd->in, cmd->in_len, cmd->out, cmd->out_len);
	if (!created)
		return fail(context, cmd, errno);
	dpumap_devx_log(context, cmd->what, cmd->out);
	*obj = created;
	return DOCA_SUCCESS;
}
