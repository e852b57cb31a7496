/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/spec/export_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void export_list_free(struct export_list *list)
{
	for (size_t i = 0; i < list->num; i++)
		export_spec_free(&list->specs[i]);
	free(list->specs);
	*list = (struct export_list){0};
}

/* The index of name, or where it would be inserted. */
static size_t lower_bound(const struct export_list *list, const char *name)
{
	size_t low = 0, high = list->num;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(list->specs[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static doca_error_t make_room(struct export_list *list, size_t num, struct dpumap_error *error)
{
	struct export_spec *specs =
		array_make_room(list->specs, list->num + num, &list->room, sizeof(*specs));

	if (!specs)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for %zu exports",
					list->num + num);
	list->specs = specs;
	return DOCA_SUCCESS;
}

doca_error_t export_list_add(struct export_list *list, struct export_spec *spec,
			     struct dpumap_error *error)
{
	size_t at = lower_bound(list, spec->name);
	doca_error_t result;

	if (at < list->num && strcmp(list->specs[at].name, spec->name) == 0)
		return dpumap_error_set(error, DOCA_ERROR_ALREADY_EXIST,
					"there are two exports called %s", spec->name);
	result = make_room(list, 1, error);
	if (result != DOCA_SUCCESS)
		return result;
	memmove(&list->specs[at + 1], &list->specs[at], (list->num - at) * sizeof(*spec));
	list->specs[at] = *spec;
	list->num++;
	export_spec_init(spec);
	return DOCA_SUCCESS;
}

doca_error_t export_list_append(struct export_list *list, struct export_list *others,
				struct dpumap_error *error)
{
	doca_error_t result;

	if (!others->num)
		return DOCA_SUCCESS;
	result = make_room(list, others->num, error);
	if (result != DOCA_SUCCESS)
		return result;
	memcpy(&list->specs[list->num], others->specs, others->num * sizeof(*others->specs));
	list->num += others->num;
	free(others->specs);
	*others = (struct export_list){0};
	return DOCA_SUCCESS;
}

static int compare_names(const void *a, const void *b)
{
	const struct export_spec *x = a, *y = b;

	return strcmp(x->name, y->name);
}

const struct export_spec *export_list_sort(struct export_list *list)
{
	if (!list->num)
		return NULL;
	qsort(list->specs, list->num, sizeof(*list->specs), compare_names);
	for (size_t i = 1; i < list->num; i++)
		if (strcmp(list->specs[i - 1].name, list->specs[i].name) == 0)
			return &list->specs[i - 1];
	return NULL;
}
