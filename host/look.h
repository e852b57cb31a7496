/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The commands that move no data. */
#ifndef DPUMAP_HOST_LOOK_H
#define DPUMAP_HOST_LOOK_H

#include "options.h"

command_fn look_list;
command_fn look_info;
command_fn look_get_descriptor;

#endif
