/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/commands/commands.h"

#include <fnmatch.h>
#include <stdio.h>

#include "common/export_text.h"
#include "host/fleet/resolve.h"
#include "host/import/import.h"
#include "host/remote/descriptor_file.h"
#include "host/remote/remote.h"
#include "host/remote/report.h"
#include "host/settings/fleet_name.h"

static const struct cli_column columns[] = {
	{"NAME", "name", -24, NULL}, DPUMAP_EXPORT_COLUMNS, {0}};

struct listing {
	const char *pattern;	/* NULL: all */
	struct json_list *list; /* NULL: print lines */
};

static void list_one(void *context, const struct dpumap_export_info *info)
{
	const struct listing *l = context;
	struct json_object *export;

	if (l->pattern && fnmatch(l->pattern, info->name, 0) != 0)
		return;
	export = report_json_export(info);
	if (l->list) {
		json_list_add(l->list, export);
		return;
	}
	cli_table_row(stdout, columns, export);
	json_object_put(export);
}

static doca_error_t list_json(struct dpumap_client *client, const char *pattern,
			      struct dpumap_error *error)
{
	struct json_list list = {.head = json_object_new_object(), .key = "exports"};
	struct listing l = {pattern, &list};
	doca_error_t result = remote_list(client, list_one, &l, error);

	json_list_end(&list, result == DOCA_SUCCESS);
	return result;
}

doca_error_t inspect_list(const struct options *options, struct dpumap_error *error)
{
	struct listing lines = {.pattern = options->args[0]};
	struct dpumap_client *client;
	doca_error_t result;

	if (options->fleet)
		return fleet_list(options, error);
	result = remote_connect(options, &client, error);
	if (result != DOCA_SUCCESS)
		return result;
	if (options->given & OPTION_JSON) {
		result = list_json(client, options->args[0], error);
	} else {
		cli_table_head(stdout, columns);
		result = remote_list(client, list_one, &lines, error);
	}
	dpumap_client_destroy(client);
	return result;
}

/*
 * Connects to get one export. Unless keep is set, releases it at once: the descriptor can then be
 * printed, but is usable only while another client holds it.
 */
static doca_error_t fetch(const struct options *options, const char *name, bool keep,
			  struct remote_export *export, struct dpumap_error *error)
{
	struct dpumap_client *client;
	doca_error_t result;

	result = remote_connect(options, &client, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = remote_get(client, name, export, error);
	if (result == DOCA_SUCCESS && !keep)
		result = remote_release(client, name, error);
	dpumap_client_destroy(client);
	return result;
}

static doca_error_t show_device(const struct options *options, struct dpumap_error *error)
{
	struct dpumap_client *client;
	struct remote_device device;
	doca_error_t result;

	result = remote_connect(options, &client, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = remote_device(client, &device, error);
	dpumap_client_destroy(client);
	if (result != DOCA_SUCCESS)
		return result;
	if (options->given & OPTION_JSON) {
		struct json_object *object = report_json_device(&device);

		resolved_add_json(options->resolved, object);
		json_print(object);
	} else {
		resolved_report(options->resolved);
		report_device(&device);
	}
	return result;
}

static void print_info(const struct options *options, const struct remote_export *export,
		       const struct dpumap_desc *desc)
{
	struct json_object *object;

	if (!(options->given & OPTION_JSON)) {
		if (!options->descriptor)
			report_info(&export->info);
		resolved_report(options->resolved);
		report_descriptor(desc, export->desc_len);
		return;
	}
	object = json_object_new_object();
	if (!options->descriptor)
		json_object_object_add(object, "export", report_json_export(&export->info));
	resolved_add_json(options->resolved, object);
	json_object_object_add(object, "descriptor",
			       report_json_descriptor(desc, export->desc_len));
	json_print(object);
}

doca_error_t inspect_info(const struct options *options, struct dpumap_error *error)
{
	const char *what = options->descriptor ? options->descriptor : options->args[0];
	struct remote_export export = {0};
	struct dpumap_desc desc = {0};
	doca_error_t result;

	if (!what)
		return show_device(options, error);
	if (options->descriptor)
		result = descriptor_file_load(what, &export, error);
	else
		result = fetch(options, what, false, &export, error);
	if (result == DOCA_SUCCESS)
		result = import_decode(export.desc, export.desc_len, what, &desc, error);
	if (result == DOCA_SUCCESS)
		print_info(options, &export, &desc);
	dpumap_desc_wipe(&desc);
	remote_export_wipe(&export);
	return result;
}

static void print_saved(const struct options *options, const char *path,
			const struct remote_export *export)
{
	struct json_object *object;

	if (!(options->given & OPTION_JSON)) {
		printf("saved        descriptor of %s, %zu bytes, to %s (contains a key)\n",
		       export->info.name, export->desc_len, path);
		return;
	}
	object = json_object_new_object();
	json_object_object_add(object, "export", report_json_export(&export->info));
	json_add_text(object, "file", path);
	json_add_number(object, "bytes", export->desc_len);
	json_print(object);
}

doca_error_t inspect_get(const struct options *options, struct dpumap_error *error)
{
	char path[DPUMAP_EXPORT_NAME_MAX + sizeof(".desc")];
	const char *to = options->args[1];
	struct remote_export export = {0};
	doca_error_t result;

	result = fetch(options, options->args[0], true, &export, error);
	if (!to) {
		snprintf(path, sizeof(path), "%s.desc", export.info.name);
		to = path;
	}
	if (result == DOCA_SUCCESS)
		result = descriptor_file_save(to, &export, error);
	if (result == DOCA_SUCCESS)
		print_saved(options, to, &export);
	remote_export_wipe(&export);
	return result;
}
