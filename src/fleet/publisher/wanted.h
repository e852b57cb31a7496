/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The records of one DPU: what should be in etcd, and what is. */
#ifndef DPUMAP_FLEET_WANTED_H
#define DPUMAP_FLEET_WANTED_H

#include <stddef.h>
#include <stdint.h>

#include <dpumap/fleet.h>
#include <json-c/json.h>

#include "fleet/record/records.h"
#include "local/error.h"

/* The records of a DPU and its exports. INVALID_VALUE, TOO_BIG or NO_MEMORY with the reason. */
doca_error_t dpumap_wanted_make(const char *fleet, const struct dpumap_fleet_dpu *self,
				const struct dpumap_fleet_export *exports, size_t num_exports,
				struct dpumap_records *records, struct dpumap_error *error);

/*
 * Corrects what is thought to be in etcd by the keys that etcd lists (NULL: none): keys of strangers
 * are added with an empty text, and so are keys whose lease is not ours or that changed after our
 * last revision. own is the key of the DPU, which is not in the list. NO_MEMORY.
 */
doca_error_t dpumap_wanted_correct(struct dpumap_records *published, const char *own,
				   struct json_object *keys, int64_t lease, int64_t revision);

#endif
