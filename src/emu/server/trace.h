/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The trace: one line a command or work request, in words that are the same in each run: contexts
 * are counted, processes are not named, addresses are told from where their memory begins. Access
 * keys never appear.
 */
#ifndef EMU_TRACE_H
#define EMU_TRACE_H

#include "cmd.h"

/* Somebody reads from now on, or nobody any more. */
void emu_trace_start(bool addresses);
void emu_trace_stop(void);

/* Before a command is executed, and when it was (0 or a negative errno). */
void emu_trace_begin(const struct emu_cmd *c);
void emu_trace_end(const struct emu_cmd *c, int err);
void emu_trace_mmap(struct emu_file *f, uint64_t len, int err);
void emu_trace_wr(const struct emu_note_wr *n);

#endif
