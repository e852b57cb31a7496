/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/export_table.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <doca_mmap.h>
#include <dpumap/dm.h>

#include "dpu/base/log.h"
#include "dpu/exports/export_ids.h"

/* Exports that export_table_work() and export_change_apply() look at in one call. */
#define WORK_AT_ONCE 16
/* A change of more exports than this registers the others when it is in effect: see export_table_work(). */
#define REGISTERED_FIRST 256

struct export_table {
	struct dpumap_device device;
	struct named_export **list; /* by name */
	size_t count;
	size_t room;
	struct export_ids ids;
	bool is_incomplete; /* see export_table_is_complete() */
	bool waits;	 /* registering failed: unregistered exports wait for their first clients */
	size_t next_due; /* before this index, no export is due for a descriptor */
	uint64_t next_id;
	uint64_t version;
	export_table_changed_fn *changed;
	void *context;
	struct export_change *change; /* planned or in progress; NULL: none */
};

/* One export of a change. */
struct item {
	struct export_spec *spec;   /* wanted; NULL: none, or it has been made */
	struct named_export *old;   /* to be replaced or removed; NULL: none */
	struct named_export *fresh; /* NULL: not made, or to be removed */
	bool keeps_memory;
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
	size_t applied;
	size_t num;
	struct item items[];
};

/* Kept until the process ends. */
static const struct export_table *lost;

static const char *name_of(const struct named_export *export)
{
	return export_get_spec(export)->name;
}

static doca_error_t open_device(const char *which, struct dpumap_device *device,
				struct dpumap_fault *fault)
{
	doca_error_t result = dpumap_device_open(which, doca_mmap_cap_is_export_pci_supported,
						 "export memory over PCI", device, fault);

	if (result != DOCA_ERROR_NOT_SUPPORTED)
		return result;
	return dpumap_device_open(which, dpumap_device_can_connect, "export memory", device, fault);
}

doca_error_t export_table_create(const char *device, struct export_table **exports,
				 struct dpumap_fault *fault)
{
	struct export_table *e = calloc(1, sizeof(*e));
	doca_error_t result;

	if (!e)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for the exports");
	result = open_device(device, &e->device, fault);
	if (result != DOCA_SUCCESS) {
		free(e);
		return result;
	}
	e->next_id = 1;
	*exports = e;
	return DOCA_SUCCESS;
}

void export_table_destroy(struct export_table *exports)
{
	if (!exports || exports == lost)
		return;
	for (size_t i = exports->count; i > 0; i--)
		export_destroy(exports->list[i - 1]);
	doca_dev_close(exports->device.dev);
	free(exports->list);
	export_ids_free(&exports->ids);
	free(exports);
}

void export_table_on_change(struct export_table *exports, export_table_changed_fn *changed,
			    void *context)
{
	exports->changed = changed;
	exports->context = context;
}

static void announce(struct export_table *exports, const struct export_spec *was, uint64_t was_id,
		     const struct export_spec *is)
{
	exports->version++;
	if (exports->changed)
		exports->changed(exports->context, was, was_id, is);
}

/* -- the list -- */

