/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An import for its own sake, and word of what becomes of exports. */
#ifndef DPUMAP_HOST_HOLD_H
#define DPUMAP_HOST_HOLD_H

#include "options.h"

command_fn hold_import;

#endif
