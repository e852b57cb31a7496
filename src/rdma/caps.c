/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <doca_rdma.h>

#include "core/buf/list.h"
#include "core/dev/caps.h"
#include "device/gid.h"

/* --- tasks ------------------------------------------------------------------------------------ */

static doca_error_t check_port(const struct doca_devinfo *devinfo, struct dpumap_caps *caps)
{
	doca_error_t result = dpumap_hca_get_caps(devinfo->hca, caps);

	if (result == DOCA_SUCCESS && !caps->max_message_len)
		result = dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s does not have a port",
					  dpumap_hca_name(devinfo->hca));
	return result;
}

static doca_error_t check_task(const struct doca_devinfo *devinfo, const char *function)
{
	struct dpumap_caps caps;

	return devinfo ? check_port(devinfo, &caps) : dpumap_fail_null(function);
}

static doca_error_t check_receive(const struct doca_devinfo *devinfo, const char *function)
{
	struct dpumap_caps caps;
	doca_error_t result;

	if (!devinfo)
		return dpumap_fail_null(function);
	result = check_port(devinfo, &caps);
	if (result == DOCA_SUCCESS && !caps.max_recv_depth)
		result = dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED,
					  "%s does not have shared receive queues",
					  dpumap_hca_name(devinfo->hca));
	return result;
}

static doca_error_t check_atomic(const struct doca_devinfo *devinfo, const char *function)
{
	struct dpumap_caps caps;
	doca_error_t result;

	if (!devinfo)
		return dpumap_fail_null(function);
	result = check_port(devinfo, &caps);
	if (result == DOCA_SUCCESS && !caps.has_atomics)
		result = dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED,
					  "%s does not have atomic operations",
					  dpumap_hca_name(devinfo->hca));
	return result;
}

doca_error_t doca_rdma_cap_task_receive_is_supported(const struct doca_devinfo *devinfo)
{
	return check_receive(devinfo, __func__);
}

doca_error_t doca_rdma_cap_task_send_is_supported(const struct doca_devinfo *devinfo)
{
	return check_task(devinfo, __func__);
}

doca_error_t doca_rdma_cap_task_send_imm_is_supported(const struct doca_devinfo *devinfo)
{
	return check_task(devinfo, __func__);
}

doca_error_t doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *devinfo)
{
	return check_task(devinfo, __func__);
}

doca_error_t doca_rdma_cap_task_write_is_supported(const struct doca_devinfo *devinfo)
{
	return check_task(devinfo, __func__);
}

doca_error_t doca_rdma_cap_task_write_imm_is_supported(const struct doca_devinfo *devinfo)
{
	return check_task(devinfo, __func__);
}

doca_error_t doca_rdma_cap_task_atomic_cmp_swp_is_supported(const struct doca_devinfo *devinfo)
{
	return check_atomic(devinfo, __func__);
}

doca_error_t doca_rdma_cap_task_atomic_fetch_add_is_supported(const struct doca_devinfo *devinfo)
{
	return check_atomic(devinfo, __func__);
}

doca_error_t
doca_rdma_cap_task_remote_net_sync_event_get_is_supported(const struct doca_devinfo *devinfo)
{
	return check_task(devinfo, __func__);
}

doca_error_t
doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(const struct doca_devinfo *devinfo)
{
	return check_task(devinfo, __func__);
}

doca_error_t
doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(const struct doca_devinfo *devinfo)
{
	return check_atomic(devinfo, __func__);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

doca_error_t doca_rdma_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
						   uint32_t *max_recv_queue_size)
{
	struct dpumap_caps caps;
	doca_error_t result =
		dpumap_devinfo_get_caps(__func__, devinfo, max_recv_queue_size, &caps);

	if (result == DOCA_SUCCESS)
		*max_recv_queue_size = smaller(caps.max_recv_depth, caps.max_queue_depth);
	return result;
}

doca_error_t doca_rdma_cap_get_max_send_queue_size(const struct doca_devinfo *devinfo,
						   uint32_t *max_send_queue_size)
{
	struct dpumap_caps caps;
	doca_error_t result =
		dpumap_devinfo_get_caps(__func__, devinfo, max_send_queue_size, &caps);

	if (result == DOCA_SUCCESS)
		*max_send_queue_size = caps.max_queue_depth;
	return result;
}

