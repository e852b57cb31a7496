/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The names of exports of a fleet, DPU:EXPORT, in the command line. */
#ifndef DPUMAP_HOST_FLEET_NAME_H
#define DPUMAP_HOST_FLEET_NAME_H

#include <stdbool.h>

#include "host/settings/options.h"

/* The argument that names an export of a fleet, or the DPU for info; -1: none. */
int fleet_name_argument(const struct options *options);
/* Does the argument keep its colon without the DPU, as that of cp does? */
bool fleet_name_keeps_colon(const struct options *options);
/* Does the command line make sense only in a fleet; or may it be that of a fleet? */
bool fleet_name_is_required(const struct options *options);
bool fleet_name_is_likely(const struct options *options);
/* The error in the command line, or NULL. */
const char *fleet_name_check(const struct options *options);

#endif
