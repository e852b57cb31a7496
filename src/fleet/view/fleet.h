/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the other files of the room need of a fleet; its public functions are in dpumap/fleet.h. */
#ifndef DPUMAP_FLEET_FLEET_H
#define DPUMAP_FLEET_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include <dpumap/fleet.h>

/* Records the error of a call and returns its code. */
doca_error_t dpumap_fleet_wrong(struct dpumap_fleet *fleet, doca_error_t code, const char *why);
/* BAD_STATE if the fleet is not started. */
doca_error_t dpumap_fleet_check_started(struct dpumap_fleet *fleet);
/* Waits for etcd and processes its answers until the condition is true or the time-out has passed. */
void dpumap_fleet_wait(struct dpumap_fleet *fleet, bool (*is_done)(void *context), void *context);

/* --- for our own programs --------------------------------------------------------------------- */

/* endpoint and why may be "": not known yet. */
typedef void dpumap_fleet_waits_fn(void *context, const char *endpoint, const char *why);
/* To be called once by dpumap_fleet_start() if etcd does not answer within a second. */
void dpumap_fleet_on_wait(struct dpumap_fleet *fleet, dpumap_fleet_waits_fn *waits, void *context);
/* Starts with the view of the cache file, without asking etcd. NOT_FOUND if there is no valid one. */
doca_error_t dpumap_fleet_start_cached(struct dpumap_fleet *fleet);

#endif
