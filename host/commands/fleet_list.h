/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The command list in a fleet: exports as the registry knows them. */
#ifndef DPUMAP_HOST_FLEET_LIST_H
#define DPUMAP_HOST_FLEET_LIST_H

#include "host/settings/options.h"

command_fn fleet_list;

#endif
