/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Capabilities of consumers and producers. Limits that no device restricts are constants. */
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "comch/fast/fast.h"
#include "core/dev/caps.h"

static doca_error_t get_constant(const char *function, const struct doca_devinfo *devinfo,
				 uint32_t *out, uint32_t value)
{
	if (!devinfo || !out)
		return dpumap_fail_null(function);
	*out = value;
	return DOCA_SUCCESS;
}

static doca_error_t check(const char *function, const struct doca_devinfo *devinfo, const void *out)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(function, devinfo, out, &caps);

	if (result != DOCA_SUCCESS || (caps.is_mlx5 && caps.max_message_len))
		return result;
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED,
				"%s does not support consumers and producers: it needs an mlx5 "
				"device with RDMA",
				dpumap_hca_name(devinfo->hca));
}

static doca_error_t get_checked(const char *function, const struct doca_devinfo *devinfo,
				uint32_t *out, uint32_t value)
{
	doca_error_t result = check(function, devinfo, out);

	if (result == DOCA_SUCCESS)
		*out = value;
	return result;
}

doca_error_t doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo)
{
	return check(__func__, devinfo, devinfo);
}

doca_error_t doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo)
{
	return check(__func__, devinfo, devinfo);
}

doca_error_t doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo,
						       uint32_t *max_consumers)
{
	return get_constant(__func__, devinfo, max_consumers, COMCH_MAX_CONSUMERS);
}

doca_error_t doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *devinfo,
						       uint32_t *max_producers)
{
	return get_constant(__func__, devinfo, max_producers, COMCH_MAX_PRODUCERS);
}

doca_error_t doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
						       uint32_t *max_num_tasks)
{
	return get_constant(__func__, devinfo, max_num_tasks, COMCH_MAX_TASKS);
}

doca_error_t doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
						       uint32_t *max_num_tasks)
{
	return get_constant(__func__, devinfo, max_num_tasks, COMCH_MAX_TASKS);
}

doca_error_t doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
						      uint32_t *max_buf_size)
{
	return get_checked(__func__, devinfo, max_buf_size, COMCH_MAX_BUF);
}

doca_error_t doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
						      uint32_t *max_buf_size)
{
	return get_checked(__func__, devinfo, max_buf_size, COMCH_MAX_BUF);
}

doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_buf_list_len)
{
	return get_checked(__func__, devinfo, max_buf_list_len, COMCH_MAX_LIST_LEN);
}

doca_error_t doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_buf_list_len)
{
	return get_checked(__func__, devinfo, max_buf_list_len, COMCH_MAX_LIST_LEN);
}

doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_imm_data_len)
{
	return get_constant(__func__, devinfo, max_imm_data_len, COMCH_MAX_IMM);
}
