/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "log/source.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "log/lock.h"

/* Indexed by number - 1; without a name where a number is free. */
static struct source {
	char *name;
	uint32_t level;
} * sources;
static int nsources;

static struct source *source_of(int source)
{
	return source > 0 && source <= nsources && sources[source - 1].name ? &sources[source - 1]
									    : NULL;
}

static int find_free(void)
{
	int i = 0;

	while (i < nsources && sources[i].name)
		i++;
	return i;
}

static bool grow(void)
{
	struct source *more;

	if (nsources == INT_MAX)
		return false;
	more = reallocarray(sources, (size_t)nsources + 1, sizeof(*sources));
	if (!more)
		return false;
	sources = more;
	sources[nsources++].name = NULL;
	return true;
}

int dpumap_log_source_add(const char *name)
{
	struct dpumap_log_lock_state state;
	char *copy = strdup(name);
	int i, source = 0;

	if (!copy)
		return 0;
	dpumap_log_lock(&state);
	i = find_free();
	if (i < nsources || grow()) {
		sources[i] = (struct source){.name = copy, .level = DOCA_LOG_LEVEL_TRACE};
		copy = NULL;
		source = i + 1;
	}
	dpumap_log_unlock(&state);
	free(copy);
	return source;
}

bool dpumap_log_source_remove(int source)
{
	struct dpumap_log_lock_state state;
	struct source *removed;
	char *name = NULL;

	dpumap_log_lock(&state);
	removed = source_of(source);
	if (removed) {
		name = removed->name;
		removed->name = NULL;
	}
	dpumap_log_unlock(&state);
	free(name);
	return name != NULL;
}

const char *dpumap_log_source_name(int source)
{
	const struct source *found = source_of(source);

	return found ? found->name : NULL;
}

int dpumap_log_source_last(void)
{
	return nsources;
}

uint32_t dpumap_log_source_level(int source)
{
	const struct source *found = source_of(source);

	return found ? found->level : UINT32_MAX;
}

void dpumap_log_source_set_level(int source, uint32_t level)
{
	struct source *found = source_of(source);

	if (found)
		found->level = level;
}
