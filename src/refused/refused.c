/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "refused/refused.h"

#include "core/dev/dev.h"
#include "log/log.h"

#define WHY "rdma-core has no interface to such an engine; use the CPU instead"

doca_error_t dpumap_refuse_cap(const char *function, const struct doca_devinfo *devinfo,
			       const void *out)
{
	if (!devinfo || !out)
		return dpumap_fail_null(function);
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s: %s does not support this: " WHY,
				function, dpumap_hca_name(devinfo->hca));
}

doca_error_t dpumap_refuse_create(const char *function, const struct doca_dev *dev, const void *out)
{
	if (!dev || !out)
		return dpumap_fail_null(function);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: %s does not support this: " WHY, function,
			   dpumap_hca_name(dev->info.hca));
}

doca_error_t dpumap_refuse_call(const char *function, const void *object)
{
	if (!object)
		return dpumap_fail_null(function);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "%s: %p is not a valid object: this library creates none, because " WHY,
			   function, object);
}
