/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/failed_exports.h"

#include <stdlib.h>
#include <string.h>

void failed_exports_free(struct failed_exports *failed)
{
	while (failed->num)
		free(failed->list[--failed->num].why);
	free(failed->list);
	failed->list = NULL;
}

/* The name is the first member. */
static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static struct failed_export *find(const struct failed_exports *failed, const char *name)
{
	return failed->num
		       ? bsearch(name, failed->list, failed->num, sizeof(*failed->list), compare)
		       : NULL;
}

bool failed_exports_has(const struct failed_exports *failed, const char *name)
{
	return find(failed, name);
}

void failed_exports_remove(struct failed_exports *failed, const char *name)
{
	struct failed_export *gone = find(failed, name);

	if (!gone)
		return;
	free(gone->why);
	failed->num--;
	memmove(gone, gone + 1, (size_t)(failed->list + failed->num - gone) * sizeof(*gone));
}

doca_error_t failed_exports_add(struct failed_exports *failed, const char *name,
				const struct dpumap_error *why)
{
	struct failed_export *list = reallocarray(failed->list, failed->num + 1, sizeof(*list)),
			     *added;
	char *text;

	if (!list)
		return DOCA_ERROR_NO_MEMORY;
	failed->list = list;
	text = strdup(why->text);
	if (!text)
		return DOCA_ERROR_NO_MEMORY;
	failed_exports_remove(failed, name);
	added = &list[failed->num++];
	memset(added, 0, sizeof(*added));
	strncpy(added->name, name, sizeof(added->name) - 1);
	added->why = text;
	/* A change adds them in their order. */
	if (failed->num > 1 && compare(added - 1, added) > 0)
		qsort(list, failed->num, sizeof(*list), compare);
	return DOCA_SUCCESS;
}
