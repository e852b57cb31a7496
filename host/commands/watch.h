/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The command watch. */
#ifndef DPUMAP_HOST_WATCH_H
#define DPUMAP_HOST_WATCH_H

#include "host/settings/options.h"

/* The command watch: prints events of exports until it is killed, and reconnects when necessary. */
command_fn watch_exports;

#endif
