/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_HOST_WATCH_H
#define DPUMAP_HOST_WATCH_H

#include "options.h"

/* Prints what becomes of exports until it is killed, also over lost connections. */
command_fn watch_exports;

#endif
