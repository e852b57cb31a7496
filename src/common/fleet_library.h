/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loads libdpumap-fleet, which only a machine with a fleet needs: it brings libcurl. Its functions
 * are in struct dpumap_fleet_table (fleet/table.h).
 */
#ifndef DPUMAP_COMMON_FLEET_LIBRARY_H
#define DPUMAP_COMMON_FLEET_LIBRARY_H

#include "local/error.h"

#define DPUMAP_FLEET_LIBRARY "libdpumap-fleet.so.0"
#define DPUMAP_FLEET_SYMBOL  "dpumap_private_fleet"

struct dpumap_fleet_table;

/*
 * The library stays loaded. NOT_SUPPORTED: it is not installed, and the line names the package; or it
 * is of another release.
 */
doca_error_t dpumap_fleet_library_load(const struct dpumap_fleet_table **table,
				       struct dpumap_error *error);

#endif
