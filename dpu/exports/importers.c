/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/importers.h"

#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct importer {
	const char *name;
	uint64_t exports[EXPORT_VIAS];
	char text[]; /* the name */
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct importer *)a)->name, ((const struct importer *)b)->name);
}

static struct importer *find(const struct importers *importers, const char *peer)
{
	const struct importer key = {.name = peer};
	void *node = tfind(&key, &importers->by_name, compare);

	return node ? *(struct importer **)node : NULL;
}

/* NULL: no memory. */
static struct importer *make(struct importers *importers, const char *peer)
{
	size_t size = strlen(peer) + 1;
	struct importer *made = calloc(1, sizeof(*made) + size);

	if (!made)
		return NULL;
	memcpy(made->text, peer, size);
	made->name = made->text;
	if (tsearch(made, &importers->by_name, compare))
		return made;
	free(made);
	return NULL;
}

void importers_add(struct importers *importers, const struct export_spec *spec)
{
	const char *peer = NULL;
	struct importer *i;

	while ((peer = export_peers_next(spec->allow, peer))) {
		i = find(importers, peer);
		if (!i)
			i = make(importers, peer);
		if (i)
			i->exports[spec->via]++;
		else
			importers->is_incomplete = true;
	}
}

static bool is_used(const struct importer *i)
{
	for (int via = 0; via < EXPORT_VIAS; via++)
		if (i->exports[via])
			return true;
	return false;
}

void importers_remove(struct importers *importers, const struct export_spec *spec)
{
	const char *peer = NULL;
	struct importer *i;

	while ((peer = export_peers_next(spec->allow, peer))) {
		i = find(importers, peer);
		if (!i || !i->exports[spec->via])
			continue; /* memory was exhausted */
		i->exports[spec->via]--;
		if (is_used(i))
			continue;
		tdelete(i, &importers->by_name, compare);
		free(i);
	}
}

static bool has(const struct importers *importers, const char *peer, enum export_via via)
{
	const struct importer *i = find(importers, peer);

	return i && i->exports[via];
}

bool importers_have(const struct importers *importers, const char *peer, enum export_via via)
{
	return importers->is_incomplete || has(importers, peer, via) || has(importers, "*", via);
}

void importers_free(struct importers *importers)
{
	tdestroy(importers->by_name, free);
	*importers = (struct importers){0};
}
