/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Capabilities for the functions that return one of them. */
#ifndef DPUMAP_CORE_DEV_CAPS_H
#define DPUMAP_CORE_DEV_CAPS_H

#include "core/dev/dev.h"
#include "log/log.h"

/* Query capabilities for `function`, which returns one of them in *out. */
static inline doca_error_t dpumap_devinfo_get_caps(const char *function,
						   const struct doca_devinfo *devinfo,
						   const void *out, struct dpumap_caps *caps)
{
	if (!devinfo || !out)
		return dpumap_fail_null(function);
	return dpumap_hca_get_caps(devinfo->hca, caps);
}

#endif
