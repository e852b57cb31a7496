/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/commands/commands.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An installation may be moved: the directory is found relative to this program. */
static bool bindir(char *dir, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", dir, size);
	char *slash;

	if (len < 0 || (size_t)len >= size)
		return false;
	dir[len] = '\0';
	slash = strrchr(dir, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

doca_error_t doca_pkgconfig_dir_print(const struct options *options, struct dpumap_error *error)
{
	char bin[PATH_MAX], path[PATH_MAX + sizeof("/" DPUMAP_DOCA_DIR)];
	char *real;

	(void)options;
	if (!bindir(bin, sizeof(bin)))
		return dpumap_error_set(error, DOCA_ERROR_OPERATING_SYSTEM,
					"cannot find the path of this program: %s",
					strerror(errno));
	snprintf(path, sizeof(path), "%s/%s", bin, DPUMAP_DOCA_DIR);
	real = realpath(path, NULL);
	if (!real)
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND,
					"cannot find %s: %s; is the development package installed?",
					path, strerror(errno));
	puts(real);
	free(real);
	return DOCA_SUCCESS;
}
