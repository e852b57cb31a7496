/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "log/source.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "log/lock.h"

/* Indexed by number - 1; NULL where a number is free. */
static char **names;
static int nnames;

static int find_free(void)
{
	int i = 0;

	while (i < nnames && names[i])
		i++;
	return i;
}

static bool grow(void)
{
	char **more;

	if (nnames == INT_MAX)
		return false;
	more = reallocarray(names, (size_t)nnames + 1, sizeof(*names));
	if (!more)
		return false;
	names = more;
	names[nnames++] = NULL;
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
	if (i < nnames || grow()) {
		names[i] = copy;
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
	char *name = NULL;

	dpumap_log_lock(&state);
	if (source > 0 && source <= nnames) {
		name = names[source - 1];
		names[source - 1] = NULL;
	}
	dpumap_log_unlock(&state);
	free(name);
	return name != NULL;
}

const char *dpumap_log_source_name(int source)
{
	return source > 0 && source <= nnames ? names[source - 1] : NULL;
}
