/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The registry of a fleet, as the options and the configuration describe it. */
#ifndef DPUMAP_HOST_FLEET_H
#define DPUMAP_HOST_FLEET_H

#include <dpumap/fleet.h>

#include "host/settings/options.h"

struct dpumap_fleet_table;

struct fleet {
	const struct dpumap_fleet_table *table;
	struct dpumap_fleet *view; /* NULL: not open */
	const char *name;
};

/*
 * Loads libdpumap-fleet, and reads all records, or those of the DPU that the target names unless that is a
 * pattern. The target is DPU or DPU:EXPORT, or NULL. If etcd cannot be reached, they are those that this
 * user's last command knew; standard error then says how old they are. fleet_close() is needed also on failure.
 */
doca_error_t fleet_open(const struct options *options, const char *target, struct fleet *fleet,
			struct dpumap_error *error);
void fleet_close(struct fleet *fleet);

/* The line of a failed call is in the view. */
doca_error_t fleet_fault(const struct fleet *fleet, doca_error_t result,
			 struct dpumap_error *error);

#define FLEET_AGE_MAX 32
/* "3 s", "5 min", "2 h", "4 days" */
void fleet_format_age(uint64_t age_ms, char text[static FLEET_AGE_MAX]);

#endif
