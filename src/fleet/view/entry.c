/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/view/entry.h"

#include <stdlib.h>
#include <string.h>

#define AROUND 32 /* bytes of the allocator and of the table, about */

struct view_dpu *dpumap_view_entry_dpu(struct view_entry *entry)
{
	return (struct view_dpu *)entry;
}

struct view_export *dpumap_view_entry_export(struct view_entry *entry)
{
	return (struct view_export *)entry;
}

/* The first member is the entry. */
static const struct view_dpu *as_dpu(const struct view_entry *entry)
{
	return (const struct view_dpu *)entry;
}

static const struct view_export *as_export(const struct view_entry *entry)
{
	return (const struct view_export *)entry;
}

/* --- exports ---------------------------------------------------------------------------------- */

static uint8_t index_of(const char *const names[], const char *name)
{
	uint8_t i = 0;

	while (names[i] && strcmp(names[i], name) != 0)
		i++;
	return i;
}

static size_t size_of_texts(const struct dpumap_fleet_export *e)
{
	size_t size = strlen(e->name) + 1;

	for (size_t i = 0; i < e->num_labels; i++)
		size += strlen(e->labels[i]) + 1;
	return size;
}

static struct view_export *pack(const struct dpumap_fleet_export *e)
{
	struct view_export *packed = calloc(1, sizeof(*packed) + size_of_texts(e));
	char *at;

	if (!packed)
		return NULL;
	packed->size = e->size;
	packed->generation = e->generation;
	packed->access = e->access;
	packed->kind = index_of(dpumap_record_kinds, e->kind);
	packed->via = index_of(dpumap_record_vias, e->via);
	packed->num_labels = (uint8_t)e->num_labels;
	packed->needs_newer = e->needs_newer;
	at = stpcpy(packed->texts, e->name) + 1;
	for (size_t i = 0; i < e->num_labels; i++)
		at = stpcpy(at, e->labels[i]) + 1;
	return packed;
}

static const char *name_at(const char *const names[], uint8_t index)
{
	return names[index] ? names[index] : "";
}

void dpumap_view_unpack(const struct view_entry *entry, struct view_unpacked *unpacked)
{
	const struct view_export *e = as_export(entry);
	const char *at = e->texts;

	for (size_t i = 0; i < e->num_labels; i++)
		unpacked->labels[i] = at = at + strlen(at) + 1;
	unpacked->export_info = (struct dpumap_fleet_export){
		.dpu = entry->owner->dpu->name,
		.name = e->texts,
		.kind = name_at(dpumap_record_kinds, e->kind),
		.via = name_at(dpumap_record_vias, e->via),
		.size = e->size,
		.access = e->access,
		.generation = e->generation,
		.labels = unpacked->labels,
		.num_labels = e->num_labels,
		.needs_newer = e->needs_newer,
	};
}

static doca_error_t make_export(const struct dpumap_view_record *record, struct view_entry **entry,
				struct dpumap_error *error)
{
	struct dpumap_fleet_export *decoded;
	struct view_export *packed;
	doca_error_t result;

	result = dpumap_record_decode_export(record->key.dpu, record->key.name, record->value,
					     record->len, &decoded, error);
	if (result != DOCA_SUCCESS)
		return result;
	packed = pack(decoded);
	free(decoded);
	if (!packed)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a record");
	*entry = &packed->entry;
	return DOCA_SUCCESS;
}

/* --- DPUs ------------------------------------------------------------------------------------- */

static doca_error_t make_dpu(const struct dpumap_view_record *record, struct view_entry **entry,
			     struct dpumap_error *error)
{
	struct view_dpu *made = calloc(1, sizeof(*made));
	doca_error_t result;

	if (!made)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a record");
	result = dpumap_record_decode_dpu(record->key.dpu, record->value, record->len, &made->dpu,
					  error);
	if (result != DOCA_SUCCESS) {
		free(made);
		return result;
	}
	LIST_INIT(&made->exports);
	made->dpu->lease = record->lease;
	made->bytes = record->len;
	*entry = &made->entry;
	return DOCA_SUCCESS;
}

/* --- both ------------------------------------------------------------------------------------- */

doca_error_t dpumap_view_entry_make(const struct dpumap_view_record *record, struct view_dpu *owner,
				    struct view_entry **entry, struct dpumap_error *error)
{
	doca_error_t result =
		owner ? make_export(record, entry, error) : make_dpu(record, entry, error);

	if (result != DOCA_SUCCESS)
		return result;
	(*entry)->owner = owner;
	(*entry)->revision = record->revision;
	return DOCA_SUCCESS;
}

void dpumap_view_entry_free(struct view_entry *entry)
{
	if (!entry->owner)
		free(as_dpu(entry)->dpu);
	free(entry);
}

size_t dpumap_view_entry_bytes(const struct view_entry *entry)
{
	struct view_unpacked unpacked;

	if (!entry->owner)
		return sizeof(struct view_dpu) + sizeof(struct dpumap_fleet_dpu) +
		       as_dpu(entry)->bytes + AROUND;
	dpumap_view_unpack(entry, &unpacked);
	return sizeof(struct view_export) + size_of_texts(&unpacked.export_info) + AROUND;
}

bool dpumap_view_entry_is_newer(const struct view_entry *entry)
{
	return entry->owner ? as_export(entry)->needs_newer : as_dpu(entry)->dpu->needs_newer;
}

const char *dpumap_view_entry_dpu_name(const struct view_entry *entry)
{
	return entry->owner ? entry->owner->dpu->name : as_dpu(entry)->dpu->name;
}

const char *dpumap_view_entry_name(const struct view_entry *entry)
{
	return entry->owner ? as_export(entry)->texts : "";
}
