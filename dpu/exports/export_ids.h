/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds an export by its id, however many there are: a hash table with open addressing. */
#ifndef DPUMAPD_EXPORT_IDS_H
#define DPUMAPD_EXPORT_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "dpu/exports/export.h"
#include "local/error.h"

/* All zero is empty. */
struct export_ids {
	struct named_export **slots;
	size_t num_slots; /* a power of two, or 0 */
};

/* Makes room for num exports in all. NO_MEMORY: nothing has changed. */
doca_error_t export_ids_reserve(struct export_ids *ids, size_t num, struct dpumap_error *error);
void export_ids_free(struct export_ids *ids);
/* Room has been reserved. The id must not change while the export is here. */
void export_ids_add(struct export_ids *ids, struct named_export *export);
void export_ids_remove(struct export_ids *ids, const struct named_export *export);
/* NULL: none has this id. */
struct named_export *export_ids_find(const struct export_ids *ids, uint64_t id);

#endif
