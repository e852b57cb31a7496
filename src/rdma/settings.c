/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/settings.h"

#include <inttypes.h>

#include "log/log.h"

#define PEER_FLAGS                                                                   \
	((uint32_t)(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | \
		    DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC))

void dpumap_rdma_settings_init(struct rdma_settings *settings)
{
	*settings = (struct rdma_settings){
		.access = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
		.gid_index = DPUMAP_GID_ANY,
		.max_connections = 1,
	};
}

doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions)
{
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&rdma->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (permissions & ~PEER_FLAGS)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"RDMA context %p: permissions 0x%x: 0x%x cannot be granted to peers",
			(void *)rdma, permissions, permissions & ~PEER_FLAGS);
	rdma->settings.access = permissions;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions)
{
	if (!rdma || !permissions)
		return dpumap_fail_null(__func__);
	*permissions = rdma->settings.access;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index)
{
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&rdma->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	/* ibv_ah_attr has 8 bits for it. */
	if (gid_index > UINT8_MAX)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA context %p: invalid GID index %" PRIu32 ", at most 255",
				   (void *)rdma, gid_index);
	if (dpumap_gid_check(rdma->ctx.dev->device, (int)gid_index) != DOCA_SUCCESS)
		return DOCA_ERROR_INVALID_VALUE;
	rdma->settings.gid_index = (int)gid_index;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index)
{
	if (!rdma || !gid_index)
		return dpumap_fail_null(__func__);
	*gid_index =
		rdma->settings.gid_index == DPUMAP_GID_ANY ? 0 : (uint32_t)rdma->settings.gid_index;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma,
					  enum doca_rdma_transport_type transport_type)
{
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&rdma->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (transport_type == DOCA_RDMA_TRANSPORT_TYPE_RC)
		return DOCA_SUCCESS;
	if (transport_type == DOCA_RDMA_TRANSPORT_TYPE_DC)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "RDMA context %p: only reliable connections (RC) are supported",
				   (void *)rdma);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "RDMA context %p: invalid transport type %d",
			   (void *)rdma, (int)transport_type);
}

doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma,
					  enum doca_rdma_transport_type *transport_type)
{
	if (!rdma || !transport_type)
		return dpumap_fail_null(__func__);
	*transport_type = DOCA_RDMA_TRANSPORT_TYPE_RC;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma, uint16_t max_num_connections)
{
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&rdma->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (!max_num_connections)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"RDMA context %p: the maximum number of connections must be at least 1",
			(void *)rdma);
	rdma->settings.max_connections = max_num_connections;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_max_num_connections(struct doca_rdma *rdma,
					       uint16_t *max_num_connections)
{
	if (!rdma || !max_num_connections)
		return dpumap_fail_null(__func__);
	*max_num_connections = rdma->settings.max_connections;
	return DOCA_SUCCESS;
}
