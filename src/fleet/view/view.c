/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/view/view.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/view/entry.h"

#define FIRST_BUCKETS 64

struct dpumap_view {
	struct view_entry **buckets;
	size_t num_buckets, num_dpus, num_exports, num_newer, bytes;
	uint32_t sync;
	void *found; /* a tree of struct found */
	dpumap_view_changed_fn *changed;
	void *context;
};

/* An export that somebody looks at for longer than a call. */
struct found {
	const struct view_entry *entry;
	struct view_unpacked unpacked;
};

/* --- the table -------------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint32_t hash_key(const struct dpumap_fleet_key *key)
{
	uint64_t hash = hash_text(hash_text(UINT64_C(0xcbf29ce484222325), key->dpu), key->name);

	return (uint32_t)(hash ^ hash >> 32);
}

static bool is_entry(const struct view_entry *e, uint32_t hash, const struct dpumap_fleet_key *key)
{
	return e->hash == hash && strcmp(dpumap_view_entry_name(e), key->name) == 0 &&
	       strcmp(dpumap_view_entry_dpu_name(e), key->dpu) == 0;
}

static struct view_entry *find(const struct dpumap_view *view, const struct dpumap_fleet_key *key)
{
	uint32_t hash = hash_key(key);
	struct view_entry *e = view->buckets[hash & (view->num_buckets - 1)];

	while (e && !is_entry(e, hash, key))
		e = e->next;
	return e;
}

static struct view_dpu *find_dpu(const struct dpumap_view *view, const char *dpu)
{
	struct dpumap_fleet_key key = {0};
	struct view_entry *e;

	dpumap_fleet_copy(key.dpu, sizeof(key.dpu), dpu);
	e = find(view, &key);
	return e ? dpumap_view_entry_dpu(e) : NULL;
}

/* Without memory the buckets only become longer. */
static void grow(struct dpumap_view *view)
{
	size_t num = view->num_buckets * 2, i;
	struct view_entry **buckets = calloc(num, sizeof(struct view_entry *));
	struct view_entry *next;

	if (!buckets)
		return;
	for (i = 0; i < view->num_buckets; i++) {
		for (struct view_entry *e = view->buckets[i]; e; e = next) {
			next = e->next;
			e->next = buckets[e->hash & (num - 1)];
			buckets[e->hash & (num - 1)] = e;
		}
	}
	free(view->buckets);
	view->buckets = buckets;
	view->num_buckets = num;
}

static void insert(struct dpumap_view *view, struct view_entry *e)
{
	struct view_entry **bucket;

	if (view->num_dpus + view->num_exports > view->num_buckets)
		grow(view);
	bucket = &view->buckets[e->hash & (view->num_buckets - 1)];
	e->next = *bucket;
	*bucket = e;
}

static void unlink_entry(struct dpumap_view *view, struct view_entry *e)
{
	struct view_entry **link = &view->buckets[e->hash & (view->num_buckets - 1)];

	while (*link != e)
		link = &(*link)->next;
	*link = e->next;
}

/* --- entries ---------------------------------------------------------------------------------- */

static int64_t lease_of(struct view_entry *e)
{
	return (e->owner ? e->owner : dpumap_view_entry_dpu(e))->dpu->lease;
}

static void count(struct dpumap_view *view, const struct view_entry *e, int by)
{
	size_t *num = e->owner ? &view->num_exports : &view->num_dpus;
	size_t bytes = dpumap_view_entry_bytes(e);

	*num += (size_t)by;
	if (e->owner)
		e->owner->dpu->num_exports += (size_t)by;
	if (dpumap_view_entry_is_newer(e))
		view->num_newer += (size_t)by;
	view->bytes += by > 0 ? bytes : -bytes;
}

static void report(struct dpumap_view *view, enum dpumap_fleet_event event, struct view_entry *e)
{
	struct view_unpacked unpacked;

	if (!e->owner) {
		view->changed(view->context, event, dpumap_view_entry_dpu(e)->dpu, NULL);
		return;
	}
	dpumap_view_unpack(e, &unpacked);
	view->changed(view->context, event, NULL, &unpacked.export_info);
}

static int compare_found(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct found *)a)->entry;
	uintptr_t y = (uintptr_t)((const struct found *)b)->entry;

	return (x > y) - (x < y);
}

static void free_entry(struct dpumap_view *view, struct view_entry *e)
{
	const struct found key = {.entry = e};
	struct found **node = tfind(&key, &view->found, compare_found), *found;

	if (node) {
		found = *node;
		tdelete(&key, &view->found, compare_found);
		free(found);
	}
	dpumap_view_entry_free(e);
}

static void add(struct dpumap_view *view, struct view_entry *e)
{
	insert(view, e);
	if (e->owner)
		LIST_INSERT_HEAD(&e->owner->exports, dpumap_view_entry_export(e), link);
	count(view, e, 1);
}

