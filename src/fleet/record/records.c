/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fleet/record/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The index of the key, or where it belongs. */
static size_t position_of(const struct dpumap_records *records, const char *key, bool *found)
{
	size_t low = 0, high = records->num, middle;
	int order;

	*found = false;
	while (low < high) {
		middle = low + (high - low) / 2;
		order = strcmp(records->list[middle].key, key);
		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room(struct dpumap_records *records)
{
	struct dpumap_record_text *list =
		array_make_room(records->list, records->num + 1, &records->room, sizeof(*list));

	if (list)
		records->list = list;
	return list;
}

doca_error_t dpumap_records_set(struct dpumap_records *records, const char *key, const char *text)
{
	struct dpumap_record_text made = {.key = strdup(key), .text = strdup(text)};
	bool found;
	size_t i = position_of(records, key, &found);

	if (!made.key || !made.text || (!found && !make_room(records))) {
		free(made.key);
		free(made.text);
		return DOCA_ERROR_NO_MEMORY;
	}
	if (found) {
		free(records->list[i].key);
		free(records->list[i].text);
	} else {
		memmove(&records->list[i + 1], &records->list[i],
			(records->num - i) * sizeof(records->list[0]));
		records->num++;
	}
	records->list[i] = made;
	return DOCA_SUCCESS;
}

void dpumap_records_remove(struct dpumap_records *records, const char *key)
{
	bool found;
	size_t i = position_of(records, key, &found);

	if (!found)
		return;
	free(records->list[i].key);
	free(records->list[i].text);
	records->num--;
	memmove(&records->list[i], &records->list[i + 1],
		(records->num - i) * sizeof(records->list[0]));
}

void dpumap_records_clear(struct dpumap_records *records)
{
	for (size_t i = 0; i < records->num; i++) {
		free(records->list[i].key);
		free(records->list[i].text);
	}
	free(records->list);
	*records = (struct dpumap_records){0};
}

const struct dpumap_record_text *dpumap_records_find(const struct dpumap_records *records,
						     const char *key)
{
	bool found;
	size_t i = position_of(records, key, &found);

	return found ? &records->list[i] : NULL;
}

bool dpumap_records_equal(const struct dpumap_records *a, const struct dpumap_records *b)
{
	if (a->num != b->num)
		return false;
	for (size_t i = 0; i < a->num; i++)
		if (strcmp(a->list[i].key, b->list[i].key) != 0 ||
		    strcmp(a->list[i].text, b->list[i].text) != 0)
			return false;
	return true;
}
