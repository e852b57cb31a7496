/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The trace: one line per command or work request. Lines are the same in each run: contexts are
 * numbered, processes are not named, addresses are offsets in their memory. Access keys never
 * appear.
 */
#ifndef EMU_TRACE_H
#define EMU_TRACE_H

#include "emu/server/uverbs/cmd.h"

/* Start when a client begins to read, and stop with the last reader. */
void emu_trace_start(bool addresses);
void emu_trace_stop(void);

/* Trace a command before and after its execution; `err` is 0 or a negative errno. */
void emu_trace_begin(const struct emu_cmd *c);
void emu_trace_end(const struct emu_cmd *c, int err);
void emu_trace_mmap(struct emu_file *f, uint64_t len, int err);
/* Trace a fault on demand; `words` are those of the command line. */
void emu_trace_fault(const char *words, int err);
void emu_trace_wr(const struct emu_note_wr *n);
/* A line about a machine: `text`, and the result of a command unless `err` is positive. */
void emu_trace_line(const char *role, const char *text, int err);

#endif
