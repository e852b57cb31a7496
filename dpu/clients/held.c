/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/clients/held.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define HELD_MAX 65536u

/* The index of the export, or where it belongs. */
static size_t find(const struct held *held, uint64_t id)
{
	size_t low = 0, high = held->num;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (held->list[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct held *held, size_t at, uint64_t id)
{
	return at < held->num && held->list[at].id == id;
}

static bool make_room(struct held *held)
{
	struct held_export *list =
		array_make_room(held->list, held->num + 1, &held->room, sizeof(*list));

	if (list)
		held->list = list;
	return list;
}

doca_error_t held_add(struct held *held, uint64_t id, struct dpumap_error *error)
{
	size_t at = find(held, id);

	if (held->total == HELD_MAX)
		return dpumap_error_set(error, DOCA_ERROR_FULL,
					"the client already holds %u exports: release some first",
					HELD_MAX);
	if (!is_at(held, at, id)) {
		if (!make_room(held))
			return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY,
						"no memory for a client");
		memmove(&held->list[at + 1], &held->list[at],
			(held->num - at) * sizeof(*held->list));
		held->list[at] = (struct held_export){.id = id};
		held->num++;
	}
	held->list[at].times++;
	held->total++;
	return DOCA_SUCCESS;
}

bool held_has(const struct held *held, uint64_t id)
{
	return is_at(held, find(held, id), id);
}

static void take_out(struct held *held, size_t at)
{
	held->num--;
	memmove(&held->list[at], &held->list[at + 1], (held->num - at) * sizeof(*held->list));
}

void held_remove(struct held *held, uint64_t id)
{
	size_t at = find(held, id);

	if (!is_at(held, at, id))
		return;
	held->total--;
	if (--held->list[at].times == 0)
		take_out(held, at);
}

size_t held_forget(struct held *held, uint64_t id)
{
	size_t at = find(held, id), times;

	if (!is_at(held, at, id))
		return 0;
	times = held->list[at].times;
	held->total -= times;
	take_out(held, at);
	return times;
}

void held_free(struct held *held)
{
	free(held->list);
	*held = (struct held){0};
}