doca_error_t doca_rdma_cap_get_max_send_buf_list_len(const struct doca_devinfo *devinfo,
						     uint32_t *max_send_buf_list_len)
{
	struct dpumap_caps caps;
	doca_error_t result =
		dpumap_devinfo_get_caps(__func__, devinfo, max_send_buf_list_len, &caps);

	if (result == DOCA_SUCCESS)
		*max_send_buf_list_len = smaller(caps.max_send_pieces, DPUMAP_MAX_LIST_LEN);
	return result;
}

doca_error_t doca_rdma_cap_get_max_message_size(const struct doca_devinfo *devinfo,
						uint32_t *max_message_size)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, max_message_size, &caps);

	if (result == DOCA_SUCCESS)
		*max_message_size = caps.max_message_len;
	return result;
}

static doca_error_t check_transport(enum doca_rdma_transport_type transport_type)
{
	if (transport_type == DOCA_RDMA_TRANSPORT_TYPE_RC)
		return DOCA_SUCCESS;
	if (transport_type == DOCA_RDMA_TRANSPORT_TYPE_DC)
		return dpumap_fail_info(
			DOCA_ERROR_NOT_SUPPORTED,
			"no initiators and targets of DC: only reliable connections "
			"(RC) are supported");
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "invalid transport type %d",
			   (int)transport_type);
}

doca_error_t doca_rdma_cap_transport_type_is_supported(const struct doca_devinfo *devinfo,
						       enum doca_rdma_transport_type transport_type)
{
	doca_error_t result;

	if (!devinfo)
		return dpumap_fail_null(__func__);
	result = check_transport(transport_type);
	return result == DOCA_SUCCESS ? check_task(devinfo, __func__) : result;
}

doca_error_t
doca_rdma_cap_task_receive_get_max_dst_buf_list_len(const struct doca_devinfo *devinfo,
						    enum doca_rdma_transport_type transport_type,
						    uint32_t *max_buf_list_len)
{
	struct dpumap_caps caps;
	doca_error_t result;

	if (!devinfo || !max_buf_list_len)
		return dpumap_fail_null(__func__);
	result = check_transport(transport_type);
	if (result == DOCA_SUCCESS)
		result = dpumap_hca_get_caps(devinfo->hca, &caps);
	if (result == DOCA_SUCCESS)
		*max_buf_list_len = smaller(caps.max_recv_pieces, DPUMAP_MAX_LIST_LEN);
	return result;
}

/* --- addresses -------------------------------------------------------------------------------- */

doca_error_t doca_rdma_cap_get_gid_table_size(const struct doca_devinfo *devinfo,
					      uint32_t *gid_table_size)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, gid_table_size, &caps);

	if (result == DOCA_SUCCESS)
		*gid_table_size = caps.num_gids;
	return result;
}

_Static_assert(sizeof(struct doca_rdma_gid) == DPUMAP_GID_SIZE, "an array of addresses");

doca_error_t doca_rdma_cap_get_gid(const struct doca_devinfo *devinfo, uint32_t start_index,
				   uint32_t num_entries, struct doca_rdma_gid *gid_array)
{
	uint8_t(*gids)[DPUMAP_GID_SIZE];
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, gid_array, &caps);

	if (result != DOCA_SUCCESS)
		return result;
	if (!num_entries || start_index >= caps.num_gids ||
	    num_entries > caps.num_gids - start_index)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s does not have %" PRIu32 " GIDs from index %" PRIu32
				   " on: its table has %" PRIu32 " entries",
				   dpumap_hca_name(devinfo->hca), num_entries, start_index,
				   caps.num_gids);
	gids = calloc(num_entries, sizeof(*gids));
	if (!gids)
		return dpumap_fail(DOCA_ERROR_DRIVER, "no memory for %" PRIu32 " GIDs",
				   num_entries);
	result = dpumap_hca_get_gids(devinfo->hca, start_index, num_entries, gids);
	if (result == DOCA_SUCCESS)
		memcpy(gid_array, gids, num_entries * sizeof(*gids));
	free(gids);
	return result;
}
