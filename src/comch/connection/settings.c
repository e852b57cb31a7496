/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/connection/settings.h"

#include <inttypes.h>

#include "device/hca.h"
#include "log/log.h"

static doca_error_t check(const struct comch_control *control, const char *function, bool is_given)
{
	if (!control || !is_given)
		return dpumap_fail_null(function);
	return dpumap_ctx_check_idle(&control->ctx, function);
}

static doca_error_t set(struct comch_control *control, const char *function, uint32_t value,
			uint32_t max, uint32_t *setting)
{
	doca_error_t result = check(control, function, true);

	if (result != DOCA_SUCCESS)
		return result;
	if (!value || value > max)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: invalid value %" PRIu32 ", must be 1 to %" PRIu32, function,
				   value, max);
	*setting = value;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_comch_set_max_msg_size(struct comch_control *control, const char *function,
					   uint32_t max_msg_size)
{
	return set(control, function, max_msg_size, COMCH_MAX_MESSAGE,
		   control ? &control->max_msg_size : NULL);
}

doca_error_t dpumap_comch_set_recv_queue_size(struct comch_control *control, const char *function,
					      uint32_t queue_size)
{
	return set(control, function, queue_size, COMCH_MAX_RECV_QUEUE,
		   control ? &control->recv_queue_size : NULL);
}

doca_error_t dpumap_comch_register_recv(struct comch_control *control, const char *function,
					doca_comch_event_msg_recv_cb_t recv_cb)
{
	doca_error_t result = check(control, function, recv_cb);

	if (result == DOCA_SUCCESS)
		control->recv_cb = recv_cb;
	return result;
}

doca_error_t dpumap_comch_register_consumer(struct comch_control *control, const char *function,
					    doca_comch_event_consumer_cb_t new_cb,
					    doca_comch_event_consumer_cb_t expired_cb)
{
	doca_error_t result = check(control, function, new_cb && expired_cb);

	if (result != DOCA_SUCCESS)
		return result;
	control->new_consumer_cb = new_cb;
	control->expired_consumer_cb = expired_cb;
	return DOCA_SUCCESS;
}

/* --- capabilities ----------------------------------------------------------------------------- */

doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo)
{
	struct dpumap_host_pf pf;

	if (!devinfo)
		return dpumap_fail_null(__func__);
	return dpumap_hca_query_host_pf(devinfo->hca, &pf);
}

/* A function that manages the functions of a host is the DPU's. */
doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo)
{
	struct dpumap_host_pf pf;
	doca_error_t result;

	if (!devinfo)
		return dpumap_fail_null(__func__);
	result = dpumap_hca_query_host_pf(devinfo->hca, &pf);
	if (result == DOCA_ERROR_NOT_SUPPORTED)
		return DOCA_SUCCESS;
	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED,
				"%s is a device of a DPU; clients are on the host",
				dpumap_hca_name(devinfo->hca));
}

static doca_error_t answer(const struct doca_devinfo *devinfo, const char *function, uint32_t *out,
			   uint32_t value)
{
	if (!devinfo || !out)
		return dpumap_fail_null(function);
	*out = value;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo,
					     uint32_t *max_name_len)
{
	return answer(devinfo, __func__, max_name_len, DPUMAP_COMCH_NAME_SIZE);
}

doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo,
					     uint32_t *max_msg_size)
{
	return answer(devinfo, __func__, max_msg_size, COMCH_MAX_MESSAGE);
}

doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
						    uint32_t *max_recv_queue_size)
{
	return answer(devinfo, __func__, max_recv_queue_size, COMCH_MAX_RECV_QUEUE);
}

doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo,
					       uint32_t *max_send_tasks)
{
	return answer(devinfo, __func__, max_send_tasks, COMCH_MAX_SEND_TASKS);
}

doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo,
					    uint32_t *max_clients)
{
	return answer(devinfo, __func__, max_clients, COMCH_MAX_CLIENTS);
}
