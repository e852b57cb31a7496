/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/spec/export_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config_file.h"

struct loader {
	const char *path;
	struct export_list *exports;
	struct dpumap_error *error;
};

/* Numbers are accepted as strings: size = 4096 and size = "4096" are the same. */
static const char *text_of(const config_setting_t *setting, char buf[static 24])
{
	switch (config_setting_type(setting)) {
	case CONFIG_TYPE_STRING:
		return config_setting_get_string(setting);
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		snprintf(buf, 24, "%lld", config_setting_get_int64(setting));
		return buf;
	default:
		return NULL;
	}
}

static bool is_repeated(const char *name)
{
	return strcmp(name, "allow") == 0 || strcmp(name, "label") == 0;
}

static doca_error_t load_part(const struct loader *l, const config_setting_t *part,
			      struct export_spec *spec)
{
	const char *name = config_setting_name(part);
	struct dpumap_error why = {0};
	doca_error_t result = DOCA_SUCCESS;
	const char *text;
	char buf[24];

	if (strcmp(name, "fd") == 0)
		return dpumap_config_file_invalid(
			l->path, part, "is not allowed in a configuration file", l->error);
	if (config_setting_is_array(part) && is_repeated(name)) {
		for (int i = 0; i < config_setting_length(part) && result == DOCA_SUCCESS; i++) {
			text = config_setting_get_string_elem(part, i);
			result = text ? export_spec_set(spec, name, text, &why)
				      : dpumap_config_file_invalid(l->path, part,
								   "must be an array of strings",
								   l->error);
			if (text && result != DOCA_SUCCESS)
				result = dpumap_config_file_fault(l->path, part, &why, l->error);
		}
		return result;
	}
	text = text_of(part, buf);
	if (!text)
		return dpumap_config_file_invalid(l->path, part, "must be a string or a number",
						  l->error);
	if (export_spec_set(spec, name, text, &why) != DOCA_SUCCESS)
		return dpumap_config_file_fault(l->path, part, &why, l->error);
	return DOCA_SUCCESS;
}

static doca_error_t load_export(const struct loader *l, const config_setting_t *setting)
{
	struct dpumap_error why = {0};
	doca_error_t result = DOCA_SUCCESS;
	const config_setting_t *name;
	struct export_spec spec;

	if (!config_setting_is_group(setting))
		return dpumap_config_file_invalid(
			l->path, setting, "must be a group, { name = \"...\"; kind = \"dm\"; ... }",
			l->error);
	export_spec_init(&spec);
	/* The name first, so that errors contain it. */
	name = config_setting_get_member(setting, "name");
	if (name)
		result = load_part(l, name, &spec);
	for (int i = 0; i < config_setting_length(setting) && result == DOCA_SUCCESS; i++) {
		const config_setting_t *part = config_setting_get_elem(setting, (unsigned int)i);

		if (part != name)
			result = load_part(l, part, &spec);
	}
	if (l->exports->num > 0)
		export_spec_share_peers(&spec, &l->exports->specs[l->exports->num - 1]);
	if (result == DOCA_SUCCESS && (export_spec_check(&spec, &why) != DOCA_SUCCESS ||
				       export_list_add(l->exports, &spec, &why) != DOCA_SUCCESS))
		result = dpumap_config_file_fault(l->path, setting, &why, l->error);
	export_spec_free(&spec);
	return result;
}

static const char *name_of(const config_setting_t *setting)
{
	const char *name = NULL;

	if (config_setting_is_group(setting))
		config_setting_lookup_string(setting, "name", &name);
	return name ? name : "";
}

static int compare_names(const void *a, const void *b)
{
	const config_setting_t *x = *(const config_setting_t *const *)a;
	const config_setting_t *y = *(const config_setting_t *const *)b;
	int order = strcmp(name_of(x), name_of(y));

	if (order)
		return order;
	return (int)config_setting_source_line(x) - (int)config_setting_source_line(y);
}

/* By name, as the list is sorted: each export is then added at its end. */
static doca_error_t load_exports(const struct loader *l, const config_setting_t *setting)
{
	int n = config_setting_length(setting);
	const config_setting_t **sorted;
	doca_error_t result = DOCA_SUCCESS;

	if (!config_setting_is_list(setting))
		return dpumap_config_file_invalid(
			l->path, setting, "must be a list of groups, ( { ... }, ... )", l->error);
	if (!n)
		return DOCA_SUCCESS;
	sorted = calloc((size_t)n, sizeof(const config_setting_t *));
	if (!sorted)
		return dpumap_error_set(l->error, DOCA_ERROR_NO_MEMORY,
					"no memory for the exports of %s", l->path);
	for (int i = 0; i < n; i++)
		sorted[i] = config_setting_get_elem(setting, (unsigned int)i);
	qsort(sorted, (size_t)n, sizeof(const config_setting_t *), compare_names);
	for (int i = 0; i < n && result == DOCA_SUCCESS; i++)
		result = load_export(l, sorted[i]);
	free(sorted);
	return result;
}

doca_error_t export_file_load(const char *path, const config_setting_t *setting,
			      struct export_list *exports, struct dpumap_error *error)
{
	return load_exports(&(struct loader){path, exports, error}, setting);
}