/* The index of name, or where it would be inserted. */
static size_t lower_bound(const struct export_table *exports, const char *name)
{
	size_t low = 0, high = exports->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(name_of(exports->list[middle]), name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct export_table *exports, size_t index, const char *name)
{
	return index < exports->count && strcmp(name_of(exports->list[index]), name) == 0;
}

size_t export_table_after(const struct export_table *exports, const char *name)
{
	size_t index = lower_bound(exports, name);

	return index + is_at(exports, index, name);
}

uint64_t export_table_version(const struct export_table *exports)
{
	return exports->version;
}

size_t export_table_count(const struct export_table *exports)
{
	return exports->count;
}

uint64_t export_table_num_outstanding(const struct export_table *exports)
{
	uint64_t num = 0;

	for (size_t i = 0; i < exports->count; i++)
		num += export_num_outstanding(exports->list[i]);
	return num;
}

struct named_export *export_table_at(const struct export_table *exports, size_t index)
{
	return exports->list[index];
}

static doca_error_t not_found(const char *name, struct dpumap_fault *fault)
{
	return dpumap_fault_set(fault, DOCA_ERROR_NOT_FOUND, "there is no export called \"%s\"",
				name);
}

struct named_export *export_table_find(const struct export_table *exports, const char *name,
				       struct dpumap_fault *fault)
{
	size_t index = lower_bound(exports, name);

	if (is_at(exports, index, name))
		return exports->list[index];
	not_found(name, fault);
	return NULL;
}

struct named_export *export_table_find_id(const struct export_table *exports, uint64_t id)
{
	return export_ids_find(&exports->ids, id);
}

static doca_error_t make_room(struct export_table *exports, size_t num, struct dpumap_fault *fault)
{
	struct named_export **list;

	if (num <= exports->room - exports->count)
		return DOCA_SUCCESS;
	num += exports->count + exports->count / 2;
	if (export_ids_reserve(&exports->ids, num, fault) != DOCA_SUCCESS)
		return fault->code;
	list = reallocarray(exports->list, num, sizeof(struct named_export *));
	if (!list)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY,
					"no memory for further exports");
	exports->list = list;
	exports->room = num;
	return DOCA_SUCCESS;
}

static void is_due(struct export_table *exports, size_t index)
{
	if (index < exports->next_due)
		exports->next_due = index;
}

static void insert(struct export_table *exports, size_t index, struct named_export *export)
{
	memmove(&exports->list[index + 1], &exports->list[index],
		(exports->count - index) * sizeof(struct named_export *));
	exports->list[index] = export;
	exports->count++;
	export_ids_add(&exports->ids, export);
	if (index <= exports->next_due)
		exports->next_due = export_is_registered(export) ? exports->next_due + 1 : index;
}

static struct named_export *take_out(struct export_table *exports, size_t index)
{
	struct named_export *export = exports->list[index];

	exports->count--;
	export_ids_remove(&exports->ids, export);
	if (index < exports->next_due)
		exports->next_due--;
	memmove(&exports->list[index], &exports->list[index + 1],
		(exports->count - index) * sizeof(struct named_export *));
	return export;
}

/* -- changes -- */

