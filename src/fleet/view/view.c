/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/view/view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "fleet/record/record.h"

#define FIRST_BUCKETS 64
#define FIXED_BYTES   320 /* of a record besides its text, about */

/* A DPU or an export; the other pointer is NULL. */
struct entry {
	struct entry *next; /* in the bucket */
	uint64_t hash;
	struct dpumap_fleet_dpu *dpu;
	struct dpumap_fleet_export *export_info;
	struct entry *owner;			 /* of an export */
	LIST_HEAD(entry_exports, entry) exports; /* of a DPU */
	LIST_ENTRY(entry) link;			 /* in the owner's list */
	int64_t lease, revision;
	size_t bytes;
	unsigned int seen; /* the last sync that put it */
};

struct dpumap_view {
	struct entry **buckets;
	size_t num_buckets, num_dpus, num_exports, num_newer, bytes;
	unsigned int sync;
	dpumap_view_changed_fn *changed;
	void *context;
};

/* --- the table -------------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t hash_key(const struct dpumap_fleet_key *key)
{
	return hash_text(hash_text(UINT64_C(0xcbf29ce484222325), key->dpu), key->name);
}

static bool is_entry(const struct entry *e, uint64_t hash, const struct dpumap_fleet_key *key)
{
	if (e->hash != hash)
		return false;
	if (e->dpu)
		return !key->name[0] && strcmp(e->dpu->name, key->dpu) == 0;
	return strcmp(e->export_info->name, key->name) == 0 &&
	       strcmp(e->export_info->dpu, key->dpu) == 0;
}

static struct entry *find(const struct dpumap_view *view, const struct dpumap_fleet_key *key)
{
	uint64_t hash = hash_key(key);
	struct entry *e = view->buckets[hash & (view->num_buckets - 1)];

	while (e && !is_entry(e, hash, key))
		e = e->next;
	return e;
}

static struct entry *find_dpu(const struct dpumap_view *view, const char *dpu)
{
	struct dpumap_fleet_key key = {0};

	dpumap_fleet_copy(key.dpu, sizeof(key.dpu), dpu);
	return find(view, &key);
}

/* Without memory the buckets only become longer. */
static void grow(struct dpumap_view *view)
{
	size_t num = view->num_buckets * 2, i;
	struct entry **buckets = calloc(num, sizeof(struct entry *));
	struct entry *next;

	if (!buckets)
		return;
	for (i = 0; i < view->num_buckets; i++) {
		for (struct entry *e = view->buckets[i]; e; e = next) {
			next = e->next;
			e->next = buckets[e->hash & (num - 1)];
			buckets[e->hash & (num - 1)] = e;
		}
	}
	free(view->buckets);
	view->buckets = buckets;
	view->num_buckets = num;
}

static void insert(struct dpumap_view *view, struct entry *e)
{
	struct entry **bucket;

	if (view->num_dpus + view->num_exports > view->num_buckets)
		grow(view);
	bucket = &view->buckets[e->hash & (view->num_buckets - 1)];
	e->next = *bucket;
	*bucket = e;
}

static void unlink_entry(struct dpumap_view *view, struct entry *e)
{
	struct entry **link = &view->buckets[e->hash & (view->num_buckets - 1)];

	while (*link != e)
		link = &(*link)->next;
	*link = e->next;
}

/* --- entries ---------------------------------------------------------------------------------- */

static bool is_newer(const struct entry *e)
{
	return e->dpu ? e->dpu->needs_newer : e->export_info->needs_newer;
}

static void count(struct dpumap_view *view, const struct entry *e, int by)
{
	size_t *num = e->dpu ? &view->num_dpus : &view->num_exports;

	*num += (size_t)by;
	if (e->owner)
		e->owner->dpu->num_exports += (size_t)by;
	if (is_newer(e))
		view->num_newer += (size_t)by;
	view->bytes += by > 0 ? e->bytes : -e->bytes;
}

static void report(struct dpumap_view *view, enum dpumap_fleet_event event, const struct entry *e)
{
	view->changed(view->context, event, e->dpu, e->export_info);
}

static void free_entry(struct entry *e)
{
	free(e->dpu);
	free(e->export_info);
	free(e);
}

static void remove_entry(struct dpumap_view *view, struct entry *e)
{
	while (!LIST_EMPTY(&e->exports))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): remove_entry() takes it off the list */
		remove_entry(view, LIST_FIRST(&e->exports));
	count(view, e, -1);
	unlink_entry(view, e);
	if (e->owner)
		LIST_REMOVE(e, link);
	report(view, DPUMAP_FLEET_REMOVED, e);
	free_entry(e);
}

void dpumap_view_remove(struct dpumap_view *view, const struct dpumap_fleet_key *key)
{
	struct entry *e = find(view, key);

	if (e)
		remove_entry(view, e);
}

/* --- putting ---------------------------------------------------------------------------------- */

