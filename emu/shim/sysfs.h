/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Access to /sys/class/infiniband by programs that do not follow $SYSFS_PATH as libibverbs does. */
#ifndef EMU_SHIM_SYSFS_H
#define EMU_SHIM_SYSFS_H

#include <limits.h>
#include <stdbool.h>

/* The path to use: `path` itself, or in `room` its place in the emulator's tree. */
const char *emu_sysfs_path(const char *path, char room[PATH_MAX]);

/*
 * Call it with the result of an open of `path`. Entries of no GID have attributes that cannot be read
 * (EINVAL). Returns the descriptor.
 */
int emu_sysfs_opened(int fd, const char *path, int flags);

#endif
