/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <doca_sync_event.h>

#include "core/dev/caps.h"

typedef bool has_fn(const struct dpumap_caps *caps);

static bool can_import(const struct dpumap_caps *caps)
{
	return caps->can_import && caps->has_atomics;
}

static bool can_export(const struct dpumap_caps *caps)
{
	return caps->can_export && caps->has_atomics;
}

static bool has_peers(const struct dpumap_caps *caps)
{
	return caps->max_message_len && caps->has_atomics;
}

static doca_error_t check(const struct doca_devinfo *devinfo, has_fn *has, const char *function)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(function, devinfo, has, &caps);

	if (result == DOCA_SUCCESS && !has(&caps))
		result = dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s: %s does not support it",
					  function, dpumap_hca_name(devinfo->hca));
	return result;
}

doca_error_t doca_sync_event_cap_is_create_from_export_supported(const struct doca_devinfo *devinfo)
{
	return check(devinfo, can_import, __func__);
}

doca_error_t
doca_sync_event_cap_is_export_to_remote_pci_supported(const struct doca_devinfo *devinfo)
{
	return check(devinfo, can_export, __func__);
}

doca_error_t
doca_sync_event_cap_is_export_to_remote_net_supported(const struct doca_devinfo *devinfo)
{
	return check(devinfo, has_peers, __func__);
}

doca_error_t
doca_sync_event_cap_remote_net_is_create_from_export_supported(const struct doca_devinfo *devinfo)
{
	return check(devinfo, has_peers, __func__);
}

/* The CPU executes tasks of an event that is not exported. */
static doca_error_t check_task(const struct doca_devinfo *devinfo, const char *function)
{
	return devinfo ? DOCA_SUCCESS : dpumap_fail_null(function);
}

doca_error_t doca_sync_event_cap_task_get_is_supported(const struct doca_devinfo *devinfo)
{
	return check_task(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_task_notify_set_is_supported(const struct doca_devinfo *devinfo)
{
	return check_task(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_task_notify_add_is_supported(const struct doca_devinfo *devinfo)
{
	return check_task(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_task_wait_eq_is_supported(const struct doca_devinfo *devinfo)
{
	return check_task(devinfo, __func__);
}

doca_error_t doca_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *devinfo)
{
	return check_task(devinfo, __func__);
}
