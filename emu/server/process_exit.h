/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a process leaves behind when it ends or executes another program. Objects in a file that
 * other processes hold live on. A kernel has the pages of their regions pinned; here the memory is
 * gone with the process, and another process may soon have its number: access to such a region
 * fails from then on.
 */
#ifndef EMU_PROCESS_EXIT_H
#define EMU_PROCESS_EXIT_H

#include <sys/types.h>

#include "emu/server/base/reactor.h"
#include "emu/server/uverbs/file.h"

/* A channel of the process to the file was closed. */
void emu_process_left(struct emu_file *f, pid_t pid);
/* The notify socket of a process was closed: its engine has ended. */
void emu_notes_hang_up(struct emu_watch *w);

#endif
