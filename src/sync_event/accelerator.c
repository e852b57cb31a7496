/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What GPUs and DPAs would do with sync events. */
#include <doca_sync_event.h>

#include "log/log.h"

static doca_error_t refuse(const void *first, const void *second, const void *third,
			   const char *function)
{
	if (!first || !second || !third)
		return dpumap_fail_null(function);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "%s: sync events of a DPA or GPU are not supported", function);
}

static doca_error_t refuse_cap(const struct doca_devinfo *devinfo, const char *function)
{
	if (!devinfo)
		return dpumap_fail_null(function);
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED,
				"%s: sync events of a DPA or GPU are not supported", function);
}

doca_error_t doca_sync_event_cap_is_export_to_dpa_supported(const struct doca_devinfo *devinfo)
{
	return refuse_cap(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_is_export_to_gpu_supported(const struct doca_devinfo *devinfo)
{
	return refuse_cap(devinfo, __func__);
}

doca_error_t
doca_sync_event_cap_remote_net_is_export_to_dpa_supported(const struct doca_devinfo *devinfo)
{
	return refuse_cap(devinfo, __func__);
}

doca_error_t
doca_sync_event_cap_remote_net_is_export_to_gpu_supported(const struct doca_devinfo *devinfo)
{
	return refuse_cap(devinfo, __func__);
}

doca_error_t doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event,
							struct doca_dpa *dpa)
{
	return refuse(event, dpa, dpa, __func__);
}

doca_error_t doca_sync_event_add_publisher_location_gpu(struct doca_sync_event *event,
							struct doca_gpu *gpu)
{
	return refuse(event, gpu, gpu, __func__);
}

doca_error_t doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event,
							 struct doca_dpa *dpa)
{
	return refuse(event, dpa, dpa, __func__);
}

doca_error_t doca_sync_event_add_subscriber_location_gpu(struct doca_sync_event *event,
							 struct doca_gpu *gpu)
{
	return refuse(event, gpu, gpu, __func__);
}

doca_error_t doca_sync_event_get_dpa_handle(struct doca_sync_event *event, struct doca_dpa *dpa,
					    doca_dpa_dev_sync_event_t *handle)
{
	return refuse(event, dpa, handle, __func__);
}

doca_error_t doca_sync_event_get_gpu_handle(struct doca_sync_event *event, struct doca_gpu *gpu,
					    doca_gpu_dev_sync_event_t **handle)
{
	return refuse(event, gpu, (const void *)handle, __func__);
}

doca_error_t doca_sync_event_remote_net_get_dpa_handle(struct doca_sync_event_remote_net *event,
						       struct doca_dpa *dpa,
						       doca_dpa_dev_sync_event_remote_net_t *handle)
{
	return refuse(event, dpa, handle, __func__);
}

doca_error_t doca_sync_event_remote_net_get_gpu_handle(struct doca_sync_event_remote_net *event,
						       struct doca_gpu *gpu,
						       doca_gpu_dev_sync_event_remote_net_t *handle)
{
	return refuse(event, gpu, handle, __func__);
}
