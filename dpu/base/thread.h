/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Threads beside that of the main loop. */
#ifndef DPUMAPD_THREAD_H
#define DPUMAPD_THREAD_H

#include <pthread.h>

/* Signals are for the main thread. Returns 0 or an errno. */
int thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

#endif
