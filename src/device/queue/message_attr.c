/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/message_attr.h"

#include "device/device_priv.h"
#include "log/log.h"

#define SEND_BLOCKS 2u /* of a send queue, which a message takes at most */
#define HEADER_UNIT 8u

static bool is_supported(const struct dpumap_device *device)
{
	return device->caps.is_mlx5 && dpumap_mq_max_depth(device) && dpumap_mq_max_len(device);
}

doca_error_t dpumap_mq_check(const struct dpumap_device *device)
{
	if (is_supported(device))
		return DOCA_SUCCESS;
	return dpumap_fail(
		DOCA_ERROR_NOT_SUPPORTED,
		"%s does not support message queues: it needs an mlx5 device with RDMA and "
		"shared receive queues",
		dpumap_hca_name(device->hca));
}

uint32_t dpumap_mq_max_depth(const struct dpumap_device *device)
{
	uint32_t send = device->caps.max_queue_depth / SEND_BLOCKS;
	uint32_t recv = device->attr.max_srq > 0 && device->attr.max_srq_sge >= 2
				? (uint32_t)device->attr.max_srq_wr
				: 0;

	if (!device->caps.is_mlx5)
		return 0;
	return send < recv ? send : recv;
}

uint32_t dpumap_mq_max_len(const struct dpumap_device *device)
{
	uint32_t len = device->caps.max_message_len;

	return device->caps.is_mlx5 && len > DPUMAP_MQ_MAX_HEADER ? len - DPUMAP_MQ_MAX_HEADER : 0;
}

doca_error_t dpumap_mq_attr_check(const struct dpumap_device *device,
				  const struct dpumap_mq_attr *attr)
{
	doca_error_t result = dpumap_mq_check(device);

	if (result != DOCA_SUCCESS)
		return result;
	if (!attr->depth || attr->depth > dpumap_mq_max_depth(device))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: invalid depth %u of a message queue, must be 1 to %u",
				   dpumap_hca_name(device->hca), attr->depth,
				   dpumap_mq_max_depth(device));
	if (attr->header_len > DPUMAP_MQ_MAX_HEADER || attr->header_len % HEADER_UNIT)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: invalid header length %u of a message queue, must be a "
				   "multiple of %u up to %u",
				   dpumap_hca_name(device->hca), attr->header_len, HEADER_UNIT,
				   DPUMAP_MQ_MAX_HEADER);
	return DOCA_SUCCESS;
}
