/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where an export of a fleet is. A command that names DPU:EXPORT asks the registry for the addresses
 * of the DPU; from then on it works as with --connect. The DPU must authenticate with the name DPU,
 * so a wrong address leads to a failure and nothing else.
 */
#ifndef DPUMAP_HOST_PLACE_H
#define DPUMAP_HOST_PLACE_H

#include <stddef.h>

#include <dpumap/fleet.h>

#include "channel/address.h"
#include "host/settings/options.h"

#define PLACE_NAME_MAX	    (DPUMAP_FLEET_NAME_MAX + 1)
#define PLACE_ADDRESSES_MAX 8
#define PLACE_ADDRESS_MAX   (sizeof("tls:[]:") + DPUMAP_HOST_MAX + DPUMAP_PORT_MAX)

struct json_object;

struct place {
	char dpu[PLACE_NAME_MAX];
	char argument[1 + PLACE_NAME_MAX]; /* ":EXPORT", as cp expects it; ":" for the DPU alone */
	char addresses[PLACE_ADDRESSES_MAX][PLACE_ADDRESS_MAX];
	size_t num_addresses;
	struct json_object *labels; /* of the export, "KEY=VALUE"; or NULL */
};

/*
 * Asks the registry for the place of the export that an argument names, if one does, and completes
 * the options with it.
 */
doca_error_t place_find(struct options *options, struct place *place, struct dpumap_error *error);
void place_free(struct place *place);

/* What the registry says, as text and as members of an object. place may be NULL: nothing. */
void place_report(const struct place *place);
void place_add_json(const struct place *place, struct json_object *object);

#endif
