/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "export_table.h"

#include <stdlib.h>
#include <string.h>

#include <doca_mmap.h>
#include <dpumap/dm.h>

#include "log.h"

/* Exports that export_table_work() looks at in one call. */
#define WORK_AT_ONCE 16

struct export_table {
	struct dpumap_device device;
	struct named_export **list; /* by name */
	size_t count;
	size_t room;
	size_t next_due; /* before this index, no export is due for a new descriptor */
	uint64_t next_id;
	export_table_changed_fn *changed;
	void *context;
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

static void destroy(struct named_export *export)
{
	struct export_spec spec;

	export_destroy(export, &spec);
	export_spec_free(&spec);
}

void export_table_destroy(struct export_table *exports)
{
	if (!exports || exports == lost)
		return;
	for (size_t i = exports->count; i > 0; i--)
		destroy(exports->list[i - 1]);
	doca_dev_close(exports->device.dev);
	free(exports->list);
	free(exports);
}

void export_table_on_change(struct export_table *exports, export_table_changed_fn *changed,
			    void *context)
{
	exports->changed = changed;
	exports->context = context;
}

static void announce(const struct export_table *exports, const struct export_spec *was,
		     uint64_t was_id, const struct export_spec *is)
{
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
	for (size_t i = 0; i < exports->count; i++)
		if (export_id(exports->list[i]) == id)
			return exports->list[i];
	return NULL;
}

static doca_error_t make_room(struct export_table *exports, struct dpumap_fault *fault)
{
	size_t room = exports->room ? 2 * exports->room : 16;
	struct named_export **list;

	if (exports->count < exports->room)
		return DOCA_SUCCESS;
	list = reallocarray(exports->list, room, sizeof(struct named_export *));
	if (!list)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY,
					"no memory for further exports");
	exports->list = list;
	exports->room = room;
	return DOCA_SUCCESS;
}

static void insert(struct export_table *exports, size_t index, struct named_export *export)
{
	memmove(&exports->list[index + 1], &exports->list[index],
		(exports->count - index) * sizeof(struct named_export *));
	exports->list[index] = export;
	exports->count++;
}

static struct named_export *take_out(struct export_table *exports, size_t index)
{
	struct named_export *export = exports->list[index];

	exports->count--;
	if (index < exports->next_due)
		exports->next_due--;
	memmove(&exports->list[index], &exports->list[index + 1],
		(exports->count - index) * sizeof(struct named_export *));
	return export;
}

/* -- changes -- */

doca_error_t export_table_add(struct export_table *exports, struct export_spec *spec,
			      struct dpumap_fault *fault)
{
	size_t index = lower_bound(exports, spec->name);
	struct named_export *export = NULL;
	doca_error_t result;

	if (is_at(exports, index, spec->name))
		return dpumap_fault_set(fault, DOCA_ERROR_ALREADY_EXIST, "export %s already exists",
					spec->name);
	result = make_room(exports, fault);
	if (result == DOCA_SUCCESS)
		result = export_create(&exports->device, spec, &export, fault);
	if (result != DOCA_SUCCESS)
		return result;
	export_set_id(export, exports->next_id++);
	insert(exports, index, export);
	announce(exports, NULL, 0, export_get_spec(export));
	return DOCA_SUCCESS;
}

static void drop(struct export_table *exports, size_t index)
{
	struct named_export *export = take_out(exports, index);
	uint64_t id = export_id(export);
	struct export_spec spec;

	export_destroy(export, &spec);
	log_line("export %s removed", spec.name);
	announce(exports, &spec, id, NULL);
	export_spec_free(&spec);
}

doca_error_t export_table_remove(struct export_table *exports, const char *name,
				 struct dpumap_fault *fault)
{
	size_t index = lower_bound(exports, name);

	if (!is_at(exports, index, name))
		return not_found(name, fault);
	drop(exports, index);
	return DOCA_SUCCESS;
}

