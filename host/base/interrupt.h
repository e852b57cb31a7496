/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Signals that end a command. */
#ifndef DPUMAP_HOST_INTERRUPT_H
#define DPUMAP_HOST_INTERRUPT_H

#include <pthread.h>
#include <signal.h>

/* The signal that requested the end, or 0. Functions that wait check it. */
extern volatile sig_atomic_t interrupt_signal;

void interrupt_catch(void);
/* Threads created from here until pthread_sigmask(before) do not receive these signals. */
void interrupt_mask(sigset_t *before);
/* A call in which the thread waits returns EINTR. Without effect if it is about to wait. */
void interrupt_wake(pthread_t thread);
/* Restores the default actions, for commands that have nothing to clean up. */
void interrupt_release(void);
/*
 * The signal was the normal end of the command: functions that wait work again, to clean up. Another
 * signal ends the process at once.
 */
void interrupt_finish(void);
/* Ends the process by the received signal, as its parent expects; returns if there was none. */
void interrupt_die(void);

#endif
