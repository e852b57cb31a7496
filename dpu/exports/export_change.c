/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/export_change.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dpu/base/log.h"
#include "dpu/base/loop.h"
#include "dpu/exports/export_table_priv.h"

/* A change of more exports than this registers the others when it is in effect: see export_table_work(). */
#define REGISTERED_FIRST 256

/* One export of a change. */
struct item {
	struct export_spec *spec;   /* wanted; NULL: none, or it has been made */
	struct named_export *old;   /* to be replaced or removed; NULL: none */
	struct named_export *fresh; /* NULL: not made, or to be removed */
	bool keeps_memory;
	bool may_fail;
	bool stays; /* old stays, with these labels, and is from this file */
	uint32_t file;
	struct export_labels labels;
};

struct export_change {
	struct export_table *exports;
	struct export_spec added; /* of export_change_add() */
	atomic_bool is_cancelled;
	bool (*stops)(void); /* or NULL */
	bool completes;	     /* the table, as all files were loaded */
	struct failed_exports failed;
	size_t applied;
	size_t num;
	struct item items[];
};

/* --- exports that end meanwhile --------------------------------------------------------------- */

/* Not by a change of all exports; one that is in progress cannot bring it back. */
static void lose_one(struct export_table *exports, const struct named_export *export)
{
	if (!export_get_spec(export)->file)
		return;
	exports->is_incomplete = true;
	if (exports->change)
		exports->change->completes = false;
}

void export_change_forget(struct export_table *exports, const struct named_export *export)
{
	struct export_change *change = exports->change;

	lose_one(exports, export);
	if (!change)
		return;
	for (size_t i = change->applied; i < change->num; i++) {
		struct item *item = &change->items[i];

		if (item->old != export)
			continue;
		item->old = NULL;
		if (!item->keeps_memory)
			continue;
		export_destroy(item->fresh);
		item->fresh = NULL;
	}
}

/* --- planning --------------------------------------------------------------------------------- */

/* NULL with the reason. */
static struct export_change *plan(struct export_table *exports, size_t max_items, size_t max_new,
				  struct dpumap_error *error)
{
	struct export_change *change;

	if (export_table_make_room(exports, max_new, error) != DOCA_SUCCESS)
		return NULL;
	change = calloc(1, sizeof(*change) + max_items * sizeof(change->items[0]));
	if (!change) {
		dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for further exports");
		return NULL;
	}
	change->exports = exports;
	exports->waits = false;
	export_spec_init(&change->added);
	exports->change = change;
	return change;
}

doca_error_t export_change_add(struct export_table *exports, struct export_spec *spec,
			       struct export_change **change, struct dpumap_error *error)
{
	struct export_change *planned;

	if (export_table_is_at(exports, export_table_lower_bound(exports, spec->name), spec->name))
		return dpumap_error_set(error, DOCA_ERROR_ALREADY_EXIST, "export %s already exists",
					spec->name);
	planned = plan(exports, 1, 1, error);
	if (!planned)
		return error->code;
	planned->added = *spec;
	export_spec_init(spec);
	planned->items[planned->num++].spec = &planned->added;
	*change = planned;
	return DOCA_SUCCESS;
}

doca_error_t export_change_remove(struct export_table *exports, const char *name,
				  struct export_change **change, struct dpumap_error *error)
{
	struct named_export *old = export_table_find(exports, name, error);
	struct export_change *planned;

	if (!old)
		return error->code;
	planned = plan(exports, 1, 0, error);
	if (!planned)
		return error->code;
	planned->items[planned->num++].old = old;
	lose_one(exports, old);
	*change = planned;
	return DOCA_SUCCESS;
}

static bool is_unchanged(const struct named_export *export, const struct export_dir *dir)
{
	uint32_t file = export_get_spec(export)->file;

	return file && export_dir_is_unchanged(dir, file);
}

/* Both lists are sorted by name: one walk through both. Most exports are of files that have not changed. */
static void plan_removals(struct export_change *change, const struct export_list *wanted,
			  const struct export_dir *dir)
{
	const struct export_table *exports = change->exports;
	const struct export_spec *specs = wanted->specs;
	size_t num = wanted->num, at = 0;

	for (size_t i = 0; i < exports->count; i++) {
		struct named_export *export = exports->list[i];

		if (is_unchanged(export, dir))
			continue;
		while (at < num && strcmp(specs[at].name, export_name(export)) < 0)
			at++;
		if (at < num && strcmp(specs[at].name, export_name(export)) == 0)
			continue;
		if (!export_get_spec(export)->is_temporary)
			change->items[change->num++].old = export;
	}
}

