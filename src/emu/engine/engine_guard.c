/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Copies within this process by the CPU alone, which is more than twice as fast as through the
 * kernel. Should a page be missing, our handler of SIGSEGV and SIGBUS ends the copy; faults of
 * other threads go on to whoever handled them before. A program that installs a handler of its own
 * later has the last word: then, and under a sanitizer, which wants the signals for itself, the
 * kernel copies.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "engine_int.h"

#define TRUST_NS 1000000 /* how long we believe that the signals are still ours */

void __asan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));

static const int signals[2] = {SIGSEGV, SIGBUS};
static struct sigaction before[2];
static atomic_flag taken = ATOMIC_FLAG_INIT;
static atomic_bool installed;

/* Where to go on; NULL: the fault is not ours. In the static block: no handler may allocate. */
static _Thread_local sigjmp_buf *volatile guard __attribute__((tls_model("initial-exec")));

/* Nobody handled it: as if we were not there. */
static void die(int number, const siginfo_t *info)
{
	struct sigaction none = {.sa_handler = SIG_DFL};

	sigaction(number, &none, NULL);
	if (info->si_code <= 0) /* sent; a fault happens again by itself */
		raise(number);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction *old = &before[number == SIGBUS];
	sigset_t mask = old->sa_mask, now;

	if (!(old->sa_flags & SA_SIGINFO) &&
	    (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN)) {
		die(number, info);
		return;
	}
	if (!(old->sa_flags & SA_NODEFER))
		sigaddset(&mask, number);
	pthread_sigmask(SIG_BLOCK, &mask, &now);
	if (old->sa_flags & SA_SIGINFO)
		old->sa_sigaction(number, info, context);
	else
		old->sa_handler(number);
	pthread_sigmask(SIG_SETMASK, &now, NULL);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	sigjmp_buf *to = guard;

	if (to && info->si_code > 0)
		siglongjmp(*to, 1);
	pass_on(number, info, context);
}

/* Once in a process; a forked child has it already. */
static bool install(void)
{
	struct sigaction ours = {.sa_sigaction = on_fault,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	int i;

	if (__asan_init || __tsan_init)
		return false;
	if (atomic_flag_test_and_set(&taken))
		return atomic_load(&installed);
	for (i = 0; i < 2; i++)
		if (sigaction(signals[i], NULL, &before[i]) || sigaction(signals[i], &ours, NULL))
			return false;
	atomic_store(&installed, true);
	return true;
}

static bool are_ours(void)
{
	struct sigaction now;
	int i;

	for (i = 0; i < 2; i++)
		if (sigaction(signals[i], NULL, &now) || now.sa_sigaction != on_fault)
			return false;
	return true;
}

/* Those that this thread will have; it blocks all others. */
static void want_signals(void)
{
	sigset_t set;
	int i;

	sigemptyset(&set);
	for (i = 0; i < 2; i++)
		sigaddset(&set, signals[i]);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static bool is_safe(void)
{
	static _Thread_local int64_t asked;
	static _Thread_local bool wanted, safe;
	struct timespec ts;
	int64_t now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	now = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	if (asked && now - asked < TRUST_NS)
		return safe;
	asked = now;
	safe = install() && are_ours();
	if (safe && !wanted) {
		want_signals();
		wanted = true;
	}
	return safe;
}

/* Not memcpy(): in a program it may be an instrumented one. */
static void move(void *dst, const void *src, size_t len)
{
#if defined(__x86_64__)
	__asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(len) : : "memory");
#else
	typedef uint64_t __attribute__((may_alias, aligned(1))) word;
	const word *from = src;
	word *to = dst;
	size_t i;

	for (i = 0; i < len / sizeof(word); i++)
		to[i] = from[i];
	for (i = len - len % sizeof(word); i < len; i++)
		((volatile uint8_t *)dst)[i] = ((const uint8_t *)src)[i];
#endif
}

static bool try_move(void *dst, const void *src, size_t len)
{
	sigjmp_buf here;

	if (sigsetjmp(here, 0)) {
		guard = NULL;
		return false;
	}
	guard = &here;
	atomic_signal_fence(memory_order_seq_cst);
	move(dst, src, len);
	atomic_signal_fence(memory_order_seq_cst);
	guard = NULL;
	return true;
}

bool emu_guard_copy(void *dst, const void *src, size_t len)
{
	return is_safe() && try_move(dst, src, len);
}
