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

/*
 * The files of counters, which the server writes when a program is about to read one. The program opens this path, or
 * asks for its attributes: refresh its counters. Keeps errno.
 */
void emu_counters_refresh_path(const char *path);
/* The program is about to read from the descriptor. Keeps errno. */
void emu_counters_before_read(int fd);

#endif