static void drop_other_leases(struct dpumap_view *view, struct entry *owner)
{
	struct entry *next;

	for (struct entry *e = LIST_FIRST(&owner->exports); e; e = next) {
		next = LIST_NEXT(e, link);
		if (e->lease != owner->lease)
			remove_entry(view, e);
	}
}

static doca_error_t decode(const struct dpumap_view_record *record, struct entry *e,
			   struct dpumap_error *error)
{
	const struct dpumap_fleet_key *key = &record->key;
	doca_error_t result;

	if (key->name[0])
		return dpumap_record_decode_export(key->dpu, key->name, record->value, record->len,
						   &e->export_info, error);
	result = dpumap_record_decode_dpu(key->dpu, record->value, record->len, &e->dpu, error);
	if (result == DOCA_SUCCESS)
		e->dpu->lease = record->lease;
	return result;
}

static doca_error_t make_entry(const struct dpumap_view_record *record, struct entry *owner,
			       struct entry **entry, struct dpumap_error *error)
{
	struct entry *e = calloc(1, sizeof(*e));
	doca_error_t result;

	if (!e)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a record");
	LIST_INIT(&e->exports);
	result = decode(record, e, error);
	if (result != DOCA_SUCCESS) {
		free_entry(e);
		return result;
	}
	e->hash = hash_key(&record->key);
	e->owner = owner;
	e->lease = record->lease;
	e->revision = record->revision;
	e->bytes = record->len + FIXED_BYTES;
	*entry = e;
	return DOCA_SUCCESS;
}

static void add(struct dpumap_view *view, struct entry *e)
{
	insert(view, e);
	if (e->owner)
		LIST_INSERT_HEAD(&e->owner->exports, e, link);
	count(view, e, 1);
	report(view, DPUMAP_FLEET_ADDED, e);
}

/* The old entry stays, with the record of the new one. */
static void replace(struct dpumap_view *view, struct entry *old, struct entry *e)
{
	size_t exports = old->dpu ? old->dpu->num_exports : 0;
	struct dpumap_fleet_export *export_info = old->export_info;
	struct dpumap_fleet_dpu *dpu = old->dpu;

	count(view, old, -1);
	old->dpu = e->dpu;
	old->export_info = e->export_info;
	old->lease = e->lease;
	old->revision = e->revision;
	old->bytes = e->bytes;
	old->seen = e->seen;
	e->dpu = dpu;
	e->export_info = export_info;
	free_entry(e);
	if (old->dpu) {
		old->dpu->num_exports = exports;
		drop_other_leases(view, old);
	}
	count(view, old, 1);
	report(view, DPUMAP_FLEET_CHANGED, old);
}

static doca_error_t find_owner(struct dpumap_view *view, const struct dpumap_view_record *record,
			       struct entry **owner, struct dpumap_error *error)
{
	*owner = NULL;
	if (!record->key.name[0])
		return record->lease ? DOCA_SUCCESS
				     : dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
							"it has no lease");
	*owner = find_dpu(view, record->key.dpu);
	if (*owner && (*owner)->lease == record->lease)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "it does not belong to a live DPU");
}

static doca_error_t make_valid(struct dpumap_view *view, const struct dpumap_view_record *record,
			       struct entry **entry, struct dpumap_error *error)
{
	doca_error_t result;
	struct entry *owner;

	result = find_owner(view, record, &owner, error);
	if (result == DOCA_SUCCESS &&
	    view->bytes + record->len + FIXED_BYTES > DPUMAP_VIEW_BYTES_MAX)
		result = dpumap_error_set(error, DOCA_ERROR_FULL,
					  "the view has reached its limit of %u MiB",
					  DPUMAP_VIEW_BYTES_MAX >> 20);
	if (result == DOCA_SUCCESS)
		result = make_entry(record, owner, entry, error);
	return result;
}

doca_error_t dpumap_view_put(struct dpumap_view *view, const struct dpumap_view_record *record,
			     struct dpumap_error *error)
{
	struct entry *old = find(view, &record->key), *e = NULL;
	doca_error_t result;

	if (old && old->revision == record->revision && old->lease == record->lease) {
		old->seen = view->sync;
		return DOCA_SUCCESS;
	}
	result = make_valid(view, record, &e, error);
	if (result != DOCA_SUCCESS || !e) {
		if (old)
			remove_entry(view, old);
		return result;
	}
	e->seen = view->sync;
	if (old)
		replace(view, old, e);
	else
		add(view, e);
	return DOCA_SUCCESS;
}

/* --- reading everything again ----------------------------------------------------------------- */

void dpumap_view_sync_begin(struct dpumap_view *view)
{
	view->sync++;
}

/* An entry that was not seen; a DPU only after its exports. */
static struct entry *unseen(const struct dpumap_view *view, size_t bucket)
{
	struct entry *e = view->buckets[bucket];

	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): remove_entry() takes entries out of the bucket */
	while (e && e->seen == view->sync)
		e = e->next;
	return e;
}

