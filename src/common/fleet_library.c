/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common/fleet_library.h"

#include <dlfcn.h>
#include <string.h>

#include <dpumap/version.h>

doca_error_t dpumap_fleet_library_load(const struct dpumap_fleet_table **table,
				       struct dpumap_error *error)
{
	void *library = dlopen(DPUMAP_FLEET_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	/* The first member of the table in every release. */
	const char *const *version;

	if (!library)
		return dpumap_error_set(error, DOCA_ERROR_NOT_SUPPORTED,
					"a fleet needs " DPUMAP_FLEET_LIBRARY
					": install the package libdpumap-fleet0 (%.160s)",
					dlerror());
	version = dlsym(library, DPUMAP_FLEET_SYMBOL);
	if (!version || strcmp(*version, DPUMAP_VERSION_STRING) != 0) {
		dpumap_error_set(error, DOCA_ERROR_NOT_SUPPORTED,
				 DPUMAP_FLEET_LIBRARY " is of release %.40s, and this program of "
						      "%s: install the same release of both",
				 version ? *version : "another kind", DPUMAP_VERSION_STRING);
		dlclose(library);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	*table = (const struct dpumap_fleet_table *)version;
	return DOCA_SUCCESS;
}
