/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * ADVISE_MR: prefetching pages of on-demand regions. An engine copies through the kernel, which
 * loads missing pages, so every copy may fault; advice only makes that happen earlier. The errors
 * are the driver's (drivers/infiniband/hw/mlx5/mr.c and odp.c).
 */
#ifndef EMU_ODP_H
#define EMU_ODP_H

#include "emu/server/uverbs/method.h"

extern const struct emu_method emu_methods_odp[];

#endif
