/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/fleet/place.h"

#include <stdio.h>
#include <string.h>

#include "fleet/table.h"
#include "host/base/json.h"
#include "host/fleet/fleet.h"
#include "host/settings/place_name.h"

static doca_error_t take_addresses(struct place *place, const struct dpumap_fleet_dpu *dpu,
				   struct dpumap_error *error)
{
	for (size_t i = 0; i < dpu->num_addresses && i < PLACE_ADDRESSES_MAX; i++) {
		const char *address = dpu->addresses[i];

		/* On a Unix socket nobody would prove the name. */
		if (strncmp(address, "tls:", 4) == 0 && strlen(address) < PLACE_ADDRESS_MAX)
			memcpy(place->addresses[place->num_addresses++], address,
			       strlen(address) + 1);
	}
	if (!place->num_addresses)
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND,
					"the registry has no TLS address of DPU %s", place->dpu);
	return DOCA_SUCCESS;
}

static void take_labels(struct place *place, const struct dpumap_fleet_export *export)
{
	place->labels = json_object_new_array();
	for (size_t i = 0; i < export->num_labels; i++)
		json_object_array_add(place->labels, json_object_new_string(export->labels[i]));
}

static doca_error_t look_up(struct fleet *f, const char *name, struct place *place,
			    struct dpumap_error *error)
{
	const struct dpumap_fleet_export *export = NULL;
	const struct dpumap_fleet_dpu *dpu;
	doca_error_t result = DOCA_SUCCESS;

	if (strchr(name, ':'))
		result = f->table->resolve(f->view, name, &export);
	if (export)
		take_labels(place, export);
	if (result == DOCA_SUCCESS)
		result = f->table->resolve_dpu(f->view, name, &dpu);
	if (result != DOCA_SUCCESS)
		return fleet_fault(f, result, error);
	snprintf(place->dpu, sizeof(place->dpu), "%s", dpu->name);
	return take_addresses(place, dpu, error);
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

static void use(struct options *o, struct place *place, int argument)
{
	const char *colon = strchr(o->args[argument], ':');

	snprintf(place->argument, sizeof(place->argument), "%s", colon ? colon : ":");
	o->args[argument] = colon ? place->argument + !place_keeps_colon(o) : NULL;
	o->connect = place->addresses[0];
	o->server = place->dpu;
	o->place = place;
}

doca_error_t place_find(struct options *options, struct place *place, struct dpumap_error *error)
{
	int argument = options->fleet ? place_argument(options) : -1;
	struct fleet f = {0};
	doca_error_t result;

	*place = (struct place){0};
	if (argument < 0)
		return DOCA_SUCCESS;
	result = check_proof(options, error);
	if (result == DOCA_SUCCESS)
		result = fleet_open(options, &f, error);
	if (result == DOCA_SUCCESS)
		result = look_up(&f, options->args[argument], place, error);
	fleet_close(&f);
	if (result == DOCA_SUCCESS)
		use(options, place, argument);
	return result;
}

void place_free(struct place *place)
{
	json_object_put(place->labels);
}

static const char *label_at(const struct place *place, size_t i)
{
	return json_object_get_string(json_object_array_get_idx(place->labels, i));
}

void place_report(const struct place *place)
{
	size_t num = place && place->labels ? json_object_array_length(place->labels) : 0;

	if (!place)
		return;
	printf("DPU          %s\n", place->dpu);
	for (size_t i = 0; i < num; i++)
		printf("%-12s %s\n", i ? "" : "labels", label_at(place, i));
}

void place_add_json(const struct place *place, struct json_object *object)
{
	if (!place)
		return;
	json_add_text(object, "dpu", place->dpu);
	if (place->labels)
		json_object_object_add(object, "labels", json_object_get(place->labels));
}