static void take_out(struct dpumap_view *view, struct view_entry *e)
{
	count(view, e, -1);
	unlink_entry(view, e);
	if (e->owner)
		LIST_REMOVE(dpumap_view_entry_export(e), link);
}

static void remove_entry(struct dpumap_view *view, struct view_entry *e);

static void remove_exports(struct dpumap_view *view, struct view_dpu *dpu)
{
	while (!LIST_EMPTY(&dpu->exports))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): remove_entry() takes it off the list */
		remove_entry(view, &LIST_FIRST(&dpu->exports)->entry);
}

static void remove_entry(struct dpumap_view *view, struct view_entry *e)
{
	if (!e->owner)
		remove_exports(view, dpumap_view_entry_dpu(e));
	take_out(view, e);
	report(view, DPUMAP_FLEET_REMOVED, e);
	free_entry(view, e);
}

void dpumap_view_remove(struct dpumap_view *view, const struct dpumap_fleet_key *key)
{
	struct view_entry *e = find(view, key);

	if (e)
		remove_entry(view, e);
}

/* --- putting ---------------------------------------------------------------------------------- */

/* The old entry stays, as its exports refer to it, with the record of the new one. */
static void replace_dpu(struct dpumap_view *view, struct view_entry *old, struct view_entry *e)
{
	struct view_dpu *dpu = dpumap_view_entry_dpu(old), *fresh = dpumap_view_entry_dpu(e);
	struct dpumap_fleet_dpu *before = dpu->dpu;

	count(view, old, -1);
	fresh->dpu->num_exports = before->num_exports;
	dpu->dpu = fresh->dpu;
	dpu->bytes = fresh->bytes;
	old->revision = e->revision;
	old->seen = e->seen;
	fresh->dpu = before;
	if (before->lease != dpu->dpu->lease)
		remove_exports(view, dpu);
	dpumap_view_entry_free(e);
	count(view, old, 1);
	report(view, DPUMAP_FLEET_CHANGED, old);
}

static void replace(struct dpumap_view *view, struct view_entry *old, struct view_entry *e)
{
	if (!old->owner) {
		replace_dpu(view, old, e);
		return;
	}
	take_out(view, old);
	free_entry(view, old);
	add(view, e);
	report(view, DPUMAP_FLEET_CHANGED, e);
}

static doca_error_t find_owner(struct dpumap_view *view, const struct dpumap_view_record *record,
			       struct view_dpu **owner, struct dpumap_error *error)
{
	*owner = NULL;
	if (!record->key.name[0])
		return record->lease ? DOCA_SUCCESS
				     : dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
							"it has no lease");
	*owner = find_dpu(view, record->key.dpu);
	if (*owner && (*owner)->dpu->lease == record->lease)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "it does not belong to a live DPU");
}

static doca_error_t make_valid(struct dpumap_view *view, const struct dpumap_view_record *record,
			       struct view_entry **entry, struct dpumap_error *error)
{
	struct view_dpu *owner;
	struct view_entry *e;
	doca_error_t result;

	result = find_owner(view, record, &owner, error);
	if (result == DOCA_SUCCESS)
		result = dpumap_view_entry_make(record, owner, &e, error);
	if (result != DOCA_SUCCESS)
		return result;
	if (view->bytes + dpumap_view_entry_bytes(e) > DPUMAP_VIEW_BYTES_MAX) {
		dpumap_view_entry_free(e);
		return dpumap_error_set(error, DOCA_ERROR_FULL,
					"the view has reached its limit of %u MiB",
					DPUMAP_VIEW_BYTES_MAX >> 20);
	}
	e->hash = hash_key(&record->key);
	*entry = e;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_view_put(struct dpumap_view *view, const struct dpumap_view_record *record,
			     struct dpumap_error *error)
{
	struct view_entry *old = find(view, &record->key), *e = NULL;
	doca_error_t result;

	if (old && old->revision == record->revision && lease_of(old) == record->lease) {
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
	if (old) {
		replace(view, old, e);
		return DOCA_SUCCESS;
	}
	add(view, e);
	report(view, DPUMAP_FLEET_ADDED, e);
	return DOCA_SUCCESS;
}

/* --- reading everything again ----------------------------------------------------------------- */

void dpumap_view_sync_begin(struct dpumap_view *view)
{
	view->sync++;
}

/* An entry that was not seen; a DPU only after its exports. */
static struct view_entry *unseen(const struct dpumap_view *view, size_t bucket)
{
	struct view_entry *e = view->buckets[bucket];

	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): remove_entry() takes entries out of the bucket */
	while (e && e->seen == view->sync)
		e = e->next;
	return e;
}

void dpumap_view_sync_end(struct dpumap_view *view)
{
	struct view_entry *e;

	for (size_t i = 0; i < view->num_buckets; i++)
		while ((e = unseen(view, i)) != NULL)
			remove_entry(view, e);
}

void dpumap_view_forget_revisions(struct dpumap_view *view)
{
	for (size_t i = 0; i < view->num_buckets; i++)
		for (struct view_entry *e = view->buckets[i]; e; e = e->next)
			e->revision = -1;
}

/* --- looking ---------------------------------------------------------------------------------- */

const struct dpumap_fleet_dpu *dpumap_view_find_dpu(const struct dpumap_view *view, const char *dpu)
{
	const struct view_dpu *found = find_dpu(view, dpu);

	return found ? found->dpu : NULL;
}

static struct found *make_found(struct dpumap_view *view, const struct view_entry *e)
{
	struct found *found = calloc(1, sizeof(*found));

