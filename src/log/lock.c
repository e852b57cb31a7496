/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "log/lock.h"

#include <pthread.h>
#include <signal.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* Not a recursive mutex: in the child of a fork that would belong to a thread of the parent. */
static _Thread_local unsigned int depth;

/*
 * A signal handler may log. No signal comes between the mutex and depth, or its handler would wait
 * for a mutex that the thread it interrupts has.
 */
static void enter(void)
{
	sigset_t all, before;

	if (!depth) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		pthread_mutex_lock(&mutex);
		depth = 1;
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	} else {
		depth++;
	}
}

static void leave(void)
{
	sigset_t all, before;

	if (depth == 1) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		depth = 0;
		pthread_mutex_unlock(&mutex);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	} else {
		depth--;
	}
}

static void watch_forks(void)
{
	pthread_atfork(enter, leave, leave);
}

/* A cancelled thread would take the lock with it: to write is a cancellation point. */
void dpumap_log_lock(struct dpumap_log_hold *hold)
{
	pthread_once(&fork_once, watch_forks);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &hold->cancel_state);
	enter();
}

void dpumap_log_unlock(const struct dpumap_log_hold *hold)
{
	int state;

	leave();
	pthread_setcancelstate(hold->cancel_state, &state);
}