/* The export ends outside the change in progress. */
static void forget(struct export_change *change, const struct named_export *export)
{
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

/* Not by a change of all exports; one that is in progress cannot bring it back. */
static void lose_one(struct export_table *exports, const struct named_export *export)
{
	if (!export_get_spec(export)->file)
		return;
	exports->is_incomplete = true;
	if (exports->change)
		exports->change->completes = false;
}

static void drop(struct export_table *exports, size_t index)
{
	struct named_export *export = take_out(exports, index);

	lose_one(exports, export);
	if (exports->change)
		forget(exports->change, export);
	export_end(export);
	log_line("export %s removed", name_of(export));
	announce(exports, export_get_spec(export), export_id(export), NULL);
	export_destroy(export);
}

/* NULL with the reason. */
static struct export_change *plan(struct export_table *exports, size_t max_items, size_t max_new,
				  struct dpumap_fault *fault)
{
	struct export_change *change;

	if (make_room(exports, max_new, fault) != DOCA_SUCCESS)
		return NULL;
	change = calloc(1, sizeof(*change) + max_items * sizeof(change->items[0]));
	if (!change) {
		dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for further exports");
		return NULL;
	}
	change->exports = exports;
	exports->waits = false;
	export_spec_init(&change->added);
	exports->change = change;
	return change;
}

void export_table_lose(struct export_table *exports)
{
	lost = exports;
	while (exports->count > 0) {
		const struct named_export *export = exports->list[--exports->count];

		export_ids_remove(&exports->ids, export);
		announce(exports, export_get_spec(export), export_id(export), NULL);
	}
}

doca_error_t export_change_add(struct export_table *exports, struct export_spec *spec,
			       struct export_change **change, struct dpumap_fault *fault)
{
	struct export_change *planned;

	if (is_at(exports, lower_bound(exports, spec->name), spec->name))
		return dpumap_fault_set(fault, DOCA_ERROR_ALREADY_EXIST, "export %s already exists",
					spec->name);
	planned = plan(exports, 1, 1, fault);
	if (!planned)
		return fault->code;
	planned->added = *spec;
	export_spec_init(spec);
	planned->items[planned->num++].spec = &planned->added;
	*change = planned;
	return DOCA_SUCCESS;
}

doca_error_t export_change_remove(struct export_table *exports, const char *name,
				  struct export_change **change, struct dpumap_fault *fault)
{
	struct named_export *old = export_table_find(exports, name, fault);
	struct export_change *planned;

	if (!old)
		return fault->code;
	planned = plan(exports, 1, 0, fault);
	if (!planned)
		return fault->code;
	planned->items[planned->num++].old = old;
	lose_one(exports, old);
	*change = planned;
	return DOCA_SUCCESS;
}

bool export_table_is_complete(const struct export_table *exports)
{
	return !exports->is_incomplete;
}

static bool is_unchanged(const struct named_export *export, const struct export_dir *dir)
{
	uint32_t file = export_get_spec(export)->file;

	return file && export_dir_is_unchanged(dir, file);
}

/* Both lists are sorted by name: one walk through both. */
static void plan_removals(struct export_change *change, const struct export_list *wanted,
			  const struct export_dir *dir)
{
	const struct export_table *exports = change->exports;
	const struct export_spec *specs = wanted->specs;
	size_t num = wanted->num, at = 0;

	for (size_t i = 0; i < exports->count; i++) {
		struct named_export *export = exports->list[i];

		while (at < num && strcmp(specs[at].name, name_of(export)) < 0)
			at++;
		if (at < num && strcmp(specs[at].name, name_of(export)) == 0)
			continue;
		if (!export_get_spec(export)->is_temporary && !is_unchanged(export, dir))
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
	change->items[change->num++] =
		(struct item){.spec = spec,
			      .old = old,
			      .stays = is_same,
			      .file = spec->file,
			      .keeps_memory = old && !is_same && export_has_memory_of(old, spec)};
}

static doca_error_t plan_additions(struct export_change *change, const struct export_list *wanted,
				   const struct export_dir *dir, struct dpumap_fault *fault)
{
	const struct export_table *exports = change->exports;
	size_t at = 0;

	for (size_t i = 0; i < wanted->num; i++) {
		struct export_spec *spec = &wanted->specs[i];
		struct named_export *old;

		while (at < exports->count && strcmp(name_of(exports->list[at]), spec->name) < 0)
			at++;
		old = is_at(exports, at, spec->name) ? exports->list[at] : NULL;
		if (old && is_unchanged(old, dir))
			return dpumap_fault_set(
				fault, DOCA_ERROR_ALREADY_EXIST,
				"there are two exports called %s, in %.100s and in %.100s",
				spec->name, export_dir_path(dir, export_get_spec(old)->file),
				export_dir_path(dir, spec->file));
		plan_one(change, spec, old);
	}
	return DOCA_SUCCESS;
}

doca_error_t export_change_set(struct export_table *exports, struct export_list *wanted,
			       const struct export_dir *dir, struct export_change **change,
			       struct dpumap_fault *fault)
{
	struct export_change *planned = plan(exports, exports->count + wanted->num, 0, fault);
	size_t num_new = 0;
	doca_error_t result;

	if (!planned)
		return fault->code;
	planned->completes = !dir->num_unchanged;
	plan_removals(planned, wanted, dir);
	result = plan_additions(planned, wanted, dir, fault);
	for (size_t i = 0; i < planned->num; i++)
		num_new += !planned->items[i].old;
	if (result == DOCA_SUCCESS)
		result = make_room(exports, num_new, fault);
	if (result != DOCA_SUCCESS)
		export_change_destroy(planned);
	else
		*change = planned;
	return result;
}

static doca_error_t make(struct export_change *change, struct item *item,
			 struct dpumap_fault *fault)
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
		return dpumap_fault_set(fault, DOCA_ERROR_SHUTDOWN, "dpumapd ends");
	if (item->keeps_memory)
		return export_create_successor(device, item->old, spec, &item->fresh, fault);
	return export_create(device, spec, item - change->items >= REGISTERED_FIRST, &item->fresh,
			     fault);
}

static void undo(struct export_change *change)
{
	for (size_t i = change->applied; i < change->num; i++) {
		export_destroy(change->items[i].fresh);
		change->items[i].fresh = NULL;
	}
}

doca_error_t export_change_make(struct export_change *change, struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; i < change->num && result == DOCA_SUCCESS; i++)
		result = make(change, &change->items[i], fault);
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
	size_t index = lower_bound(exports, was->name);

	export_end(item->old);
	if (!item->keeps_memory) {
		take_out(exports, index);
		log_line("export %s removed", was->name);
		announce(exports, was, export_id(item->old), NULL);
		return;
	}
	export_succeed(item->fresh, item->old);
	export_ids_remove(&exports->ids, item->old);
	export_set_id(item->fresh, exports->next_id++);
	export_ids_add(&exports->ids, item->fresh);
	exports->list[index] = item->fresh;
	export_log(item->fresh, &exports->device, "changed");
	announce(exports, was, export_id(item->old), export_get_spec(item->fresh));
}

