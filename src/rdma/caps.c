/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <doca_rdma.h>

#include "core/buf/walk.h"
#include "core/dev/caps.h"

static doca_error_t check_supported(const struct doca_devinfo *devinfo)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_hca_get_caps(devinfo->hca, &caps);

	if (result == DOCA_SUCCESS && !caps.max_message_len)
		result = dpumap_fail_quiet(DOCA_ERROR_NOT_SUPPORTED, "%s does not have a port",
					   dpumap_hca_name(devinfo->hca));
	return result;
}

doca_error_t doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *devinfo)
{
	return devinfo ? check_supported(devinfo) : dpumap_fail_null(__func__);
}

doca_error_t doca_rdma_cap_task_write_is_supported(const struct doca_devinfo *devinfo)
{
	return devinfo ? check_supported(devinfo) : dpumap_fail_null(__func__);
}

doca_error_t doca_rdma_cap_get_max_send_buf_list_len(const struct doca_devinfo *devinfo,
						     uint32_t *max_send_buf_list_len)
{
	if (!devinfo || !max_send_buf_list_len)
		return dpumap_fail_null(__func__);
	*max_send_buf_list_len = DPUMAP_MAX_LIST_LEN;
	return DOCA_SUCCESS;
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
