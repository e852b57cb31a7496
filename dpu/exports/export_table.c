/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/export_table.h"

#include <stdlib.h>
#include <string.h>

#include <doca_mmap.h>
#include <dpumap/dm.h>

#include "dpu/base/log.h"
#include "dpu/exports/export_table_priv.h"

/* Kept until the process ends. */
static const struct export_table *lost;

static doca_error_t open_device(const char *which, struct dpumap_device *device,
				struct dpumap_error *error)
{
	doca_error_t result = dpumap_device_open(which, doca_mmap_cap_is_export_pci_supported,
						 "export memory over PCI", device, error);

	if (result != DOCA_ERROR_NOT_SUPPORTED)
		return result;
	return dpumap_device_open(which, dpumap_device_can_connect, "export memory", device, error);
}

doca_error_t export_table_create(const char *device, struct workers *workers,
				 struct export_table **exports, struct dpumap_error *error)
{
	struct export_table *e = calloc(1, sizeof(*e));
	doca_error_t result;

	if (!e)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the exports");
	result = open_device(device, &e->device, error);
	if (result != DOCA_SUCCESS) {
		free(e);
		return result;
	}
	e->workers = workers;
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
	importers_free(&exports->importers);
	failed_exports_free(&exports->failed);
	free(exports);
}

void export_table_on_change(struct export_table *exports, export_table_changed_fn *changed,
			    export_table_registered_fn *registered, void *context)
{
	exports->changed = changed;
	exports->registered = registered;
	exports->context = context;
}

void export_table_announce(struct export_table *exports, const struct export_spec *was,
			   uint64_t was_id, const struct export_spec *is)
{
	exports->version++;
	if (exports->changed)
		exports->changed(exports->context, was, was_id, is);
}

/* --- the list --------------------------------------------------------------------------------- */

/* Everything before low sorts before the name, and nothing from high on. */
static size_t search(const struct export_table *exports, size_t low, size_t high, const char *name)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(export_name(exports->list[middle]), name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t export_table_lower_bound(const struct export_table *exports, const char *name)
{
	return search(exports, 0, exports->count, name);
}

/* In steps that become longer: as fast for few names as for those of all exports. */
size_t export_table_lower_bound_from(const struct export_table *exports, size_t from,
				     const char *name)
{
	size_t low = from, high = from, step = 1;

	while (high < exports->count && strcmp(export_name(exports->list[high]), name) < 0) {
		low = high + 1;
		high += step;
		step *= 2;
	}
	return search(exports, low, high < exports->count ? high : exports->count, name);
}

bool export_table_is_at(const struct export_table *exports, size_t index, const char *name)
{
	return index < exports->count && strcmp(export_name(exports->list[index]), name) == 0;
}

size_t export_table_after(const struct export_table *exports, const char *name)
{
	size_t index = export_table_lower_bound(exports, name);

	return index + export_table_is_at(exports, index, name);
}

uint64_t export_table_version(const struct export_table *exports)
{
	return exports->version;
}

size_t export_table_count(const struct export_table *exports)
{
	return exports->count;
}

const struct export_table_totals *export_table_totals(const struct export_table *exports)
{
	return &exports->totals;
}

bool export_table_has_importer(const struct export_table *exports, const char *peer,
			       enum export_via via)
{
	return exports->count && importers_have(&exports->importers, peer, via);
}

struct named_export *export_table_at(const struct export_table *exports, size_t index)
{
	return exports->list[index];
}

const struct failed_exports *export_table_failed(const struct export_table *exports)
{
	return &exports->failed;
}

static doca_error_t not_found(const char *name, struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "there is no export called \"%s\"",
				name);
}

struct named_export *export_table_find(const struct export_table *exports, const char *name,
				       struct dpumap_error *error)
{
	size_t index = export_table_lower_bound(exports, name);

	if (export_table_is_at(exports, index, name))
		return exports->list[index];
	not_found(name, error);
	return NULL;
}

struct named_export *export_table_find_id(const struct export_table *exports, uint64_t id)
{
	return export_ids_find(&exports->ids, id);
}

doca_error_t export_table_make_room(struct export_table *exports, size_t num,
				    struct dpumap_error *error)
{
	struct named_export **list;