static void put_fresh(struct export_table *exports, struct named_export *fresh)
{
	export_set_id(fresh, exports->next_id++);
	insert(exports, lower_bound(exports, name_of(fresh)), fresh);
	export_log(fresh, &exports->device, "created");
	announce(exports, NULL, 0, export_get_spec(fresh));
}

/* The clients that hold the export keep it. */
static void let_stay(struct export_table *exports, struct item *item)
{
	if (!item->old)
		return;
	export_set_file(item->old, item->file);
	if (!export_labels_are_equal(&export_get_spec(item->old)->labels, &item->labels)) {
		export_swap_labels(item->old, &item->labels);
		log_line("export %s has new labels", name_of(item->old));
		exports->version++;
	}
	item->old = NULL;
}

bool export_change_apply(struct export_change *change)
{
	for (int i = 0; i < WORK_AT_ONCE && change->applied < change->num; i++) {
		struct item *item = &change->items[change->applied++];

		if (item->stays)
			let_stay(change->exports, item);
		if (item->old)
			end_old(change->exports, item);
		if (item->fresh && !item->keeps_memory)
			put_fresh(change->exports, item->fresh);
	}
	if (change->applied < change->num)
		return true;
	if (change->completes)
		change->exports->is_incomplete = false;
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
	if (!change || change->exports == lost)
		return;
	undo(change);
	export_change_dispose(change);
	for (size_t i = 0; i < change->num; i++)
		export_labels_free(&change->items[i].labels);
	export_spec_free(&change->added);
	change->exports->change = NULL;
	free(change);
}

doca_error_t export_table_set(struct export_table *exports, struct export_list *wanted,
			      const struct export_dir *dir, bool (*stops)(void),
			      struct dpumap_fault *fault)
{
	struct export_change *change = NULL;
	doca_error_t result;

	result = export_change_set(exports, wanted, dir, &change, fault);
	if (!change)
		return result;
	change->stops = stops;
	result = export_change_make(change, fault);
	if (result == DOCA_SUCCESS)
		while (export_change_apply(change))
			;
	export_change_destroy(change);
	return result;
}

void export_table_check(struct export_table *exports)
{
	struct dpumap_fault fault = {0};

	/* Another thread may be using an export. */
	if (exports->change)
		return;
	for (size_t i = exports->count; i > 0; i--) {
		if (export_check(exports->list[i - 1], &fault) == DOCA_SUCCESS)
			continue;
		log_line("%s", fault.text);
		drop(exports, i - 1);
	}
}

static void rekey_if_due(struct export_table *exports, struct named_export *export)
{
	struct dpumap_fault fault = {0};

	if (export_is_rekey_due(export) &&
	    export_rekey(&exports->device, export, &fault) != DOCA_SUCCESS)
		log_line("%s", fault.text);
}

