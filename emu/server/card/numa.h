/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The processors near a function, and the NUMA nodes of its machine. */
#ifndef EMU_CARD_NUMA_H
#define EMU_CARD_NUMA_H

#include "emu/server/card/sysfs.h"

/* Write the files `mask` and `list` with the processors of a NUMA node, or with all. */
void emu_numa_cpus(struct emu_sysfs_dir *d, const char *mask, const char *list,
		   const struct emu_place *at);
/* Write devices/system/node of the function's machine, if it has NUMA nodes of its own. 0 or a negative errno. */
int emu_numa_create(const struct emu_func *f);

#endif
