/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_BASE_THREAD_H
#define DPUMAP_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* Signals are for the other threads of the program. Returns 0 or an errno. */
static inline int thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

#endif
