/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/clock_register.h"

#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "device/errno.h"
#include "log/log.h"

doca_error_t dpumap_clock_register_read(struct ibv_context *context, uint64_t *ticks)
{
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	/* Some releases of libmlx5 return a negative errno. */
	int err = abs(ibv_query_rt_values_ex(context, &values));
	doca_error_t result =
		dpumap_errno_to_one_of(err, DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_NOT_PERMITTED);

	if (!err && values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK) {
		*ticks = (uint64_t)values.raw_clock.tv_nsec;
		return DOCA_SUCCESS;
	}
	if (!err || result == DOCA_ERROR_NOT_SUPPORTED)
		return DOCA_ERROR_NOT_SUPPORTED;
	return dpumap_fail(result, "%s: reading the core clock failed: %s",
			   ibv_get_device_name(context->device), strerror(err));
}