	if (num <= exports->room - exports->count)
		return DOCA_SUCCESS;
	num += exports->count + exports->count / 2;
	if (export_ids_reserve(&exports->ids, num, error) != DOCA_SUCCESS)
		return error->code;
	list = reallocarray(exports->list, num, sizeof(struct named_export *));
	if (!list)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY,
					"no memory for further exports");
	exports->list = list;
	exports->room = num;
	return DOCA_SUCCESS;
}

static bool has_due(const struct export_table *exports)
{
	return exports->next_due < exports->count;
}

/* One comparison for most of them: very many can be due at once. */
static void is_due(struct export_table *exports, const struct named_export *export)
{
	const char *name = export_name(export);

	if (!has_due(exports) || strcmp(name, export_name(exports->list[exports->next_due])) < 0)
		exports->next_due = export_table_lower_bound(exports, name);
}

static void count_memory(struct export_table *exports, const struct named_export *export, int by)
{
	const struct export_spec *spec = export_get_spec(export);

	exports->totals.count[spec->kind] += (uint64_t)by;
	exports->totals.bytes[spec->kind] += by > 0 ? spec->size : -spec->size;
}

static void count_outstanding(struct export_table *exports, const struct named_export *export,
			      uint64_t before)
{
	exports->totals.outstanding += export_num_outstanding(export) - before;
}

void export_table_insert(struct export_table *exports, size_t index, struct named_export *export)
{
	memmove(&exports->list[index + 1], &exports->list[index],
		(exports->count - index) * sizeof(struct named_export *));
	exports->list[index] = export;
	exports->count++;
	export_ids_add(&exports->ids, export);
	importers_add(&exports->importers, export_get_spec(export));
	count_memory(exports, export, 1);
	exports->next_due += index <= exports->next_due;
	exports->next_unregistered += index <= exports->next_unregistered;
	if (index < exports->next_unregistered && !export_is_registered(export))
		exports->next_unregistered = index;
}

struct named_export *export_table_take_out(struct export_table *exports, size_t index)
{
	struct named_export *export = exports->list[index];

	exports->count--;
	export_ids_remove(&exports->ids, export);
	importers_remove(&exports->importers, export_get_spec(export));
	count_memory(exports, export, -1);
	exports->totals.outstanding -= export_num_outstanding(export);
	exports->next_due -= index < exports->next_due;
	exports->next_unregistered -= index < exports->next_unregistered;
	memmove(&exports->list[index], &exports->list[index + 1],
		(exports->count - index) * sizeof(struct named_export *));
	return export;
}

void export_table_replace(struct export_table *exports, size_t index, struct named_export *fresh)
{
	struct named_export *old = exports->list[index];

	export_ids_remove(&exports->ids, old);
	importers_remove(&exports->importers, export_get_spec(old));
	importers_add(&exports->importers, export_get_spec(fresh));
	exports->totals.outstanding -= export_num_outstanding(old);
	export_set_id(fresh, exports->next_id++);
	export_ids_add(&exports->ids, fresh);
	exports->list[index] = fresh;
}

/* --- exports that end by themselves ----------------------------------------------------------- */

bool export_table_is_complete(const struct export_table *exports)
{
	return !exports->is_incomplete;
}

struct disposal {
	struct work work;
	struct named_export *export;
};

static void run_disposal(void *context)
{
	const struct disposal *disposal = context;

	export_destroy(disposal->export);
}

/* Its file may be large and its disk slow. Without memory or a thread, clients wait for it. */
static void dispose(const struct export_table *exports, struct named_export *export)
{
	struct disposal *disposal = calloc(1, sizeof(*disposal));
	struct dpumap_error ignored;

	if (disposal) {
		*disposal = (struct disposal){{run_disposal, free, disposal, NULL}, export};
		if (workers_start(exports->workers, &disposal->work, &ignored) == DOCA_SUCCESS)
			return;
	}
	free(disposal);
	export_destroy(export);
}

static void drop(struct export_table *exports, size_t index, const struct dpumap_error *why)
{
	struct named_export *export = export_table_take_out(exports, index);

	log_error("%s", why->text);
	if (!export_get_spec(export)->is_temporary)
		failed_exports_add(&exports->failed, export_name(export), why);
	export_change_forget(exports, export);
	export_end(&exports->device, export);
	log_line("export %s removed", export_name(export));
	export_table_announce(exports, export_get_spec(export), export_id(export), NULL);
	dispose(exports, export);
}