void dpumap_view_sync_end(struct dpumap_view *view)
{
	struct entry *e;

	for (size_t i = 0; i < view->num_buckets; i++)
		while ((e = unseen(view, i)) != NULL)
			remove_entry(view, e);
}

void dpumap_view_forget_revisions(struct dpumap_view *view)
{
	for (size_t i = 0; i < view->num_buckets; i++)
		for (struct entry *e = view->buckets[i]; e; e = e->next)
			e->revision = -1;
}

/* --- looking ---------------------------------------------------------------------------------- */

const struct dpumap_fleet_dpu *dpumap_view_find_dpu(const struct dpumap_view *view, const char *dpu)
{
	const struct entry *e = find_dpu(view, dpu);

	return e ? e->dpu : NULL;
}

const struct dpumap_fleet_export *dpumap_view_find_export(const struct dpumap_view *view,
							  const struct dpumap_fleet_key *key)
{
	const struct entry *e = find(view, key);

	return e ? e->export_info : NULL;
}

int64_t dpumap_view_revision(const struct dpumap_view *view, const struct dpumap_fleet_key *key,
			     int64_t *lease)
{
	const struct entry *e = find(view, key);

	*lease = e ? e->lease : 0;
	return e ? e->revision : 0;
}

static const char *dpu_of(const struct entry *e)
{
	return e->dpu ? e->dpu->name : e->export_info->dpu;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = *(const struct entry *const *)a;
	const struct entry *y = *(const struct entry *const *)b;
	int order = strcmp(dpu_of(x), dpu_of(y));

	return order || x->dpu ? order : strcmp(x->export_info->name, y->export_info->name);
}

/* The DPUs or the exports, sorted; NULL: no memory. */
static const struct entry **sort(const struct dpumap_view *view, bool dpus, size_t num)
{
	const struct entry **list = calloc(num + 1, sizeof(struct entry *));
	size_t used = 0, i;

	if (!list)
		return NULL;
	for (i = 0; i < view->num_buckets; i++)
		for (const struct entry *e = view->buckets[i]; e; e = e->next)
			if (!e->dpu != dpus)
				list[used++] = e;
	qsort(list, used, sizeof(struct entry *), compare_entries);
	return list;
}

doca_error_t dpumap_view_sort_dpus(const struct dpumap_view *view,
				   const struct dpumap_fleet_dpu ***sorted, size_t *num)
{
	const struct dpumap_fleet_dpu **dpus =
		calloc(view->num_dpus + 1, sizeof(struct dpumap_fleet_dpu *));
	const struct entry **list = dpus ? sort(view, true, view->num_dpus) : NULL;

	if (!list) {
		free(dpus);
		return DOCA_ERROR_NO_MEMORY;
	}
	for (size_t i = 0; i < view->num_dpus; i++)
		dpus[i] = list[i]->dpu;
	free(list);
	*sorted = dpus;
	*num = view->num_dpus;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_view_sort_exports(const struct dpumap_view *view,
				      const struct dpumap_fleet_export ***sorted, size_t *num)
{
	const struct entry **list = sort(view, false, view->num_exports);
	const struct dpumap_fleet_export **exports;

	exports = list ? calloc(view->num_exports + 1, sizeof(struct dpumap_fleet_export *)) : NULL;
	for (size_t i = 0; exports && i < view->num_exports; i++)
		exports[i] = list[i]->export_info;
	free(list);
	if (!exports)
		return DOCA_ERROR_NO_MEMORY;
	*sorted = exports;
	*num = view->num_exports;
	return DOCA_SUCCESS;
}

size_t dpumap_view_num_dpus(const struct dpumap_view *view)
{
	return view->num_dpus;
}

size_t dpumap_view_num_exports(const struct dpumap_view *view)
{
	return view->num_exports;
}

size_t dpumap_view_num_newer(const struct dpumap_view *view)
{
	return view->num_newer;
}

/* --- life ------------------------------------------------------------------------------------- */

struct dpumap_view *dpumap_view_create(dpumap_view_changed_fn *changed, void *context)
{
	struct dpumap_view *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	view->num_buckets = FIRST_BUCKETS;
	view->changed = changed;
	view->context = context;
	view->buckets = calloc(FIRST_BUCKETS, sizeof(struct entry *));
	if (!view->buckets) {
		free(view);
		return NULL;
	}
	return view;
}

void dpumap_view_destroy(struct dpumap_view *view)
{
	struct entry *next;

	if (!view)
		return;
	for (size_t i = 0; i < view->num_buckets; i++) {
		for (struct entry *e = view->buckets[i]; e; e = next) {
			next = e->next;
			free_entry(e);
		}
	}
	free(view->buckets);
	free(view);
}
