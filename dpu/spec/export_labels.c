/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/spec/export_labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel/message.h"

static doca_error_t no_memory(struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the labels");
}

static bool is_valid(const char *text)
{
	char key[DPUMAP_EXPORT_NAME_MAX];
	size_t len = strcspn(text, "=");

	if (text[len] != '=' || len >= sizeof(key))
		return false;
	memcpy(key, text, len);
	key[len] = '\0';
	return dpumap_export_name_valid(key) && dpumap_export_name_valid(text + len + 1);
}

static bool has_key_of(const char *label, const char *text)
{
	return strncmp(label, text, strcspn(text, "=") + 1) == 0;
}

static doca_error_t check(const struct export_labels *labels, const char *text,
			  struct dpumap_error *error)
{
	if (!is_valid(text))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"label must be KEY=VALUE, each 1 to 63 of A-Z a-z 0-9 . _ "
					"-, beginning with a letter or digit, not \"%s\"",
					text);
	if (labels->num == EXPORT_LABELS_MAX)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"an export has at most %d labels", EXPORT_LABELS_MAX);
	for (size_t i = 0; i < labels->num; i++)
		if (has_key_of(labels->list[i], text))
			return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
						"label %.*s is given twice",
						(int)strcspn(text, "="), text);
	return DOCA_SUCCESS;
}

doca_error_t export_labels_add(struct export_labels *labels, const char *text,
			       struct dpumap_error *error)
{
	doca_error_t result = check(labels, text, error);
	size_t at = labels->num;
	char **list, *copy;

	if (result != DOCA_SUCCESS)
		return result;
	list = reallocarray(labels->list, labels->num + 1, sizeof(*list));
	if (!list)
		return no_memory(error);
	labels->list = list;
	copy = strdup(text);
	if (!copy)
		return no_memory(error);
	for (; at > 0 && strcmp(list[at - 1], text) > 0; at--)
		list[at] = list[at - 1];
	list[at] = copy;
	labels->num++;
	return DOCA_SUCCESS;
}

doca_error_t export_labels_copy(struct export_labels *copy, const struct export_labels *labels,
				struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	*copy = (struct export_labels){0};
	for (size_t i = 0; i < labels->num && result == DOCA_SUCCESS; i++)
		result = export_labels_add(copy, labels->list[i], error);
	if (result != DOCA_SUCCESS)
		export_labels_free(copy);
	return result;
}

void export_labels_free(struct export_labels *labels)
{
	for (size_t i = 0; i < labels->num; i++)
		free(labels->list[i]);
	free(labels->list);
	*labels = (struct export_labels){0};
}

bool export_labels_are_equal(const struct export_labels *a, const struct export_labels *b)
{
	if (a->num != b->num)
		return false;
	for (size_t i = 0; i < a->num; i++)
		if (strcmp(a->list[i], b->list[i]) != 0)
			return false;
	return true;
}
