/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Records of DPUs and exports as JSON (docs/schema/fleet-*.json). A record is at most 4096 bytes. */
#ifndef DPUMAP_FLEET_RECORD_H
#define DPUMAP_FLEET_RECORD_H

#include <stddef.h>

#include <dpumap/fleet.h>

#include "local/error.h"

#define DPUMAP_RECORD_MAX	    4096
#define DPUMAP_RECORD_ADDRESSES_MAX 8
#define DPUMAP_RECORD_LABELS_MAX    16

/* What the kind and the transport of an export may be; NULL at the end. */
extern const char *const dpumap_record_kinds[];
extern const char *const dpumap_record_vias[];

/*
 * INVALID_VALUE with the reason: a field has a value that a record cannot have. TOO_BIG, NO_MEMORY.
 * The caller frees the text.
 */
doca_error_t dpumap_record_encode_dpu(const struct dpumap_fleet_dpu *dpu, char **text,
				      struct dpumap_error *error);
doca_error_t dpumap_record_encode_export(const struct dpumap_fleet_export *export_info, char **text,
					 struct dpumap_error *error);

/*
 * Decodes bytes of a stranger; the names are those of the key. INVALID_VALUE with the reason if the
 * record is malformed, TOO_BIG, NO_MEMORY. A record of a newer major version succeeds, with
 * needs_newer. The record is one block, which the caller frees.
 */
doca_error_t dpumap_record_decode_dpu(const char *name, const void *bytes, size_t len,
				      struct dpumap_fleet_dpu **dpu, struct dpumap_error *error);
doca_error_t dpumap_record_decode_export(const char *dpu, const char *name, const void *bytes,
					 size_t len, struct dpumap_fleet_export **export_info,
					 struct dpumap_error *error);

#endif
