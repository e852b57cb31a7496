/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Commands of a program (doca_argp_cmd_*). */
#ifndef DPUMAP_ARGP_CMD_H
#define DPUMAP_ARGP_CMD_H

#include "argp/argp.h"

void dpumap_argp_free_cmds(struct doca_argp_cmd *cmds);

#endif
