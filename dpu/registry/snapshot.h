/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What is to be published: a copy of this DPU's and its exports' properties, for another thread. */
#ifndef DPUMAPD_SNAPSHOT_H
#define DPUMAPD_SNAPSHOT_H

#include "dpu/exports/export_table.h"
#include "dpu/registry/registry_settings.h"
#include "fleet/table.h"

struct snapshot;

/* Without exports. NO_MEMORY. */
doca_error_t snapshot_create(const struct registry_settings *settings, uint64_t card_guid,
			     uint64_t generation, struct snapshot **snapshot,
			     struct dpumap_error *error);
/*
 * Adds the next exports by name: AGAIN if there may be more, for which a later turn of the loop calls again. Exports
 * may change meanwhile; a change of those that are copied already needs another snapshot. NO_MEMORY.
 */
doca_error_t snapshot_add_some(struct snapshot *snapshot, const struct export_table *exports,
			       struct dpumap_error *error);
/* Sets it as what the publisher publishes. */
doca_error_t snapshot_publish(const struct snapshot *snapshot,
			      const struct dpumap_fleet_table *fleet,
			      struct dpumap_publisher *publisher, struct dpumap_error *error);
/* NULL is allowed. */
void snapshot_free(struct snapshot *snapshot);

#endif
