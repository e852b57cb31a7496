/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/message_qp.h"

#include <errno.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/domain_priv.h"
#include "device/errno.h"
#include "device/port.h"
#include "device/queue/qp.h"
#include "log/log.h"

/* Received bytes must not be in the completion, where libmlx5 would copy them from. */
static struct ibv_qp *create_qp(struct dpumap_device *device, struct ibv_qp_init_attr_ex *attr)
{
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
	};

	attr->qp_type = IBV_QPT_RC;
	attr->comp_mask |= IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr->pd = dpumap_domain_pd(device->domain);
	attr->send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM;
	return mlx5dv_create_qp(device->context, attr, &dv);
}

doca_error_t dpumap_mq_qp_create(struct dpumap_device *device, struct ibv_qp_init_attr_ex *attr,
				 struct dpumap_mq_qp *qp)
{
	doca_error_t result;
	int err;

	qp->device = device;
	result = dpumap_port_query_active(device, &qp->port);
	if (result == DOCA_SUCCESS)
		result = dpumap_rc_end_init(&qp->end, device, &qp->port, DPUMAP_GID_ANY);
	if (result != DOCA_SUCCESS)
		return result;
	qp->qp = create_qp(device, attr);
	if (qp->qp)
		return DOCA_SUCCESS;
	err = errno;
	return dpumap_fail(
		dpumap_errno_to_one_of(err, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_NO_MEMORY),
		"%s: creating a queue pair for messages failed: %s", dpumap_hca_name(device->hca),
		strerror(err));
}

void dpumap_mq_qp_describe(const struct dpumap_mq_qp *qp, struct dpumap_qp_info *info)
{
	dpumap_rc_end_describe(&qp->end, qp->qp->qp_num, info);
}

doca_error_t dpumap_mq_qp_connect(const struct dpumap_mq_qp *qp, const struct dpumap_qp_info *peer)
{
	return dpumap_rc_end_connect(&qp->end, qp->qp, IBV_ACCESS_LOCAL_WRITE, peer);
}

doca_error_t dpumap_mq_qp_destroy(struct dpumap_mq_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	int err;

	if (!qp->qp)
		return DOCA_SUCCESS;
	/* Refused for a queue pair that was never connected, which executes nothing. */
	(void)ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE);
	err = dpumap_errno_of_end(qp->device->context, ibv_destroy_qp(qp->qp));
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: destroying a queue pair for messages failed: %s",
				   dpumap_hca_name(qp->device->hca), strerror(err));
	qp->qp = NULL;
	return DOCA_SUCCESS;
}
