/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What one doca_argp_start() was given. */
#ifndef DPUMAP_ARGP_GIVEN_H
#define DPUMAP_ARGP_GIVEN_H

#include "argp/argp.h"

/* Append a flag that was given. */
doca_error_t dpumap_argp_add_given(struct dpumap_argp *argp, struct dpumap_argp_given given);
/* Append an argument for DPDK. */
doca_error_t dpumap_argp_add_dpdk(struct dpumap_argp *argp, char *argument);

#endif
