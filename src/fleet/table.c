/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/table.h"

#include <dpumap/version.h>

extern const struct dpumap_fleet_table dpumap_private_fleet;
__attribute__((visibility("default"))) const struct dpumap_fleet_table dpumap_private_fleet = {
	.version = DPUMAP_VERSION_STRING,

	.create = dpumap_fleet_create,
	.destroy = dpumap_fleet_destroy,
	.add_endpoint = dpumap_fleet_add_endpoint,
	.set_tls = dpumap_fleet_set_tls,
	.set_user = dpumap_fleet_set_user,
	.set_cache = dpumap_fleet_set_cache,
	.set_dpu = dpumap_fleet_set_dpu,
	.set_timeout = dpumap_fleet_set_timeout,
	.set_log = dpumap_fleet_set_log,
	.start = dpumap_fleet_start,
	.list = dpumap_fleet_list,
	.list_dpus = dpumap_fleet_list_dpus,
	.resolve = dpumap_fleet_resolve,
	.resolve_dpu = dpumap_fleet_resolve_dpu,
	.watch = dpumap_fleet_watch,
	.process = dpumap_fleet_process,
	.get_notification_handle = dpumap_fleet_get_notification_handle,
	.get_next_time = dpumap_fleet_get_next_time,
	.get_status = dpumap_fleet_get_status,
	.list_members = dpumap_fleet_list_members,
	.list_leases = dpumap_fleet_list_leases,
	.get_error = dpumap_fleet_get_error,
	.on_wait = dpumap_fleet_on_wait,
	.start_cached = dpumap_fleet_start_cached,

	.trusted_secret_owner = dpumap_trusted_secret_owner,
	.publisher_create = dpumap_publisher_create,
	.publisher_check_name = dpumap_publisher_check_name,
	.publisher_check_label = dpumap_publisher_check_label,
	.publisher_check_endpoint = dpumap_publisher_check_endpoint,
	.publisher_set = dpumap_publisher_set,
	.publisher_renew = dpumap_publisher_renew,
	.publisher_fd = dpumap_publisher_fd,
	.publisher_next_ms = dpumap_publisher_next_ms,
	.publisher_process = dpumap_publisher_process,
	.publisher_get_state = dpumap_publisher_get_state,
	.publisher_close = dpumap_publisher_close,
};
