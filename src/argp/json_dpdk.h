/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The flags for DPDK in a JSON file. */
#ifndef DPUMAP_ARGP_JSON_DPDK_H
#define DPUMAP_ARGP_JSON_DPDK_H

#include "argp/argp.h"

/* Read one of the flags for DPDK. */
doca_error_t dpumap_argp_read_json_dpdk(struct dpumap_argp *argp, const char *key,
					struct json_object *value);

#endif
