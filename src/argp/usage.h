/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The text of --help. */
#ifndef DPUMAP_ARGP_USAGE_H
#define DPUMAP_ARGP_USAGE_H

#include "argp/argp.h"

void dpumap_argp_print_usage(const struct dpumap_argp *argp, const struct dpumap_argp_level *level);
const char *dpumap_argp_program_name(const struct dpumap_argp *argp);

#endif
