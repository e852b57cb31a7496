/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where an export of a fleet is. A command that names DPU:EXPORT asks the registry for the addresses
 * of the DPU; from then on it works as with --connect. The DPU must authenticate with the name DPU,
 * so a wrong address leads to a failure and nothing else.
 */
#ifndef DPUMAP_HOST_RESOLVE_H
#define DPUMAP_HOST_RESOLVE_H

#include <stddef.h>

#include <dpumap/fleet.h>

#include "channel/address.h"
#include "host/settings/options.h"

#define RESOLVED_NAME_MAX      (DPUMAP_FLEET_NAME_MAX + 1)
#define RESOLVED_ADDRESSES_MAX 8
#define RESOLVED_ADDRESS_MAX   (sizeof("tls:[]:") + DPUMAP_HOST_MAX + DPUMAP_PORT_MAX)

struct json_object;

struct resolved_export {
	char dpu[RESOLVED_NAME_MAX];
	char argument[1 +
		      RESOLVED_NAME_MAX]; /* ":EXPORT", as cp expects it; ":" for the DPU alone */
	char addresses[RESOLVED_ADDRESSES_MAX][RESOLVED_ADDRESS_MAX];
	size_t num_addresses;
	struct json_object *labels; /* of the export, "KEY=VALUE"; or NULL */
};

/*
 * Asks the registry where the export is that an argument names, if one does, and completes
 * the options with it.
 */
doca_error_t resolve_export(struct options *options, struct resolved_export *resolved,
			    struct dpumap_error *error);
void resolved_free(struct resolved_export *resolved);

/* What the registry says, as text and as members of an object. resolved may be NULL: nothing. */
void resolved_report(const struct resolved_export *resolved);
void resolved_add_json(const struct resolved_export *resolved, struct json_object *object);

#endif
