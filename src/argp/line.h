/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parameters from the command line. */
#ifndef DPUMAP_ARGP_LINE_H
#define DPUMAP_ARGP_LINE_H

#include "argp/argp.h"

/* Read the command line. */
doca_error_t dpumap_argp_read_line(struct dpumap_argp *argp, int argc, char **argv);

#endif
