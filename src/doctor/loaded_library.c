/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "doctor/loaded_library.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
	const char *name;
	char path[PATH_MAX];
};

static int match_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const char *base = strrchr(info->dlpi_name, '/');
	size_t len = strlen(search->name);

	(void)size;
	if (!base || strncmp(base + 1, search->name, len) != 0 ||
	    strncmp(base + 1 + len, ".so", 3) != 0)
		return 0;
	return snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name) <
	       (int)sizeof(search->path);
}

/*
 * Files of rdma-core are called libNAME.so.ABI.MINOR.RELEASE.PATCH; the last two are its version.
 */
static void read_version(struct loaded_library *library)
{
	const char *numbers = strstr(library->path, ".so.");
	unsigned int abi, minor, release, patch;
	char end;

	library->version[0] = '\0';
	if (numbers &&
	    sscanf(numbers, ".so.%u.%u.%u.%u%c", &abi, &minor, &release, &patch, &end) == 4)
		snprintf(library->version, sizeof(library->version), "%u.%u", release, patch);
}

bool doctor_find_loaded(const char *name, struct loaded_library *library)
{
	struct search search = {.name = name};

	if (!dl_iterate_phdr(match_object, &search))
		return false;
	if (!realpath(search.path, library->path))
		memcpy(library->path, search.path, sizeof(library->path));
	read_version(library);
	return true;
}
