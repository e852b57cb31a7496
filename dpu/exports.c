/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "exports.h"

#include <stdlib.h>
#include <string.h>

#include <dpumap/dm.h>

#include "export.h"
#include "say.h"

struct exports {
	struct dpumap_device device;
	struct export **list; /* by name */
	size_t count;
	size_t room;
	uint64_t next_id;
	exports_watch_fn *heard;
	void *context;
};

static doca_error_t open_device(const char *which, struct dpumap_device *device,
				struct dpumap_fault *fault)
{
	doca_error_t result = dpumap_device_open(which, doca_mmap_cap_is_export_pci_supported,
						 "export memory over PCI", device, fault);

	if (result != DOCA_ERROR_NOT_SUPPORTED)
		return result;
	return dpumap_device_open(which, dpumap_device_can_connect, "export memory", device, fault);
}

doca_error_t exports_create(const char *device, struct exports **exports,
			    struct dpumap_fault *fault)
{
	struct exports *e = calloc(1, sizeof(*e));
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

void exports_destroy(struct exports *exports)
{
	if (!exports)
		return;
	for (size_t i = exports->count; i > 0; i--)
		export_destroy(exports->list[i - 1]);
	doca_dev_close(exports->device.dev);
	free(exports->list);
	free(exports);
}

void exports_watch(struct exports *exports, exports_watch_fn *heard, void *context)
{
	exports->heard = heard;
	exports->context = context;
}

static void announce(const struct exports *exports, const struct export_spec *was, uint64_t was_id,
		     const struct export_spec *is)
{
	if (exports->heard)
		exports->heard(exports->context, was, was_id, is);
}

/* -- the list -- */

/* Where name is or would be. */
static size_t lower_bound(const struct exports *exports, const char *name)
{
	size_t low = 0, high = exports->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(exports->list[middle]->spec.name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct exports *exports, size_t index, const char *name)
{
	return index < exports->count && strcmp(exports->list[index]->spec.name, name) == 0;
}

size_t exports_after(const struct exports *exports, const char *name)
{
	size_t index = lower_bound(exports, name);

	return index + is_at(exports, index, name);
}

size_t exports_count(const struct exports *exports)
{
	return exports->count;
}

struct export *exports_get(const struct exports *exports, size_t index)
{
	return exports->list[index];
}

static doca_error_t not_found(const char *name, struct dpumap_fault *fault)
{
	return dpumap_fault_set(fault, DOCA_ERROR_NOT_FOUND, "there is no export called \"%s\"",
				name);
}

struct export *exports_find(const struct exports *exports, const char *name,
			    struct dpumap_fault *fault)
{
	size_t index = lower_bound(exports, name);

	if (is_at(exports, index, name))
		return exports->list[index];
	not_found(name, fault);
	return NULL;
}

struct export *exports_of_id(const struct exports *exports, uint64_t id)
{
	for (size_t i = 0; i < exports->count; i++)
		if (exports->list[i]->id == id)
			return exports->list[i];
	return NULL;
}

static doca_error_t make_room(struct exports *exports, struct dpumap_fault *fault)
{
	size_t room = exports->room ? 2 * exports->room : 16;
	struct export **list;

	if (exports->count < exports->room)
		return DOCA_SUCCESS;
	list = reallocarray(exports->list, room, sizeof(struct export *));
	if (!list)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY,
					"no memory for further exports");
	exports->list = list;
	exports->room = room;
	return DOCA_SUCCESS;
}

static void insert(struct exports *exports, size_t index, struct export *export)
{
	memmove(&exports->list[index + 1], &exports->list[index],
		(exports->count - index) * sizeof(struct export *));
	exports->list[index] = export;
	exports->count++;
}

static struct export *take_out(struct exports *exports, size_t index)
{
	struct export *export = exports->list[index];

	exports->count--;
	memmove(&exports->list[index], &exports->list[index + 1],
		(exports->count - index) * sizeof(struct export *));
	return export;
}

/* -- changing it -- */

doca_error_t exports_add(struct exports *exports, struct export_spec *spec,
			 struct dpumap_fault *fault)
{
	size_t index = lower_bound(exports, spec->name);
	struct export *export = NULL;
	doca_error_t result;

