/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/commands/commands.h"

#include "common/export_text.h"
#include "fleet/table.h"
#include "host/commands/fleet_report.h"
#include "host/fleet/fleet.h"

static void write_name(FILE *out, struct json_object *export)
{
	fprintf(out, "%s:%s", json_object_get_string(json_object_object_get(export, "dpu")),
		json_object_get_string(json_object_object_get(export, "name")));
}

static void write_labels(FILE *out, struct json_object *labels)
{
	const char *separator = "";

	json_object_object_foreach(labels, key, value)
	{
		fprintf(out, "%s%s=%s", separator, key, json_object_get_string(value));
		separator = ",";
	}
}

static const struct cli_column columns[] = {{"NAME", NULL, -32, write_name},
					    DPUMAP_EXPORT_COLUMNS,
					    {"LABELS", "labels", 0, write_labels},
					    {0}};

static void print_line(union doca_data user_data, const struct dpumap_fleet_export *export)
{
	char name[FLEET_NAME_TEXT_MAX];
	struct json_object *object;

	(void)user_data;
	if (export->needs_newer) {
		fleet_report_name(NULL, export, name);
		printf("%-32s needs a newer dpumap\n", name);
		return;
	}
	object = fleet_json_export(export);
	cli_table_row(stdout, columns, object);
	json_object_put(object);
}

static void add(union doca_data user_data, const struct dpumap_fleet_export *export)
{
	json_list_add(user_data.ptr, fleet_json_export(export));
}

static doca_error_t each_export(const struct fleet *f, const struct options *o,
				dpumap_fleet_list_cb_t each, void *context)
{
	return f->table->list(f->view, o->args[0], o->labels, o->num_labels, each,
			      (union doca_data){.ptr = context});
}

static doca_error_t list_json(const struct fleet *f, const struct options *o)
{
	const struct dpumap_fleet_status *status;
	doca_error_t result = f->table->get_status(f->view, &status);
	struct json_list list = {.key = "exports"};

	if (result != DOCA_SUCCESS)
		return result;
	list.head = json_object_new_object();
	json_add_text(list.head, "schema", "dpumap-fleet-list-1");
	fleet_json_add_view(list.head, o->fleet, status);
	result = each_export(f, o, add, &list);
	json_list_end(&list, result == DOCA_SUCCESS);
	return result;
}

doca_error_t fleet_list(const struct options *options, struct dpumap_error *error)
{
	struct fleet f;
	doca_error_t result;

	result = fleet_open(options, options->args[0], &f, error);
	if (result == DOCA_SUCCESS) {
		if (options->given & OPTION_JSON) {
			result = list_json(&f, options);
		} else {
			cli_table_head(stdout, columns);
			result = each_export(&f, options, print_line, NULL);
		}
		if (result != DOCA_SUCCESS)
			fleet_fault(&f, result, error);
	}
	fleet_close(&f);
	return result;
}
