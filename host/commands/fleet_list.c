/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/commands/fleet_list.h"

#include "fleet/table.h"
#include "host/commands/fleet_report.h"
#include "host/fleet/fleet.h"

static void print_line(union doca_data user_data, const struct dpumap_fleet_export *export)
{
	(void)user_data;
	fleet_report_export(export);
}

static void add(union doca_data user_data, const struct dpumap_fleet_export *export)
{
	json_object_array_add(user_data.ptr, fleet_json_export(export));
}

static doca_error_t each_export(const struct fleet *f, const struct options *o,
				dpumap_fleet_list_cb_t each, void *context)
{
	return f->table->list(f->view, o->args[0], o->labels, o->num_labels, each,
			      (union doca_data){.ptr = context});
}

static doca_error_t list_json(const struct fleet *f, const struct options *o)
{
	struct json_object *object = json_object_new_object();
	struct json_object *list = json_object_new_array();
	const struct dpumap_fleet_status *status;
	doca_error_t result = each_export(f, o, add, list);

	if (result == DOCA_SUCCESS)
		result = f->table->get_status(f->view, &status);
	if (result != DOCA_SUCCESS) {
		json_object_put(list);
		json_object_put(object);
		return result;
	}
	json_add_text(object, "schema", "dpumap-fleet-list-1");
	fleet_json_add_view(object, o->fleet, status);
	json_object_object_add(object, "exports", list);
	json_print(object);
	return DOCA_SUCCESS;
}

doca_error_t fleet_list(const struct options *options, struct dpumap_fault *fault)
{
	struct fleet f;
	doca_error_t result;

	result = fleet_open(options, &f, fault);
	if (result == DOCA_SUCCESS) {
		if (options->given & OPTION_JSON) {
			result = list_json(&f, options);
		} else {
			fleet_report_export(NULL);
			result = each_export(&f, options, print_line, NULL);
		}
		if (result != DOCA_SUCCESS)
			fleet_fault(&f, result, fault);
	}
	fleet_close(&f);
	return result;
}
