/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The command watch in a fleet. */
#ifndef DPUMAP_HOST_FLEET_WATCH_H
#define DPUMAP_HOST_FLEET_WATCH_H

#include "host/settings/options.h"

/* Prints events of DPUs and exports until it is killed. */
command_fn fleet_watch;

#endif
