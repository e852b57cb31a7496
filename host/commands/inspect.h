/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The commands list, info and get. */
#ifndef DPUMAP_HOST_INSPECT_H
#define DPUMAP_HOST_INSPECT_H

#include "host/settings/options.h"

command_fn inspect_list;
command_fn inspect_info;
command_fn inspect_get;

#endif
