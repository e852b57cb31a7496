/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What libdpumap-fleet does for dpumapd and dpumap, which load it when a fleet is configured
 * (common/fleet_library.h). The table is no public interface: both are of one release.
 */
#ifndef DPUMAP_FLEET_TABLE_H
#define DPUMAP_FLEET_TABLE_H

#include "fleet/publisher/publisher.h"
#include "fleet/view/fleet.h"
#include "local/trusted.h"

struct dpumap_fleet_table {
	const char *version; /* DPUMAP_VERSION_STRING; first in every release */

	/* -- finding: as in dpumap/fleet.h -- */
	__typeof__(dpumap_fleet_create) *create;
	__typeof__(dpumap_fleet_destroy) *destroy;
	__typeof__(dpumap_fleet_add_endpoint) *add_endpoint;
	__typeof__(dpumap_fleet_set_tls) *set_tls;
	__typeof__(dpumap_fleet_set_user) *set_user;
	__typeof__(dpumap_fleet_set_cache) *set_cache;
	__typeof__(dpumap_fleet_set_dpu) *set_dpu;
	__typeof__(dpumap_fleet_set_timeout) *set_timeout;
	__typeof__(dpumap_fleet_set_log) *set_log;
	__typeof__(dpumap_fleet_start) *start;
	__typeof__(dpumap_fleet_list) *list;
	__typeof__(dpumap_fleet_list_dpus) *list_dpus;
	__typeof__(dpumap_fleet_resolve) *resolve;
	__typeof__(dpumap_fleet_resolve_dpu) *resolve_dpu;
	__typeof__(dpumap_fleet_watch) *watch;
	__typeof__(dpumap_fleet_process) *process;
	__typeof__(dpumap_fleet_get_notification_handle) *get_notification_handle;
	__typeof__(dpumap_fleet_get_next_time) *get_next_time;
	__typeof__(dpumap_fleet_get_status) *get_status;
	__typeof__(dpumap_fleet_list_members) *list_members;
	__typeof__(dpumap_fleet_list_leases) *list_leases;
	__typeof__(dpumap_fleet_get_error) *get_error;

	__typeof__(dpumap_fleet_on_wait) *on_wait;
	__typeof__(dpumap_fleet_start_cached) *start_cached;

	/* -- publishing -- */
	__typeof__(dpumap_trusted_secret_owner) *trusted_secret_owner; /* the library's own */
	__typeof__(dpumap_publisher_create) *publisher_create;
	__typeof__(dpumap_publisher_check_name) *publisher_check_name;
	__typeof__(dpumap_publisher_check_label) *publisher_check_label;
	__typeof__(dpumap_publisher_check_endpoint) *publisher_check_endpoint;
	__typeof__(dpumap_publisher_set) *publisher_set;
	__typeof__(dpumap_publisher_renew) *publisher_renew;
	__typeof__(dpumap_publisher_fd) *publisher_fd;
	__typeof__(dpumap_publisher_next_ms) *publisher_next_ms;
	__typeof__(dpumap_publisher_process) *publisher_process;
	__typeof__(dpumap_publisher_get_state) *publisher_get_state;
	__typeof__(dpumap_publisher_close) *publisher_close;
};

#endif
