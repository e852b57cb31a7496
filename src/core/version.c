/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <doca_version.h>
#include <dpumap/version.h>

const char *doca_version_runtime(void)
{
	return DOCA_VERSION_STRING;
}

const char *dpumap_version(void)
{
	return DPUMAP_VERSION_STRING;
}
