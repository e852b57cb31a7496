/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a program has rung for before it ends a queue pair, a connection or itself. A card would have sent it by then;
 * an engine may not have had the processor yet. So these functions wait until the queue pairs have done what was rung
 * for and answered what had arrived, or until their peers cannot take it. A stopped peer counts as one that cannot if
 * it makes no progress for two seconds, and any wait ends after ten. Signals stay open.
 */
#ifndef EMU_SHIM_LAST_WORK_H
#define EMU_SHIM_LAST_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/engine.h"

/* This process has started an engine. */
void emu_last_work_begin(const struct emu_engine_config *config);
/* False: this process has no engine, and sees no queue pairs. */
bool emu_last_work_possible(void);

void emu_last_work_of_queue(uint32_t qpn);
/* Wait for the queue pairs that this process has made by an open file, given by its socket's inode. */
void emu_last_work_of_file(uint64_t ino);
/* Wait for all queue pairs of this process. Also in a signal handler. */
void emu_last_work_of_all(void);
/* Let this process's engines make a pass: it publishes completions of what peers have answered. */
void emu_last_work_let_pass(void);

/*
 * A signal whose default action ends the program, while that action is the program's choice: the work that it has rung
 * for is done first (last_work.h), then the default action follows, with the program's registers as they were. The
 * program does not see the handler: it finds SIG_DFL.
 */

/* This process has started an engine. */
void emu_last_signal_begin(void);

/*
 * Do the last work before a system call by number that closes a device or an event channel, ends the program or
 * executes another one.
 */
void emu_close_before_call(long number, const long arg[static 3]);

#endif
