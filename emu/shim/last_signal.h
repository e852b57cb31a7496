/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A signal whose default action ends the program, while that action is the program's choice: the work that it has rung
 * for is done first (last_work.h), then the default action follows, with the program's registers as they were. The
 * program does not see the handler: it finds SIG_DFL.
 */
#ifndef EMU_SHIM_LAST_SIGNAL_H
#define EMU_SHIM_LAST_SIGNAL_H

/* This process has started an engine. */
void emu_last_signal_begin(void);

#endif
