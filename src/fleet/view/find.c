/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finding DPUs and exports in the view, and connecting to them. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dpumap/channel.h>

#include "channel/channel.h"
#include "fleet/view/fleet.h"
#include "fleet/view/fleet_priv.h"

/* --- lists ------------------------------------------------------------------------------------ */

static bool has_label(const struct dpumap_fleet_export *e, const char *wanted)
{
	size_t key = strcspn(wanted, "="), i;

	for (i = 0; i < e->num_labels; i++) {
		if (strncmp(e->labels[i], wanted, key) != 0 || e->labels[i][key] != '=')
			continue;
		return !wanted[key] || fnmatch(wanted + key + 1, e->labels[i] + key + 1, 0) == 0;
	}
	return false;
}

static bool matches(const struct dpumap_fleet_export *e, const char *pattern)
{
	char name[2 * DPUMAP_FLEET_NAME_SIZE];

	if (!pattern)
		return true;
	if (!strchr(pattern, ':'))
		return fnmatch(pattern, e->dpu, 0) == 0;
	snprintf(name, sizeof(name), "%s:%s", e->dpu, e->name);
	return fnmatch(pattern, name, 0) == 0;
}

static bool is_wanted(const struct dpumap_fleet_export *e, const char *pattern,
		      const char *const *labels, size_t num_labels)
{
	for (size_t i = 0; i < num_labels; i++)
		if (!has_label(e, labels[i]))
			return false;
	return matches(e, pattern);
}

struct export_search {
	const char *pattern;
	const char *const *labels;
	size_t num_labels;
	dpumap_fleet_list_cb_t each;
	union doca_data user_data;
};

static void search_export(void *context, const struct dpumap_fleet_export *export_info)
{
	const struct export_search *s = context;

	if (is_wanted(export_info, s->pattern, s->labels, s->num_labels))
		s->each(s->user_data, export_info);
}

doca_error_t dpumap_fleet_list(struct dpumap_fleet *fleet, const char *pattern,
			       const char *const *labels, size_t num_labels,
			       dpumap_fleet_list_cb_t each, union doca_data user_data)
{
	struct export_search search = {pattern, labels, num_labels, each, user_data};
	doca_error_t result;

	if (!fleet || !each || (num_labels && !labels))
		return DOCA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < num_labels; i++)
		if (!labels[i])
			return DOCA_ERROR_INVALID_VALUE;
	result = dpumap_fleet_check_started(fleet);
	if (result != DOCA_SUCCESS)
		return result;
	if (dpumap_view_each_export(fleet->view, search_export, &search) != DOCA_SUCCESS)
		return dpumap_fleet_wrong(fleet, DOCA_ERROR_NO_MEMORY, "no memory for the list");
	return DOCA_SUCCESS;
}

doca_error_t dpumap_fleet_list_dpus(struct dpumap_fleet *fleet, const char *pattern,
				    dpumap_fleet_dpu_cb_t each, union doca_data user_data)
{
	const struct dpumap_fleet_dpu **dpus;
	doca_error_t result;
	size_t num;

	if (!fleet || !each)
		return DOCA_ERROR_INVALID_VALUE;
	result = dpumap_fleet_check_started(fleet);
	if (result != DOCA_SUCCESS)
		return result;
	if (dpumap_view_sort_dpus(fleet->view, &dpus, &num) != DOCA_SUCCESS)
		return dpumap_fleet_wrong(fleet, DOCA_ERROR_NO_MEMORY, "no memory for the list");
	for (size_t i = 0; i < num; i++)
		if (!pattern || fnmatch(pattern, dpus[i]->name, 0) == 0)
			each(user_data, dpus[i]);
	free(dpus);
	return DOCA_SUCCESS;
}

/* --- one -------------------------------------------------------------------------------------- */

/* The name of an export may have been given alone. */
static doca_error_t not_found(struct dpumap_fleet *fleet, const struct dpumap_fleet_key *key)
{
	bool is_export = key->name[0] && dpumap_view_find_dpu(fleet->view, key->dpu);

	return dpumap_error_set(&fleet->error, DOCA_ERROR_NOT_FOUND,
				"fleet %s has no %s called \"%s%s%s\"%s; see dpumap --fleet %s %s",
				fleet->name, is_export ? "export" : "DPU", key->dpu,
				is_export ? ":" : "", is_export ? key->name : "",
				key->name[0] ? "" : " (an export is DPU:EXPORT)", fleet->name,
				is_export ? "list" : "fleet status");
}

