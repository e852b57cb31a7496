/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_HOST_INTERRUPT_H
#define DPUMAP_HOST_INTERRUPT_H

#include <signal.h>

/* The signal that asked us to stop, or 0. Whatever waits looks at it. */
extern volatile sig_atomic_t interrupt_signal;

void interrupt_catch(void);
/* For what has nothing to tidy up: a signal ends the process from now on. */
void interrupt_release(void);
/* Ends the process by the signal, as its parent expects; returns only if there was none. */
void interrupt_die(void);

#endif
