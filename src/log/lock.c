/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "log/lock.h"

#include <pthread.h>
#include <signal.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* Not a recursive mutex: after a fork that would be owned by a thread of the parent. */
static _Thread_local unsigned int depth;

/*
 * A signal handler may log. Signals are blocked between locking the mutex and setting depth:
 * otherwise a handler could wait for the mutex that its own thread holds.
 */
static void lock(void)
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

static void unlock(void)
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

static void register_fork_handlers(void)
{
	pthread_atfork(lock, unlock, unlock);
}

/* Writing is a cancellation point, and a cancelled thread would keep the lock for ever. */
void dpumap_log_lock(struct dpumap_log_lock_state *state)
{
	pthread_once(&fork_once, register_fork_handlers);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state->cancel_state);
	lock();
}

void dpumap_log_unlock(const struct dpumap_log_lock_state *state)
{
	int ignored;

	unlock();
	pthread_setcancelstate(state->cancel_state, &ignored);
}