static doca_error_t check_newer(struct dpumap_fleet *fleet, bool needs_newer, const char *name)
{
	if (!needs_newer)
		return DOCA_SUCCESS;
	return dpumap_error_set(&fleet->error, DOCA_ERROR_UNSUPPORTED_VERSION,
				"\"%s\" of fleet %s needs a newer dpumap: update this machine",
				name, fleet->name);
}

static doca_error_t parse(struct dpumap_fleet *fleet, const char *name,
			  struct dpumap_fleet_key *key)
{
	doca_error_t result = dpumap_fleet_check_started(fleet);

	return result == DOCA_SUCCESS ? dpumap_fleet_target_parse(name, key, &fleet->error)
				      : result;
}

doca_error_t dpumap_fleet_resolve(struct dpumap_fleet *fleet, const char *name,
				  const struct dpumap_fleet_export **export_info)
{
	const struct dpumap_fleet_export *found;
	struct dpumap_fleet_key key;
	doca_error_t result;

	if (!fleet || !name || !export_info)
		return DOCA_ERROR_INVALID_VALUE;
	result = parse(fleet, name, &key);
	if (result == DOCA_SUCCESS && !key.name[0])
		result = dpumap_fleet_wrong(fleet, DOCA_ERROR_INVALID_VALUE,
					    "the name lacks the export: write DPU:EXPORT");
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_view_find_export(fleet->view, &key, &found);
	if (result == DOCA_ERROR_NOT_FOUND)
		return not_found(fleet, &key);
	if (result != DOCA_SUCCESS)
		return dpumap_fleet_wrong(fleet, result, "no memory for the export");
	result = check_newer(fleet, found->needs_newer, name);
	if (result == DOCA_SUCCESS)
		*export_info = found;
	return result;
}

doca_error_t dpumap_fleet_resolve_dpu(struct dpumap_fleet *fleet, const char *name,
				      const struct dpumap_fleet_dpu **dpu)
{
	const struct dpumap_fleet_dpu *found;
	struct dpumap_fleet_key key;
	doca_error_t result;

	if (!fleet || !name || !dpu)
		return DOCA_ERROR_INVALID_VALUE;
	result = parse(fleet, name, &key);
	if (result != DOCA_SUCCESS)
		return result;
	found = dpumap_view_find_dpu(fleet->view, key.dpu);
	if (!found)
		return not_found(fleet, &key);
	result = check_newer(fleet, found->needs_newer, key.dpu);
	if (result == DOCA_SUCCESS)
		*dpu = found;
	return result;
}

/* --- connecting ------------------------------------------------------------------------------- */

static doca_error_t try_address(struct dpumap_fleet *fleet, const struct dpumap_fleet_dpu *dpu,
				const char *address, struct dpumap_channel *channel)
{
	doca_error_t result = dpumap_channel_set_address(channel, address);

	/* The name that was asked for, not what the record says. */
	if (result == DOCA_SUCCESS)
		result = dpumap_channel_set_server_name(channel, dpu->name);
	if (result == DOCA_SUCCESS)
		result = dpumap_channel_connect(channel);
	if (result != DOCA_SUCCESS)
		dpumap_error_set(&fleet->error, result, "DPU %s at %s: %.200s", dpu->name, address,
				 dpumap_channel_get_error(channel));
	return result;
}

doca_error_t dpumap_fleet_connect(struct dpumap_fleet *fleet, const char *name,
				  struct dpumap_channel *channel)
{
	doca_error_t result = DOCA_ERROR_NOT_FOUND;
	const struct dpumap_fleet_dpu *dpu = NULL;

	if (!fleet || !name || !channel)
		return DOCA_ERROR_INVALID_VALUE;
	result = dpumap_fleet_resolve_dpu(fleet, name, &dpu);
	if (result != DOCA_SUCCESS)
		return result;
	if (dpumap_private_channel_has_psk(channel))
		return dpumap_fleet_wrong(fleet, DOCA_ERROR_BAD_CONFIG,
					  "a pre-shared key does not prove a DPU's name: use "
					  "certificates to connect by name");
	for (size_t i = 0; dpu && i < dpu->num_addresses; i++) {
		result = try_address(fleet, dpu, dpu->addresses[i], channel);
		if (result == DOCA_SUCCESS || result == DOCA_ERROR_BAD_STATE)
			break;
	}
	return result;
}
