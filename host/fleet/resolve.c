/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/fleet/resolve.h"

#include <stdio.h>
#include <string.h>

#include "fleet/table.h"
#include "host/base/json.h"
#include "host/fleet/fleet.h"
#include "host/settings/fleet_name.h"

static doca_error_t take_addresses(struct resolved_export *resolved,
				   const struct dpumap_fleet_dpu *dpu, struct dpumap_error *error)
{
	for (size_t i = 0; i < dpu->num_addresses && i < RESOLVED_ADDRESSES_MAX; i++) {
		const char *address = dpu->addresses[i];

		/* On a Unix socket nobody would prove the name. */
		if (strncmp(address, "tls:", 4) == 0 && strlen(address) < RESOLVED_ADDRESS_MAX)
			memcpy(resolved->addresses[resolved->num_addresses++], address,
			       strlen(address) + 1);
	}
	if (!resolved->num_addresses)
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND,
					"the registry has no TLS address of DPU %s", resolved->dpu);
	return DOCA_SUCCESS;
}

static void take_labels(struct resolved_export *resolved, const struct dpumap_fleet_export *export)
{
	resolved->labels = json_object_new_array();
	for (size_t i = 0; i < export->num_labels; i++)
		json_object_array_add(resolved->labels, json_object_new_string(export->labels[i]));
}

static doca_error_t look_up(struct fleet *f, const char *name, struct resolved_export *resolved,
			    struct dpumap_error *error)
{
	const struct dpumap_fleet_export *export = NULL;
	const struct dpumap_fleet_dpu *dpu;
	doca_error_t result = DOCA_SUCCESS;

	if (strchr(name, ':'))
		result = f->table->resolve(f->view, name, &export);
	if (export)
		take_labels(resolved, export);
	if (result == DOCA_SUCCESS)
		result = f->table->resolve_dpu(f->view, name, &dpu);
	if (result != DOCA_SUCCESS)
		return fleet_fault(f, result, error);
	snprintf(resolved->dpu, sizeof(resolved->dpu), "%s", dpu->name);
	return take_addresses(resolved, dpu, error);
}

/* A pre-shared key does not prove which DPU answers. */
static doca_error_t check_proof(const struct options *o, struct dpumap_error *error)
{
	if (o->tls.psk)
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"a pre-shared key does not prove the name of a DPU: in a "
					"fleet, use certificates (--cert, --key, --ca)");
	if (!o->tls.cert || !o->tls.key || !o->tls.ca)
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"in a fleet, hosts and DPUs authenticate with "
					"certificates: set --cert, --key and --ca, or tls in the "
					"configuration");
	return DOCA_SUCCESS;
}

static void use(struct options *o, struct resolved_export *resolved, int argument)
{
	const char *colon = strchr(o->args[argument], ':');

	snprintf(resolved->argument, sizeof(resolved->argument), "%s", colon ? colon : ":");
	o->args[argument] = colon ? resolved->argument + !fleet_name_keeps_colon(o) : NULL;
	o->connect = resolved->addresses[0];
	o->server = resolved->dpu;
	o->resolved = resolved;
}

doca_error_t resolve_export(struct options *options, struct resolved_export *resolved,
			    struct dpumap_error *error)
{
	int argument = options->fleet ? fleet_name_argument(options) : -1;
	struct fleet f = {0};
	doca_error_t result;

	*resolved = (struct resolved_export){0};
	if (argument < 0)
		return DOCA_SUCCESS;
	result = check_proof(options, error);
	if (result == DOCA_SUCCESS)
		result = fleet_open(options, options->args[argument], &f, error);
	if (result == DOCA_SUCCESS)
		result = look_up(&f, options->args[argument], resolved, error);
	fleet_close(&f);
	if (result == DOCA_SUCCESS)
		use(options, resolved, argument);
	return result;
}

void resolved_free(struct resolved_export *resolved)
{
	json_object_put(resolved->labels);
}

static const char *label_at(const struct resolved_export *resolved, size_t i)
{
	return json_object_get_string(json_object_array_get_idx(resolved->labels, i));
}

void resolved_report(const struct resolved_export *resolved)
{
	size_t num = resolved && resolved->labels ? json_object_array_length(resolved->labels) : 0;

	if (!resolved)
		return;
	printf("DPU          %s\n", resolved->dpu);
	for (size_t i = 0; i < num; i++)
		printf("%-12s %s\n", i ? "" : "labels", label_at(resolved, i));
}

void resolved_add_json(const struct resolved_export *resolved, struct json_object *object)
{
	if (!resolved)
		return;
	json_add_text(object, "dpu", resolved->dpu);
	if (resolved->labels)
		json_object_object_add(object, "labels", json_object_get(resolved->labels));
}
