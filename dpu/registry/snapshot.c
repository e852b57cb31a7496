/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/registry/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define AT_ONCE 64 /* exports in a turn of the loop */

struct described {
	char name[DPUMAP_EXPORT_NAME_MAX];
	struct export_labels labels;
	struct dpumap_fleet_export record; /* without these two */
};

struct snapshot {
	char *name; /* of the DPU */
	struct registry_texts addresses;
	uint64_t card_guid, generation;
	struct described *list; /* by name */
	size_t num, room;
};

static doca_error_t no_memory(struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the records");
}

static bool copy_settings(struct snapshot *snapshot, const struct registry_settings *settings)
{
	struct registry_texts *addresses = &snapshot->addresses;

	snapshot->name = strdup(settings->name);
	addresses->list = calloc(settings->addresses.num + 1, sizeof(char *));
	if (!snapshot->name || !addresses->list)
		return false;
	while (addresses->num < settings->addresses.num) {
		char *copy = strdup(settings->addresses.list[addresses->num]);

		if (!copy)
			return false;
		addresses->list[addresses->num++] = copy;
	}
	return true;
}

doca_error_t snapshot_create(const struct registry_settings *settings, uint64_t card_guid,
			     uint64_t generation, struct snapshot **snapshot,
			     struct dpumap_error *error)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		return no_memory(error);
	s->card_guid = card_guid;
	s->generation = generation;
	if (!copy_settings(s, settings)) {
		snapshot_free(s);
		return no_memory(error);
	}
	*snapshot = s;
	return DOCA_SUCCESS;
}

static bool make_room(struct snapshot *snapshot)
{
	struct described *list =
		array_make_room(snapshot->list, snapshot->num + 1, &snapshot->room, sizeof(*list));

	if (list)
		snapshot->list = list;
	return list;
}

/* Ids are never used again in one start. */
static doca_error_t add(struct snapshot *snapshot, const struct named_export *export,
			struct dpumap_error *error)
{
	const struct export_spec *spec = export_get_spec(export);
	struct dpumap_export_info info;
	struct described *added;

	if (!make_room(snapshot))
		return no_memory(error);
	added = &snapshot->list[snapshot->num];
	*added = (struct described){0};
	if (export_labels_copy(&added->labels, &spec->labels, error) != DOCA_SUCCESS)
		return error->code;
	snapshot->num++;
	export_describe(export, &info);
	memcpy(added->name, spec->name, strlen(spec->name) + 1);
	added->record = (struct dpumap_fleet_export){
		.kind = export_kind_name(spec->kind),
		.via = export_via_name(spec->via),
		.size = info.size,
		.access = info.access & ~(uint32_t)DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
		.generation = snapshot->generation + export_id(export)};
	return DOCA_SUCCESS;
}

doca_error_t snapshot_add_some(struct snapshot *snapshot, const struct export_table *exports,
			       struct dpumap_error *error)
{
	const char *last = snapshot->num ? snapshot->list[snapshot->num - 1].name : "";
	size_t at = export_table_after(exports, last);
	doca_error_t result = DOCA_SUCCESS;

	for (int i = 0; i < AT_ONCE && result == DOCA_SUCCESS; i++) {
		if (at == export_table_count(exports))
			return DOCA_SUCCESS;
		result = add(snapshot, export_table_at(exports, at++), error);
	}
	return result == DOCA_SUCCESS ? DOCA_ERROR_AGAIN : result;
}

doca_error_t snapshot_publish(const struct snapshot *snapshot,
			      const struct dpumap_fleet_table *fleet,
			      struct dpumap_publisher *publisher, struct dpumap_error *error)
{
	const struct dpumap_fleet_dpu self = {
		.name = snapshot->name,
		.addresses = (const char *const *)snapshot->addresses.list,
		.num_addresses = snapshot->addresses.num,
		.certificate_name = snapshot->name,
		.version = DPUMAP_VERSION,
		.card_guid = snapshot->card_guid,
		.generation = snapshot->generation,
	};
	struct dpumap_fleet_export *records = calloc(snapshot->num + 1, sizeof(*records));
	doca_error_t result;

	if (!records)
		return no_memory(error);
	for (size_t i = 0; i < snapshot->num; i++) {
		const struct described *one = &snapshot->list[i];

		records[i] = one->record;
		records[i].name = one->name;
		records[i].labels = (const char *const *)one->labels.list;
		records[i].num_labels = one->labels.num;
	}
	result = fleet->publisher_set(publisher, &self, records, snapshot->num, error);
	free(records);
	return result;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	for (size_t i = 0; i < snapshot->num; i++)
		export_labels_free(&snapshot->list[i].labels);
	free(snapshot->list);
	for (size_t i = 0; i < snapshot->addresses.num; i++)
		free(snapshot->addresses.list[i]);
	free(snapshot->addresses.list);
	free(snapshot->name);
	free(snapshot);
}