static void plan_one(struct export_change *change, struct export_spec *spec,
		     struct named_export *old)
{
	bool is_same = old && export_is(old, spec);
	const struct export_spec *was = old ? export_get_spec(old) : NULL;

	if (is_same && was->file == spec->file && was->is_temporary == spec->is_temporary &&
	    export_labels_are_equal(&was->labels, &spec->labels))
		return;
	change->items[change->num++] = (struct item){
		.spec = spec,
		.old = old,
		.stays = is_same,
		.file = spec->file,
		.may_fail = !old && failed_exports_has(&change->exports->failed, spec->name),
		.keeps_memory = old && !is_same && export_has_memory_of(old, spec)};
}

static doca_error_t plan_additions(struct export_change *change, const struct export_list *wanted,
				   const struct export_dir *dir, struct dpumap_error *error)
{
	const struct export_table *exports = change->exports;
	size_t at = 0;

	for (size_t i = 0; i < wanted->num; i++) {
		struct export_spec *spec = &wanted->specs[i];
		struct named_export *old;

		at = export_table_lower_bound_from(exports, at, spec->name);
		old = export_table_is_at(exports, at, spec->name) ? exports->list[at] : NULL;
		if (old && is_unchanged(old, dir))
			return dpumap_error_set(
				error, DOCA_ERROR_ALREADY_EXIST,
				"there are two exports called %s, in %.100s and in %.100s",
				spec->name, export_dir_path(dir, export_get_spec(old)->file),
				export_dir_path(dir, spec->file));
		plan_one(change, spec, old);
	}
	return DOCA_SUCCESS;
}

doca_error_t export_change_set(struct export_table *exports, struct export_list *wanted,
			       const struct export_dir *dir, struct export_change **change,
			       struct dpumap_error *error)
{
	struct export_change *planned = plan(exports, exports->count + wanted->num, 0, error);
	size_t num_new = 0;
	doca_error_t result;

	if (!planned)
		return error->code;
	planned->completes = !dir->num_unchanged;
	plan_removals(planned, wanted, dir);
	result = plan_additions(planned, wanted, dir, error);
	for (size_t i = 0; i < planned->num; i++)
		num_new += !planned->items[i].old;
	if (result == DOCA_SUCCESS)
		result = export_table_make_room(exports, num_new, error);
	if (result != DOCA_SUCCESS)
		export_change_destroy(planned);
	else
		*change = planned;
	return result;
}

/* --- making and applying ---------------------------------------------------------------------- */

static doca_error_t make(struct export_change *change, struct item *item,
			 struct dpumap_error *error)
{
	const struct dpumap_device *device = &change->exports->device;
	struct export_spec *spec = item->spec;

	item->spec = NULL;
	if (!spec)
		return DOCA_SUCCESS;
	if (item->stays) {
		item->labels = spec->labels;
		spec->labels = (struct export_labels){0};
		return DOCA_SUCCESS;
	}
	if (atomic_load(&change->is_cancelled) || (change->stops && change->stops()))
		return dpumap_error_set(error, DOCA_ERROR_SHUTDOWN, "dpumapd ends");
	if (item->keeps_memory)
		return export_create_successor(device, item->old, spec, &item->fresh, error);
	return export_create(device, spec, item - change->items >= REGISTERED_FIRST, &item->fresh,
			     error);
}

static void undo(struct export_change *change)
{
	for (size_t i = change->applied; i < change->num; i++) {
		export_destroy(change->items[i].fresh);
		change->items[i].fresh = NULL;
	}
}

static doca_error_t make_or_note(struct export_change *change, struct item *item,
				 struct dpumap_error *error)
{
	const struct export_spec *spec = item->spec;
	doca_error_t result = make(change, item, error);

	if (result == DOCA_SUCCESS || result == DOCA_ERROR_SHUTDOWN || !item->may_fail)
		return result;
	return failed_exports_add(&change->failed, spec->name, error);
}

doca_error_t export_change_make(struct export_change *change, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; i < change->num && result == DOCA_SUCCESS; i++)
		result = make_or_note(change, &change->items[i], error);
	if (result != DOCA_SUCCESS)
		undo(change);
	return result;
}

void export_change_cancel(struct export_change *change)
{
	atomic_store(&change->is_cancelled, true);
}

