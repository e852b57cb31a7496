/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where an export of a fleet is. A command that names DPU:EXPORT asks the registry for the addresses
 * of the DPU; from then on it works as with --connect. The DPU must authenticate with the name DPU,
 * so a wrong address leads to a failure and nothing else.
 */
#ifndef DPUMAP_HOST_PLACE_H
#define DPUMAP_HOST_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include <dpumap/fleet.h>

#include "channel/address.h"
#include "options.h"

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

/* Has it the form DPU:EXPORT, of names or patterns? A path with a slash before the colon has not. */
bool place_is_name(const char *text);
/* The argument that names an export of a fleet, or the DPU for info; -1: none. */
int place_argument(const struct options *options);
/* Does the command line make sense only in a fleet; or may it be that of a fleet? */
bool place_is_required(const struct options *options);
bool place_is_wanted(const struct options *options);
/* The error in the command line, or NULL. */
const char *place_check(const struct options *options);

/* Usage error of list. */
extern const char place_list_needs_fleet[];

/*
 * Asks the registry for the place of the export that an argument names, if one does, and completes
 * the options with it.
 */
doca_error_t place_find(struct options *options, struct place *place, struct dpumap_fault *fault);
void place_free(struct place *place);

/* What the registry says, as text and as members of an object. place may be NULL: nothing. */
void place_report(const struct place *place);
void place_add_json(const struct place *place, struct json_object *object);

#endif
