/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/last_work.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/shim/interpose.h"

static atomic_bool has_engine;
/* Looked up before a signal arrives: a handler must not wait for the loader's lock. */
static __typeof__(&sigaction) next_sigaction;

static bool ends_the_program(int number)
{
	switch (number) {
	case SIGKILL:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGCONT:
	case SIGCHLD:
	case SIGURG:
	case SIGWINCH:
		return false;
	default:
		return true;
	}
}

/* The signal is blocked here, so that it comes again when the handler has returned, to where the program was. */
static void on_last_signal(int number)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};

	emu_last_work_of_all();
	next_sigaction(number, &by_default, NULL);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

static struct sigaction ours(void)
{
	struct sigaction action = {.sa_handler = on_last_signal, .sa_flags = SA_ONSTACK};

	sigfillset(&action.sa_mask);
	return action;
}

static bool is_default(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

static bool is_ours(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == on_last_signal;
}

/* The program may install a handler at the same time: then it keeps it. */
static void replace_default(int number)
{
	const struct sigaction action = ours();
	struct sigaction before;

	if (next_sigaction(number, NULL, &before) || !is_default(&before))
		return;
	if (!next_sigaction(number, &action, &before) && !is_default(&before) && !is_ours(&before))
		next_sigaction(number, &before, NULL);
}

void emu_last_signal_begin(void)
{
	if (atomic_load(&has_engine))
		return;
	next_sigaction = NEXT(sigaction);
	atomic_store(&has_engine, true);
	for (int number = 1; number <= SIGRTMAX; number++)
		if (ends_the_program(number))
			replace_default(number);
}

EXPORT int sigaction(int number, const struct sigaction *restrict action,
		     struct sigaction *restrict before)
{
	const struct sigaction last = ours();
	int ret;

	if (action && atomic_load(&has_engine) && is_default(action) && ends_the_program(number))
		action = &last;
	ret = NEXT(sigaction)(number, action, before);
	if (!ret && before && is_ours(before))
		*before = (struct sigaction){.sa_handler = SIG_DFL};
	return ret;
}

/* The functions that take a handler alone, under their names of BSD and of System V. */
#define DEFINE_SIGNAL(name)                                                                   \
	EXPORT sighandler_t name(int number, sighandler_t handler)                            \
	{                                                                                     \
		bool is_last = handler == SIG_DFL && atomic_load(&has_engine) &&              \
			       ends_the_program(number);                                      \
		sighandler_t before = NEXT(name)(number, is_last ? on_last_signal : handler); \
                                                                                              \
		return before == on_last_signal ? SIG_DFL : before;                           \
	}

sighandler_t bsd_signal(int number, sighandler_t handler);
sighandler_t __sysv_signal(int number, sighandler_t handler);
sighandler_t sysv_signal(int number, sighandler_t handler);

DEFINE_SIGNAL(signal)
DEFINE_SIGNAL(bsd_signal)
DEFINE_SIGNAL(ssignal)
DEFINE_SIGNAL(sysv_signal)
DEFINE_SIGNAL(__sysv_signal)