/* The old export keeps its spec, for export_change_dispose(). */
static void end_old(struct export_table *exports, const struct item *item)
{
	const struct export_spec *was = export_get_spec(item->old);
	size_t index = export_table_lower_bound(exports, was->name);

	export_end(&exports->device, item->old);
	if (!item->keeps_memory) {
		export_table_take_out(exports, index);
		log_line("export %s removed", was->name);
		export_table_announce(exports, was, export_id(item->old), NULL);
		return;
	}
	export_succeed(item->fresh, item->old);
	export_table_replace(exports, index, item->fresh);
	export_log(item->fresh, &exports->device, "changed");
	export_table_announce(exports, was, export_id(item->old), export_get_spec(item->fresh));
}

static void put_fresh(struct export_table *exports, struct named_export *fresh)
{
	export_set_id(fresh, exports->next_id++);
	export_table_insert(exports, export_table_lower_bound(exports, export_name(fresh)), fresh);
	failed_exports_remove(&exports->failed, export_name(fresh));
	export_log(fresh, &exports->device, "created");
	export_table_announce(exports, NULL, 0, export_get_spec(fresh));
}

/* The clients that hold the export keep it. */
static void let_stay(struct export_table *exports, struct item *item)
{
	if (!item->old)
		return;
	export_set_file(item->old, item->file);
	if (!export_labels_are_equal(&export_get_spec(item->old)->labels, &item->labels)) {
		export_swap_labels(item->old, &item->labels);
		log_line("export %s has new labels", export_name(item->old));
		exports->version++;
	}
	item->old = NULL;
}

/* All exports exist that can. */
static void record_failures(struct export_change *change)
{
	struct export_table *exports = change->exports;

	if (!change->completes)
		return;
	failed_exports_free(&exports->failed);
	exports->failed = change->failed;
	change->failed = (struct failed_exports){0};
	for (size_t i = 0; i < exports->failed.num; i++)
		log_from(DPUMAP_LINE_ERROR, "exports that failed",
			 "%s; the other exports are served, and a reload tries again",
			 exports->failed.list[i].why);
	exports->is_incomplete = exports->failed.num;
}

bool export_change_must_wait(const struct export_change *change)
{
	const struct item *item = &change->items[change->applied];

	return change->applied < change->num && item->old && !item->stays &&
	       export_is_registering(item->old);
}

bool export_change_apply(struct export_change *change)
{
	uint64_t end = monotonic_ns() + LOOP_SHARE_NS;

	for (int i = 0; i < WORK_AT_ONCE && change->applied < change->num; i++) {
		struct item *item = &change->items[change->applied];

		if (export_change_must_wait(change))
			break;
		change->applied++;

		if (item->stays)
			let_stay(change->exports, item);
		if (item->old)
			end_old(change->exports, item);
		if (item->fresh && !item->keeps_memory)
			put_fresh(change->exports, item->fresh);
		if (monotonic_ns() >= end) /* there are many clients */
			break;
	}
	if (change->applied < change->num)
		return true;
	record_failures(change);
	return false;
}

void export_change_dispose(struct export_change *change)
{
	for (size_t i = 0; i < change->applied; i++) {
		export_destroy(change->items[i].old);
		change->items[i].old = NULL;
	}
}

void export_change_destroy(struct export_change *change)
{
	if (!change || export_table_is_lost(change->exports))
		return;
	undo(change);
	export_change_dispose(change);
	for (size_t i = 0; i < change->num; i++)
		export_labels_free(&change->items[i].labels);
	export_spec_free(&change->added);
	failed_exports_free(&change->failed);
	change->exports->change = NULL;
	free(change);
}

doca_error_t export_change_set_now(struct export_table *exports, struct export_list *wanted,
				   const struct export_dir *dir, bool may_fail, bool (*stops)(void),
				   struct dpumap_error *error)
{
	struct export_change *change = NULL;
	doca_error_t result;

	result = export_change_set(exports, wanted, dir, &change, error);
	if (!change)
		return result;
	change->stops = stops;
	for (size_t i = 0; i < change->num; i++)
		change->items[i].may_fail = may_fail;
	result = export_change_make(change, error);
	if (result == DOCA_SUCCESS && change->num && change->failed.num == change->num)
		result = error->code;
	if (result == DOCA_SUCCESS)
		while (export_change_apply(change))
			;
	export_change_destroy(change);
	return result;
}
