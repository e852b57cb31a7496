/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/export_ids.h"

#include <stdlib.h>

#define SLOTS_MIN 64u

/* Ids are consecutive: the multiplication spreads them, so that runs stay short. */
static size_t home_of(const struct export_ids *ids, uint64_t id)
{
	return (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (ids->num_slots - 1);
}

static size_t after(const struct export_ids *ids, size_t slot)
{
	return (slot + 1) & (ids->num_slots - 1);
}

/* The slot of the id, or the free one where it would be added. */
static size_t slot_of(const struct export_ids *ids, uint64_t id)
{
	size_t slot = home_of(ids, id);

	while (ids->slots[slot] && export_id(ids->slots[slot]) != id)
		slot = after(ids, slot);
	return slot;
}

doca_error_t export_ids_reserve(struct export_ids *ids, size_t num, struct dpumap_error *error)
{
	struct export_ids grown = {.num_slots = ids->num_slots ? ids->num_slots : SLOTS_MIN};

	while (grown.num_slots < 2 * num)
		grown.num_slots *= 2;
	if (grown.num_slots == ids->num_slots)
		return DOCA_SUCCESS;
	grown.slots = calloc(grown.num_slots, sizeof(struct named_export *));
	if (!grown.slots)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY,
					"no memory for further exports");
	for (size_t i = 0; i < ids->num_slots; i++)
		if (ids->slots[i])
			export_ids_add(&grown, ids->slots[i]);
	free(ids->slots);
	*ids = grown;
	return DOCA_SUCCESS;
}

void export_ids_free(struct export_ids *ids)
{
	free(ids->slots);
	*ids = (struct export_ids){0};
}

void export_ids_add(struct export_ids *ids, struct named_export *export)
{
	ids->slots[slot_of(ids, export_id(export))] = export;
}

/* Closes the gap: moves exports back that were added behind it because of a collision. */
void export_ids_remove(struct export_ids *ids, const struct named_export *export)
{
	size_t gap = slot_of(ids, export_id(export));
	size_t mask = ids->num_slots - 1;

	if (!ids->slots[gap])
		return;
	for (size_t at = after(ids, gap); ids->slots[at]; at = after(ids, at)) {
		size_t home = home_of(ids, export_id(ids->slots[at]));

		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		ids->slots[gap] = ids->slots[at];
		gap = at;
	}
	ids->slots[gap] = NULL;
}

struct named_export *export_ids_find(const struct export_ids *ids, uint64_t id)
{
	return ids->num_slots ? ids->slots[slot_of(ids, id)] : NULL;
}