void export_table_lose(struct export_table *exports)
{
	lost = exports;
	while (exports->count > 0) {
		const struct named_export *export = exports->list[--exports->count];

		announce(exports, export_get_spec(export), export_id(export), NULL);
	}
}

void export_table_check(struct export_table *exports)
{
	struct dpumap_fault fault = {0};

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

/* How often the sorted list has id. */
static uint64_t count_id(const uint64_t *ids, size_t num, uint64_t id)
{
	const uint64_t *first = bsearch(&id, ids, num, sizeof(*ids), compare_ids);
	const uint64_t *last = first;

	if (!first)
		return 0;
	while (first > ids && first[-1] == id)
		first--;
	while (last + 1 < ids + num && last[1] == id)
		last++;
	return (uint64_t)(last - first) + 1;
}

/* Looks at each export once: a client may hold very many. */
void export_table_abandon(struct export_table *exports, uint64_t *ids, size_t num)
{
	if (!num)
		return;
	qsort(ids, num, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < exports->count; i++) {
		struct named_export *export = exports->list[i];

		export_abandon(export, count_id(ids, num, export_id(export)));
		if (export_is_rekey_due(export) && i < exports->next_due)
			exports->next_due = i;
	}
}

bool export_table_has_work(const struct export_table *exports)
{
	return exports->next_due < exports->count;
}

void export_table_work(struct export_table *exports)
{
	for (int i = 0; i < WORK_AT_ONCE && export_table_has_work(exports); i++)
		rekey_if_due(exports, exports->list[exports->next_due++]);
}

static doca_error_t rekey(struct export_table *exports, struct named_export *export,
			  struct dpumap_fault *fault)
{
	doca_error_t result = export_rekey(&exports->device, export, fault);
	uint64_t was_id = export_id(export);

	if (result != DOCA_SUCCESS)
		return result;
	export_set_id(export, exports->next_id++);
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

static doca_error_t renew(struct export_table *exports, size_t index, struct export_spec *spec,
			  struct dpumap_fault *fault)
{
	struct named_export *export = exports->list[index];
	doca_error_t result = export_renew(&exports->device, export, spec, fault);
	uint64_t was_id = export_id(export);

	if (result != DOCA_SUCCESS) {
		drop(exports, index);
		return result;
	}
	export_set_id(export, exports->next_id++);
	announce(exports, spec, was_id, export_get_spec(export));
	return DOCA_SUCCESS;
}

static doca_error_t set_one(struct export_table *exports, struct export_spec *spec,
			    struct dpumap_fault *fault)
{
	size_t index = lower_bound(exports, spec->name);

	if (is_at(exports, index, spec->name)) {
		if (export_is(exports->list[index], spec))
			return DOCA_SUCCESS;
		if (export_has_memory_of(exports->list[index], spec))
			return renew(exports, index, spec, fault);
		drop(exports, index);
	}
	return export_table_add(exports, spec, fault);
}

static int compare_names(const void *name, const void *spec)
{
	return strcmp(name, ((const struct export_spec *)spec)->name);
}

static bool is_wanted(const char *name, const struct export_spec *specs, size_t num)
{
	return num && bsearch(name, specs, num, sizeof(*specs), compare_names);
}

/* Removes exports first: others may need their memory. */
doca_error_t export_table_set(struct export_table *exports, struct export_spec *specs, size_t num,
			      struct dpumap_fault *fault)
{
	doca_error_t first = DOCA_SUCCESS, result;
	struct dpumap_fault later = {0};

	for (size_t i = exports->count; i > 0; i--) {
		const struct export_spec *spec = export_get_spec(exports->list[i - 1]);

		if (!spec->is_temporary && !is_wanted(spec->name, specs, num))
			drop(exports, i - 1);
	}
	for (size_t i = 0; i < num; i++) {
		result = set_one(exports, &specs[i], first == DOCA_SUCCESS ? fault : &later);
		if (result != DOCA_SUCCESS && first != DOCA_SUCCESS)
			log_line("%s", later.text);
		DOCA_ERROR_PROPAGATE(first, result);
	}
	return first;
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
