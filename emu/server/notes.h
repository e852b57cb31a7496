/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The notes that engines send (struct emu_note). */
#ifndef EMU_NOTES_H
#define EMU_NOTES_H

#include "emu/ipc/shm.h"
#include "emu/server/base/reactor.h"

/* The notify socket of a process is readable: handle all notes in it. */
void emu_notes_ready(struct emu_watch *w);
void emu_note(const struct emu_note *n);

#endif
