/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Records of a fleet as text and as JSON. All of it is what the registry says. */
#ifndef DPUMAP_HOST_FLEET_REPORT_H
#define DPUMAP_HOST_FLEET_REPORT_H

#include <dpumap/fleet.h>

#include "host/base/json.h"

/* "DPU:EXPORT" or "DPU" */
#define FLEET_NAME_TEXT_MAX (2 * (DPUMAP_FLEET_NAME_MAX + 1))
void fleet_report_name(const struct dpumap_fleet_dpu *dpu, const struct dpumap_fleet_export *export,
		       char text[static FLEET_NAME_TEXT_MAX]);

struct json_object *fleet_json_export(const struct dpumap_fleet_export *export);
struct json_object *fleet_json_dpu(const struct dpumap_fleet_dpu *dpu);
/* Adds what is known about the view itself. */
void fleet_json_add_view(struct json_object *object, const char *fleet,
			 const struct dpumap_fleet_status *status);

#endif
