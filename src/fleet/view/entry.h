/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A record in the view. A fleet may have a million exports: each is one block, without what all exports
 * of its DPU have in common, and becomes a struct dpumap_fleet_export only while it is looked at.
 */
#ifndef DPUMAP_FLEET_VIEW_ENTRY_H
#define DPUMAP_FLEET_VIEW_ENTRY_H

#include <sys/queue.h>

#include "fleet/record/record.h"
#include "fleet/view/view.h"

struct view_dpu;

struct view_entry {
	struct view_entry *next; /* in the bucket */
	struct view_dpu *owner;	 /* of an export; NULL: it is a DPU */
	int64_t revision;
	uint32_t hash;
	uint32_t seen; /* the last sync that put it */
};

struct view_export {
	struct view_entry entry;
	LIST_ENTRY(view_export) link; /* in the owner's list */
	uint64_t size, generation;
	uint32_t access;
	uint8_t kind, via; /* indices of their names */
	uint8_t num_labels;
	bool needs_newer;
	char texts[]; /* the name, and the labels */
};

struct view_dpu {
	struct view_entry entry;
	LIST_HEAD(view_exports, view_export) exports;
	struct dpumap_fleet_dpu *dpu;
	size_t bytes; /* of the record */
};

/* An export as others see it, while its entry is in the view. */
struct view_unpacked {
	struct dpumap_fleet_export export_info;
	const char *labels[DPUMAP_RECORD_LABELS_MAX];
};

/* owner is NULL for a DPU. INVALID_VALUE, TOO_BIG, NO_MEMORY. */
doca_error_t dpumap_view_entry_make(const struct dpumap_view_record *record, struct view_dpu *owner,
				    struct view_entry **entry, struct dpumap_error *error);
void dpumap_view_entry_free(struct view_entry *entry);
/* About what it needs. */
size_t dpumap_view_entry_bytes(const struct view_entry *entry);
/* Both are members of the structure. */
struct view_dpu *dpumap_view_entry_dpu(struct view_entry *entry);
struct view_export *dpumap_view_entry_export(struct view_entry *entry);
void dpumap_view_unpack(const struct view_entry *entry, struct view_unpacked *unpacked);
bool dpumap_view_entry_is_newer(const struct view_entry *entry);
/* The name of the DPU; that of the export, or "". */
const char *dpumap_view_entry_dpu_name(const struct view_entry *entry);
const char *dpumap_view_entry_name(const struct view_entry *entry);

#endif
