/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/base/interrupt.h"

#include <stddef.h>

#include "base/array.h"

volatile sig_atomic_t interrupt_signal;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void on_signal(int number)
{
	interrupt_signal = number;
}

static void on_wake(int number)
{
	(void)number;
}

void interrupt_catch(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sigaction wake = {.sa_handler = on_wake};
	struct sigaction old;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		/* Signals that the parent ignores (nohup) stay ignored. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&wake.sa_mask);
	sigaction(SIGRTMIN, &wake, NULL);
}

void interrupt_mask(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&set, signals[i]);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

void interrupt_wake(pthread_t thread)
{
	pthread_kill(thread, SIGRTMIN);
}

static void restore_defaults(void)
{
	struct sigaction old;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == on_signal)
			signal(signals[i], SIG_DFL);
	}
}

void interrupt_release(void)
{
	restore_defaults();
	interrupt_die();
}

void interrupt_finish(void)
{
	restore_defaults();
	interrupt_signal = 0;
}

void interrupt_die(void)
{
	if (interrupt_signal == 0)
		return;
	signal(interrupt_signal, SIG_DFL);
	raise(interrupt_signal);
}
