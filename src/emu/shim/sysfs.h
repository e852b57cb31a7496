/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Programs that name /sys/class/infiniband outright, where libibverbs follows $SYSFS_PATH. */
#ifndef EMU_SHIM_SYSFS_H
#define EMU_SHIM_SYSFS_H

#include <limits.h>
#include <stdbool.h>

/* The file that a path means: itself, or in `room` its place in the emulator's tree. */
const char *emu_sysfs_path(const char *path, char room[PATH_MAX]);

#endif
