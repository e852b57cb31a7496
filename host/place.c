/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "place.h"

#include <stdio.h>
#include <string.h>

#include "fleet.h"
#include "fleet/table.h"
#include "json.h"

const char place_list_needs_fleet[] =
	"list takes a PATTERN only in a fleet: use --fleet, or set registry in dpumap.conf";

bool place_is_name(const char *text)
{
	const char *colon = text ? strchr(text, ':') : NULL;

	return colon && colon != text && colon[1] && !memchr(text, '/', (size_t)(colon - text));
}

static bool is_cp(const struct options *o)
{
	return strcmp(o->command->cli.name, "cp") == 0;
}

/* Of the two arguments of cp, ":NAME" is an export of a dpumapd, and the other one then a file. */
static int argument_of_cp(const struct options *o)
{
	if (o->num_args == 3)
		return place_is_name(o->args[1]) ? 1 : -1;
	for (int i = 0; i < 2; i++)
		if (!o->args[i] || o->args[i][0] == ':')
			return -1;
	for (int i = 0; i < 2; i++)
		if (place_is_name(o->args[i]))
			return i;
	return -1;
}

int place_argument(const struct options *options)
{
	unsigned int takes = options->command->cli.takes;

	if (!(takes & OPTION_FLEET) || takes & OPTION_PATTERN)
		return -1;
	if (is_cp(options))
		return argument_of_cp(options);
	if (place_is_name(options->args[0]))
		return 0;
	/* info DPU */
	return options->fleet && options->args[0] && takes & OPTION_DPU ? 0 : -1;
}

bool place_is_required(const struct options *options)
{
	return options->num_labels || strncmp(options->command->cli.name, "fleet ", 6) == 0;
}

bool place_is_wanted(const struct options *options)
{
	bool is_pattern = options->command->cli.takes & OPTION_PATTERN;

	return place_is_required(options) || place_argument(options) >= 0 ||
	       (is_pattern && place_is_name(options->args[0]));
}

static const char *check_pattern(const struct options *o)
{
	bool is_list = strcmp(o->command->cli.name, "list") == 0;

	if (o->num_labels && o->connect)
		return "--label and --connect exclude each other: only exports in a fleet have "
		       "labels";
	if (!o->fleet && is_list && o->args[0] && !place_is_wanted(o))
		return place_list_needs_fleet;
	return NULL;
}

const char *place_check(const struct options *options)
{
	unsigned int takes = options->command->cli.takes;

	if (!(takes & OPTION_FLEET))
		return NULL;
	if (options->fleet && options->connect)
		return "--fleet and --connect exclude each other: the registry has the addresses";
	if (options->fleet && options->server)
		return "--fleet and --server exclude each other: the certificate must contain the "
		       "name of the DPU";
	if (options->fleet && options->descriptor)
		return "--fleet and --descriptor exclude each other";
	if (takes & OPTION_PATTERN)
		return check_pattern(options);
	if (is_cp(options) && options->num_args == 2 && place_is_name(options->args[0]) &&
	    place_is_name(options->args[1]))
		return "cp needs one export and one file (write ./FILE if its name has a colon)";
	if (options->fleet && place_argument(options) < 0)
		return takes & OPTION_DPU ? "with --fleet, info needs DPU or DPU:EXPORT"
					  : "with --fleet, an export is named DPU:EXPORT";
	return NULL;
}

/* -- the records -- */

static doca_error_t take_addresses(struct place *place, const struct dpumap_fleet_dpu *dpu,
				   struct dpumap_fault *fault)
{
	for (size_t i = 0; i < dpu->num_addresses && i < PLACE_ADDRESSES_MAX; i++) {
		const char *address = dpu->addresses[i];

		/* On a Unix socket nobody would prove the name. */
		if (strncmp(address, "tls:", 4) == 0 && strlen(address) < PLACE_ADDRESS_MAX)
			memcpy(place->addresses[place->num_addresses++], address,
			       strlen(address) + 1);
	}
	if (!place->num_addresses)
		return dpumap_fault_set(fault, DOCA_ERROR_NOT_FOUND,
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
			    struct dpumap_fault *fault)
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
		return fleet_fault(f, result, fault);
	snprintf(place->dpu, sizeof(place->dpu), "%s", dpu->name);
	return take_addresses(place, dpu, fault);
}

/* A pre-shared key does not prove which DPU answers. */
static doca_error_t check_proof(const struct options *o, struct dpumap_fault *fault)
{
	if (o->tls.psk)
		return dpumap_fault_set(fault, DOCA_ERROR_BAD_CONFIG,
					"a pre-shared key does not prove the name of a DPU: in a "
					"fleet, use certificates (--cert, --key, --ca)");
	if (!o->tls.cert || !o->tls.key || !o->tls.ca)
		return dpumap_fault_set(fault, DOCA_ERROR_BAD_CONFIG,
					"in a fleet, hosts and DPUs authenticate with "
					"certificates: set --cert, --key and --ca, or tls in the "
					"configuration");
	return DOCA_SUCCESS;
}

static void use(struct options *o, struct place *place, int argument)
{
	const char *colon = strchr(o->args[argument], ':');
	bool keeps_colon = is_cp(o) && o->num_args == 2;

	snprintf(place->argument, sizeof(place->argument), "%s", colon ? colon : ":");
	o->args[argument] = colon ? place->argument + !keeps_colon : NULL;
	o->connect = place->addresses[0];
	o->server = place->dpu;
	o->place = place;
}

doca_error_t place_find(struct options *options, struct place *place, struct dpumap_fault *fault)
{
	int argument = options->fleet ? place_argument(options) : -1;
	struct fleet f = {0};
	doca_error_t result;

	*place = (struct place){0};
	if (argument < 0)
		return DOCA_SUCCESS;
	result = check_proof(options, fault);
	if (result == DOCA_SUCCESS)
		result = fleet_open(options, &f, fault);
	if (result == DOCA_SUCCESS)
		result = look_up(&f, options->args[argument], place, fault);
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