	if (is_at(exports, index, spec->name))
		return dpumap_fault_set(fault, DOCA_ERROR_ALREADY_EXIST,
					"there is an export called %s already", spec->name);
	result = make_room(exports, fault);
	if (result == DOCA_SUCCESS)
		result = export_create(&exports->device, spec, &export, fault);
	if (result != DOCA_SUCCESS)
		return result;
	export->id = exports->next_id++;
	insert(exports, index, export);
	announce(exports, NULL, 0, &export->spec);
	return DOCA_SUCCESS;
}

/* The name lives in the spec, which goes with the export: it is kept until all have heard. */
static void drop(struct exports *exports, size_t index)
{
	struct export *export = take_out(exports, index);
	struct export_spec spec = export->spec;
	uint64_t id = export->id;

	export->spec.path = NULL;
	export->spec.fd = -1;
	export->spec.allow = NULL;
	export->spec.num_allow = 0;
	export_destroy(export);
	say("export %s is gone", spec.name);
	announce(exports, &spec, id, NULL);
	spec_free(&spec);
}

doca_error_t exports_remove(struct exports *exports, const char *name, struct dpumap_fault *fault)
{
	size_t index = lower_bound(exports, name);

	if (!is_at(exports, index, name))
		return not_found(name, fault);
	drop(exports, index);
	return DOCA_SUCCESS;
}

doca_error_t exports_give(struct exports *exports, struct export *export,
			  struct dpumap_fault *fault)
{
	doca_error_t result = export_open(&exports->device, export, fault);

	if (result == DOCA_SUCCESS)
		export->given++;
	return result;
}

void exports_take_back(struct exports *exports, struct export *export)
{
	struct dpumap_fault fault = {0};

	if (export->given == 0 || --export->given > 0 || export->spec.via == EXPORT_VIA_RDMA)
		return;
	if (export_rekey(&exports->device, export, &fault) != DOCA_SUCCESS)
		say("%s", fault.text);
}

void exports_revoke(struct exports *exports, struct export *export)
{
	struct dpumap_fault fault = {0};
	uint64_t was_id = export->id;

	if (export->spec.via == EXPORT_VIA_RDMA)
		return;
	if (export_rekey(&exports->device, export, &fault) != DOCA_SUCCESS) {
		say("%s", fault.text);
		drop(exports, lower_bound(exports, export->spec.name));
		return;
	}
	export->id = exports->next_id++;
	announce(exports, &export->spec, was_id, &export->spec);
}

static doca_error_t renew(struct exports *exports, size_t index, struct export_spec *spec,
			  struct dpumap_fault *fault)
{
	struct export *export = exports->list[index];
	doca_error_t result = export_renew(&exports->device, export, spec, fault);
	uint64_t was_id = export->id;

	if (result != DOCA_SUCCESS) {
		drop(exports, index);
		return result;
	}
	export->id = exports->next_id++;
	announce(exports, spec, was_id, &export->spec);
	return DOCA_SUCCESS;
}

static doca_error_t set_one(struct exports *exports, struct export_spec *spec,
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
	return exports_add(exports, spec, fault);
}

static int compare_names(const void *name, const void *spec)
{
	return strcmp(name, ((const struct export_spec *)spec)->name);
}

static bool is_wanted(const char *name, const struct export_spec *specs, size_t num)
{
	return num && bsearch(name, specs, num, sizeof(*specs), compare_names);
}

/* Those to go first: others may need their memory. */
doca_error_t exports_set(struct exports *exports, struct export_spec *specs, size_t num,
			 struct dpumap_fault *fault)
{
	doca_error_t first = DOCA_SUCCESS, result;
	struct dpumap_fault later = {0};

	for (size_t i = exports->count; i > 0; i--) {
		const struct export_spec *spec = &exports->list[i - 1]->spec;

		if (!spec->is_temporary && !is_wanted(spec->name, specs, num))
			drop(exports, i - 1);
	}
	for (size_t i = 0; i < num; i++) {
		result = set_one(exports, &specs[i], first == DOCA_SUCCESS ? fault : &later);
		if (result != DOCA_SUCCESS && first != DOCA_SUCCESS)
			say("%s", later.text);
		DOCA_ERROR_PROPAGATE(first, result);
	}
	return first;
}

/* -- the device -- */

const char *exports_device_name(const struct exports *exports)
{
	return exports->device.name;
}

doca_error_t exports_dm_usage(const struct exports *exports, struct exports_dm_usage *usage,
			      struct dpumap_fault *fault)
{
	struct doca_dev *dev = exports->device.dev;
	doca_error_t result;

	*usage = (struct exports_dm_usage){0};
	result = dpumap_dm_cap_get_max_len(doca_dev_as_devinfo(dev), &usage->total);
	if (result == DOCA_SUCCESS && usage->total)
		result = dpumap_dm_query_free(dev, &usage->longest, &usage->free);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result,
					 "cannot learn how much device memory %s has free",
					 exports->device.name);
	return DOCA_SUCCESS;
}