bool export_table_is_lost(const struct export_table *exports)
{
	return exports == lost;
}

void export_table_lose(struct export_table *exports)
{
	lost = exports;
	exports->totals = (struct export_table_totals){0};
	while (exports->count > 0) {
		const struct named_export *export = exports->list[--exports->count];

		export_ids_remove(&exports->ids, export);
		export_table_announce(exports, export_get_spec(export), export_id(export), NULL);
	}
}

static bool has_file(enum export_kind kind)
{
	return kind == EXPORT_FILE || kind == EXPORT_DMABUF;
}

void export_table_check(struct export_table *exports)
{
	const uint64_t *count = exports->totals.count;

	exports->unchecked = count[EXPORT_FILE] || count[EXPORT_DMABUF] ? exports->count : 0;
}

/* Not while another thread may be using an export. */
static bool may_check(const struct export_table *exports)
{
	return exports->unchecked && !exports->change;
}

/* From the end, so that an export that is removed moves only those that were checked. */
static void check_some(struct export_table *exports)
{
	struct dpumap_error error = {0};
	int checked = 0;

	for (int i = 0; i < PASSED_AT_ONCE && checked < CHECKED_AT_ONCE && may_check(exports);
	     i++) {
		size_t index = --exports->unchecked;

		if (index >= exports->count ||
		    !has_file(export_get_spec(exports->list[index])->kind) ||
		    export_is_registering(exports->list[index]))
			continue;
		checked++;
		if (export_check(exports->list[index], &error) == DOCA_SUCCESS)
			continue;
		drop(exports, index, &error);
		break; /* every client is told */
	}
}

/* --- clients ---------------------------------------------------------------------------------- */

static void rekey_if_due(struct export_table *exports, struct named_export *export)
{
	uint64_t outstanding = export_num_outstanding(export);
	struct dpumap_error error = {0};

	if (export_is_rekey_due(export) &&
	    export_rekey(&exports->device, export, &error) != DOCA_SUCCESS)
		log_from(DPUMAP_LINE_ERROR, "changed keys", "%s", error.text);
	count_outstanding(exports, export, outstanding);
}

static void on_registered(void *context, struct named_export *export)
{
	const struct dpumap_error *why = export_registration_error(export);
	struct export_table *exports = context;

	exports->num_registering--;
	if (exports->registering == export)
		exports->registering = NULL;
	/* Most likely it is the same for all of them. */
	if (why && !exports->waits)
		log_error("%s; exports that are not yet registered are registered for their first "
			  "clients",
			  why->text);
	exports->waits |= why != NULL;
	if (exports->registered)
		exports->registered(exports->context, export_id(export));
}

static doca_error_t begin_registering(struct export_table *exports, struct named_export *export,
				      struct dpumap_error *error)
{
	doca_error_t result = export_begin_registering(exports->workers, &exports->device, export,
						       on_registered, exports, error);

	exports->num_registering += result == DOCA_SUCCESS;
	return result;
}

doca_error_t export_table_acquire(struct export_table *exports, struct named_export *export,
				  bool waited, struct dpumap_error *error)
{
	const struct dpumap_error *why = export_registration_error(export);
	doca_error_t result;

	rekey_if_due(exports, export);
	if (export_is_registered(export)) {
		export_acquire(export);
		exports->totals.outstanding++;
		return DOCA_SUCCESS;
	}
	if (export_is_registering(export))
		return DOCA_ERROR_AGAIN;
	if (why && waited) {
		*error = *why;
		return why->code;
	}
	result = begin_registering(exports, export, error);
	return result == DOCA_SUCCESS ? DOCA_ERROR_AGAIN : result;
}

size_t export_table_num_registering(const struct export_table *exports)
{
	return exports->num_registering;
}

doca_error_t export_table_share(const struct export_table *exports,
				const struct named_export *export, int *fd,
				struct dpumap_error *error)
{
	if (exports->change)
		return dpumap_error_set(error, DOCA_ERROR_IN_USE,
					"dpumapd is changing its exports: try again");
	return export_share(export, fd, error);
}