	if (!found)
		return NULL;
	found->entry = e;
	if (!tsearch(found, &view->found, compare_found)) {
		free(found);
		return NULL;
	}
	dpumap_view_unpack(e, &found->unpacked);
	return found;
}

doca_error_t dpumap_view_find_export(struct dpumap_view *view, const struct dpumap_fleet_key *key,
				     const struct dpumap_fleet_export **export_info)
{
	const struct view_entry *e = find(view, key);
	const struct found wanted = {.entry = e};
	struct found **node, *found;

	if (!e || !e->owner)
		return DOCA_ERROR_NOT_FOUND;
	node = tfind(&wanted, &view->found, compare_found);
	found = node ? *node : make_found(view, e);
	if (!found)
		return DOCA_ERROR_NO_MEMORY;
	*export_info = &found->unpacked.export_info;
	return DOCA_SUCCESS;
}

void dpumap_view_forget_found(struct dpumap_view *view)
{
	tdestroy(view->found, free);
	view->found = NULL;
}

int64_t dpumap_view_revision(const struct dpumap_view *view, const struct dpumap_fleet_key *key,
			     int64_t *lease)
{
	struct view_entry *e = find(view, key);

	*lease = e ? lease_of(e) : 0;
	return e ? e->revision : 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct view_entry *x = *(struct view_entry *const *)a;
	const struct view_entry *y = *(struct view_entry *const *)b;
	int order = strcmp(dpumap_view_entry_dpu_name(x), dpumap_view_entry_dpu_name(y));

	return order ? order : strcmp(dpumap_view_entry_name(x), dpumap_view_entry_name(y));
}

/* The DPUs or the exports, sorted; NULL: no memory. */
static struct view_entry **sort(const struct dpumap_view *view, bool dpus, size_t num)
{
	struct view_entry **list = calloc(num + 1, sizeof(struct view_entry *));
	size_t used = 0;

	if (!list)
		return NULL;
	for (size_t i = 0; i < view->num_buckets; i++)
		for (struct view_entry *e = view->buckets[i]; e; e = e->next)
			if (!e->owner == dpus)
				list[used++] = e;
	qsort(list, used, sizeof(struct view_entry *), compare_entries);
	return list;
}

doca_error_t dpumap_view_sort_dpus(const struct dpumap_view *view,
				   const struct dpumap_fleet_dpu ***sorted, size_t *num)
{
	const struct dpumap_fleet_dpu **dpus =
		calloc(view->num_dpus + 1, sizeof(struct dpumap_fleet_dpu *));
	struct view_entry **list = dpus ? sort(view, true, view->num_dpus) : NULL;

	if (!list) {
		free(dpus);
		return DOCA_ERROR_NO_MEMORY;
	}
	for (size_t i = 0; i < view->num_dpus; i++)
		dpus[i] = dpumap_view_entry_dpu(list[i])->dpu;
	free(list);
	*sorted = dpus;
	*num = view->num_dpus;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_view_each_export(const struct dpumap_view *view, dpumap_view_export_fn *each,
				     void *context)
{
	struct view_entry **list = sort(view, false, view->num_exports);
	struct view_unpacked unpacked;

	if (!list)
		return DOCA_ERROR_NO_MEMORY;
	for (size_t i = 0; i < view->num_exports; i++) {
		dpumap_view_unpack(list[i], &unpacked);
		each(context, &unpacked.export_info);
	}
	free(list);
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
	view->buckets = calloc(FIRST_BUCKETS, sizeof(struct view_entry *));
	if (!view->buckets) {
		free(view);
		return NULL;
	}
	return view;
}

void dpumap_view_destroy(struct dpumap_view *view)
{
	struct view_entry *next;

	if (!view)
		return;
	dpumap_view_forget_found(view);
	for (size_t i = 0; i < view->num_buckets; i++) {
		for (struct view_entry *e = view->buckets[i]; e; e = next) {
			next = e->next;
			dpumap_view_entry_free(e);
		}
	}
	free(view->buckets);
	free(view);
}
