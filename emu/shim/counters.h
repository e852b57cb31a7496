/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The files of counters in sysfs: the server writes them when a program is about to read one. */
#ifndef EMU_SHIM_COUNTERS_H
#define EMU_SHIM_COUNTERS_H

/* The program opens this path, or asks for its attributes: refresh its counters. Keeps errno. */
void emu_counters_refresh_path(const char *path);
/* The program is about to read. Keeps errno. */
void emu_counters_before_read(int fd);

#endif