doca_error_t export_table_begin_sync(const struct export_table *exports,
				     const struct named_export *export,
				     void (*ended)(void *context), void *context,
				     struct file_sync **sync, struct dpumap_error *error)
{
	return export_begin_sync(export, exports->workers, ended, context, sync, error);
}

void export_table_release(struct export_table *exports, struct named_export *export)
{
	uint64_t outstanding = export_num_outstanding(export);

	export_release(export);
	count_outstanding(exports, export, outstanding);
	rekey_if_due(exports, export);
}

void export_table_abandon(struct export_table *exports, uint64_t id, size_t times)
{
	struct named_export *export = export_table_find_id(exports, id);
	uint64_t outstanding;

	if (!export)
		return;
	outstanding = export_num_outstanding(export);
	export_abandon(export, times);
	count_outstanding(exports, export, outstanding);
	if (export_is_rekey_due(export))
		is_due(exports, export);
}

/* Clients that ask for an export do not wait for those before it. */
static bool may_register(const struct export_table *exports)
{
	return exports->next_unregistered < exports->count && !exports->registering;
}

bool export_table_has_work(const struct export_table *exports)
{
	return has_due(exports) || may_register(exports) || may_check(exports);
}

static void register_later(struct export_table *exports, struct named_export *export)
{
	struct dpumap_error error = {0};

	if (exports->waits || export_is_registered(export) || export_is_registering(export))
		return;
	if (begin_registering(exports, export, &error) == DOCA_SUCCESS) {
		exports->registering = export;
		return;
	}
	log_error("%s; exports that are not yet registered are registered for their first clients",
		  error.text);
	exports->waits = true;
}

void export_table_work(struct export_table *exports)
{
	check_some(exports);
	for (int i = 0; i < WORK_AT_ONCE && may_register(exports); i++)
		register_later(exports, exports->list[exports->next_unregistered++]);
	for (int i = 0; i < WORK_AT_ONCE && has_due(exports); i++)
		rekey_if_due(exports, exports->list[exports->next_due++]);
}

static doca_error_t rekey(struct export_table *exports, struct named_export *export,
			  struct dpumap_error *error)
{
	uint64_t was_id = export_id(export), outstanding = export_num_outstanding(export);
	doca_error_t result = export_rekey(&exports->device, export, error);

	if (result != DOCA_SUCCESS)
		return result;
	count_outstanding(exports, export, outstanding);
	export_ids_remove(&exports->ids, export);
	export_set_id(export, exports->next_id++);
	export_ids_add(&exports->ids, export);
	export_table_announce(exports, export_get_spec(export), was_id, export_get_spec(export));
	return DOCA_SUCCESS;
}

doca_error_t export_table_rekey(struct export_table *exports, const char *name,
				struct dpumap_error *error)
{
	struct named_export *export = export_table_find(exports, name, error);
	doca_error_t result;

	if (!export)
		return error->code;
	result = rekey(exports, export, error);
	if (result == DOCA_SUCCESS)
		log_line("export %s has a new key: all earlier imports are revoked", name);
	return result;
}

void export_table_revoke(struct export_table *exports, struct named_export *export)
{
	struct dpumap_error error = {0};

	if (export_get_spec(export)->via == EXPORT_VIA_RDMA)
		return;
	if (rekey(exports, export, &error) != DOCA_SUCCESS)
		drop(exports, export_table_lower_bound(exports, export_name(export)), &error);
}

/* --- the device ------------------------------------------------------------------------------- */

struct doca_dev *export_table_dev(const struct export_table *exports)
{
	return exports->device.dev;
}

const char *export_table_device_name(const struct export_table *exports)
{
	return exports->device.name;
}

doca_error_t export_table_dm_usage(const struct export_table *exports,
				   struct export_table_dm_usage *usage, struct dpumap_error *error)
{
	struct doca_dev *dev = exports->device.dev;
	doca_error_t result;

	*usage = (struct export_table_dm_usage){0};
	result = dpumap_dm_cap_get_max_len(doca_dev_as_devinfo(dev), &usage->total);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "cannot query the device memory of %s",
					 exports->device.name);
	usage->exported = exports->totals.bytes[EXPORT_DEVICE_MEMORY];
	return DOCA_SUCCESS;
}
