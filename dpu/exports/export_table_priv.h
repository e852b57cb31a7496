/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the table and its changes share. */
#ifndef DPUMAPD_EXPORT_TABLE_PRIV_H
#define DPUMAPD_EXPORT_TABLE_PRIV_H

#include "dpu/exports/export_change.h"
#include "dpu/exports/export_ids.h"
#include "dpu/exports/export_table.h"
#include "dpu/exports/failed_exports.h"
#include "dpu/exports/importers.h"

/* Exports that export_table_work() and export_change_apply() look at in one call. */
#define WORK_AT_ONCE 16
/* The same for export_table_check(): of which it looks at the files of so many, and passes so many others over. */
#define CHECKED_AT_ONCE 64
#define PASSED_AT_ONCE	4096

struct export_table {
	struct dpumap_device device;
	struct named_export **list; /* by name */
	size_t count;
	size_t room;
	struct export_ids ids;
	struct importers importers;
	struct export_table_totals totals;
	struct failed_exports failed;
	bool is_incomplete; /* see export_table_is_complete() */
	bool waits;	 /* registering failed: unregistered exports wait for their first clients */
	size_t next_due; /* before this index, no export is due for another descriptor */
	size_t next_unregistered; /* before this index, no export is to be registered */
	size_t unchecked;	  /* before this index, exports are still to be checked */
	struct workers *workers;
	size_t num_registering;
	const struct named_export *registering; /* without a client that asked for it; NULL: none */
	uint64_t next_id;
	uint64_t version;
	export_table_changed_fn *changed;
	export_table_registered_fn *registered;
	void *context;
	struct export_change *change; /* planned or in progress; NULL: none */
};

static inline const char *export_name(const struct named_export *export)
{
	return export_get_spec(export)->name;
}

/* The index of name, or where it would be inserted. */
size_t export_table_lower_bound(const struct export_table *exports, const char *name);
/* The same for a name that is not before from. */
size_t export_table_lower_bound_from(const struct export_table *exports, size_t from,
				     const char *name);
bool export_table_is_at(const struct export_table *exports, size_t index, const char *name);
/* For as many more exports: then export_table_insert() cannot fail. */
doca_error_t export_table_make_room(struct export_table *exports, size_t num,
				    struct dpumap_error *error);
void export_table_insert(struct export_table *exports, size_t index, struct named_export *export);
struct named_export *export_table_take_out(struct export_table *exports, size_t index);
/* Replaces the export there by its successor, which has the same memory. */
void export_table_replace(struct export_table *exports, size_t index, struct named_export *fresh);
/* Calls the function of export_table_on_change(), if there is one. */
void export_table_announce(struct export_table *exports, const struct export_spec *was,
			   uint64_t was_id, const struct export_spec *is);
/* After export_table_lose(). */
bool export_table_is_lost(const struct export_table *exports);

#endif
