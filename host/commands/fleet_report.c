/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/commands/fleet_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/export_text.h"
#include "host/remote/report.h"

#define MSEC_PER_SEC 1000.0

void fleet_report_name(const struct dpumap_fleet_dpu *dpu, const struct dpumap_fleet_export *export,
		       char text[static FLEET_NAME_TEXT_MAX])
{
	if (export)
		snprintf(text, FLEET_NAME_TEXT_MAX, "%s:%s", export->dpu, export->name);
	else
		snprintf(text, FLEET_NAME_TEXT_MAX, "%s", dpu ? dpu->name : "");
}

/* {"KEY": "VALUE"} */
static struct json_object *json_labels(const struct dpumap_fleet_export *export)
{
	struct json_object *labels = json_object_new_object();

	for (size_t i = 0; i < export->num_labels; i++) {
		const char *equals = strchr(export->labels[i], '=');
		char key[DPUMAP_FLEET_NAME_MAX + 1];

		if (!equals || (size_t)(equals - export->labels[i]) >= sizeof(key))
			continue;
		snprintf(key, sizeof(key), "%.*s", (int)(equals - export->labels[i]),
			 export->labels[i]);
		json_add_text(labels, key, equals + 1);
	}
	return labels;
}

struct json_object *fleet_json_export(const struct dpumap_fleet_export *export)
{
	struct json_object *object = json_object_new_object();

	json_add_text(object, "dpu", export->dpu);
	json_add_text(object, "name", export->name);
	json_object_object_add(object, "needs_newer", json_object_new_boolean(export->needs_newer));
	if (export->needs_newer)
		return object;
	dpumap_export_describe(object, export->kind, export->size, report_perm(export->access),
			       export->via);
	json_add_number(object, "generation", export->generation);
	json_object_object_add(object, "labels", json_labels(export));
	return object;
}

static struct json_object *json_addresses(const struct dpumap_fleet_dpu *dpu)
{
	struct json_object *addresses = json_object_new_array();

	for (size_t i = 0; i < dpu->num_addresses; i++)
		json_object_array_add(addresses, json_object_new_string(dpu->addresses[i]));
	return addresses;
}

struct json_object *fleet_json_dpu(const struct dpumap_fleet_dpu *dpu)
{
	struct json_object *object = json_object_new_object();
	char text[2 + 16 + 1];

	json_add_text(object, "name", dpu->name);
	json_add_number(object, "exports", dpu->num_exports);
	json_object_object_add(object, "needs_newer", json_object_new_boolean(dpu->needs_newer));
	if (dpu->needs_newer)
		return object;
	json_object_object_add(object, "addresses", json_addresses(dpu));
	json_add_text(object, "version", dpu->version);
	snprintf(text, sizeof(text), "0x%016" PRIx64, dpu->card_guid);
	json_add_text(object, "card", text);
	json_add_number(object, "generation", dpu->generation);
	return object;
}

void fleet_json_add_view(struct json_object *object, const char *fleet,
			 const struct dpumap_fleet_status *status)
{
	json_add_text(object, "fleet", fleet);
	json_object_object_add(object, "live", json_object_new_boolean(status->is_live));
	json_add_real(object, "age_seconds",
		      status->is_live ? 0 : (double)status->age_ms / MSEC_PER_SEC);
	if (!status->is_live)
		json_add_text(object, "problem", status->problem);
}
