/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "argp/argp.h"

#include <stdlib.h>

#include "log/log.h"

doca_error_t dpumap_argp_add_given(struct dpumap_argp *argp, struct dpumap_argp_given given)
{
	if (argp->num_given == argp->max_given) {
		size_t max = argp->max_given ? 2 * argp->max_given : 16;
		struct dpumap_argp_given *more =
			reallocarray(argp->given, max, sizeof(*argp->given));

		if (!more)
			return dpumap_fail(DOCA_ERROR_NO_MEMORY,
					   "doca_argp_start: no memory for %zu flags", max);
		argp->given = more;
		argp->max_given = max;
	}
	argp->given[argp->num_given++] = given;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_argp_add_dpdk(struct dpumap_argp *argp, char *argument)
{
	char **more = reallocarray(argp->dpdk_argv, argp->dpdk_argc + 2, sizeof(*more));

	if (!more)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "doca_argp_start: no memory for DPDK's arguments");
	more[argp->dpdk_argc++] = argument;
	more[argp->dpdk_argc] = NULL;
	argp->dpdk_argv = more;
	return DOCA_SUCCESS;
}
