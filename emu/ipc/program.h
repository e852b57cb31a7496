/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Programs into which the loader does not preload a library: they do not see the emulated device. */
#ifndef EMU_PROGRAM_H
#define EMU_PROGRAM_H

#include <limits.h>

/* The file that execvp() would execute. Returns `file` itself, `path`, or NULL if there is none. */
const char *emu_program_find(const char *file, char path[static PATH_MAX]);

/*
 * Say on stderr if the program will not see the device: it gains privileges when this process executes it,
 * or it is static and mentions RDMA devices. Allocates nothing and keeps errno: the caller may be the child
 * of a vfork().
 */
void emu_program_warn(const char *path);

#endif