doca_error_t export_table_acquire(struct export_table *exports, struct named_export *export,
				  struct dpumap_fault *fault)
{
	rekey_if_due(exports, export);
	return export_acquire(&exports->device, export, fault);
}

void export_table_release(struct export_table *exports, struct named_export *export)
{
	export_release(export);
	rekey_if_due(exports, export);
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Looks only at what the client held: there may be very many exports. */
void export_table_abandon(struct export_table *exports, uint64_t *ids, size_t num)
{
	struct named_export *export;
	size_t index, next;

	if (!num)
		return;
	qsort(ids, num, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < num; i = next) {
		for (next = i + 1; next < num && ids[next] == ids[i];)
			next++;
		export = export_table_find_id(exports, ids[i]);
		if (!export)
			continue;
		export_abandon(export, next - i);
		index = lower_bound(exports, name_of(export));
		if (export_is_rekey_due(export))
			is_due(exports, index);
	}
}

bool export_table_has_work(const struct export_table *exports)
{
	return exports->next_due < exports->count;
}

/*
 * Return whether it took long. After a failure the others wait for their first clients: most likely it is the
 * same for all of them.
 */
static bool register_later(struct export_table *exports, struct named_export *export)
{
	struct dpumap_fault fault = {0};

	if (exports->waits || export_is_registered(export))
		return false;
	if (export_register(&exports->device, export, &fault) == DOCA_SUCCESS)
		return true;
	log_line("%s; exports that are not yet registered are registered for their first clients",
		 fault.text);
	exports->waits = true;
	return true;
}

/* Clients wait meanwhile: so at most one registration. */
void export_table_work(struct export_table *exports)
{
	bool registered = false;

	for (int i = 0; i < WORK_AT_ONCE && !registered && export_table_has_work(exports); i++) {
		struct named_export *export = exports->list[exports->next_due++];

		rekey_if_due(exports, export);
		registered = register_later(exports, export);
	}
}

static doca_error_t rekey(struct export_table *exports, struct named_export *export,
			  struct dpumap_fault *fault)
{
	doca_error_t result = export_rekey(&exports->device, export, fault);
	uint64_t was_id = export_id(export);

	if (result != DOCA_SUCCESS)
		return result;
	export_ids_remove(&exports->ids, export);
	export_set_id(export, exports->next_id++);
	export_ids_add(&exports->ids, export);
	announce(exports, export_get_spec(export), was_id, export_get_spec(export));
	return DOCA_SUCCESS;
}

doca_error_t export_table_rekey(struct export_table *exports, const char *name,
				struct dpumap_fault *fault)
{
	struct named_export *export = export_table_find(exports, name, fault);
	doca_error_t result;

	if (!export)
		return fault->code;
	result = rekey(exports, export, fault);
	if (result == DOCA_SUCCESS)
		log_line("export %s has a new key: all earlier imports are revoked", name);
	return result;
}

void export_table_revoke(struct export_table *exports, struct named_export *export)
{
	struct dpumap_fault fault = {0};

	if (export_get_spec(export)->via == EXPORT_VIA_RDMA)
		return;
	if (rekey(exports, export, &fault) != DOCA_SUCCESS) {
		log_line("%s", fault.text);
		drop(exports, lower_bound(exports, name_of(export)));
	}
}

/* -- the device -- */

struct doca_dev *export_table_dev(const struct export_table *exports)
{
	return exports->device.dev;
}

const char *export_table_device_name(const struct export_table *exports)
{
	return exports->device.name;
}

doca_error_t export_table_dm_usage(const struct export_table *exports,
				   struct export_table_dm_usage *usage, struct dpumap_fault *fault)
{
	struct doca_dev *dev = exports->device.dev;
	doca_error_t result;

	*usage = (struct export_table_dm_usage){0};
	result = dpumap_dm_cap_get_max_len(doca_dev_as_devinfo(dev), &usage->total);
	if (result == DOCA_SUCCESS && usage->total)
		result = dpumap_dm_query_free(dev, &usage->longest, &usage->free);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "cannot query the free device memory of %s",
					 exports->device.name);
	return DOCA_SUCCESS;
}
