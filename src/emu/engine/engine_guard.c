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
/* The processor's own instruction takes long to begin, and gains nothing beyond the caches. */
#define STRING_MIN 1024u
#define STRING_MAX 65536u

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

static bool is_safe(struct engine *e)
{
	struct emu_guard *g = &e->guard;

	if (g->asked && e->now - g->asked < TRUST_NS)
		return g->safe;
	g->asked = e->now;
	g->safe = install() && are_ours();
	if (g->safe && !g->wanted) {
		want_signals();
		g->wanted = true;
	}
	return g->safe;
}

typedef uint64_t __attribute__((vector_size(16), aligned(1), may_alias)) vector;
typedef uint64_t __attribute__((aligned(1), may_alias)) word;
typedef uint32_t __attribute__((aligned(1), may_alias)) half;

static void move_vectors(vector *to, const vector *from, size_t n)
{
	for (; n >= 4; n -= 4, to += 4, from += 4) {
		vector a = from[0], b = from[1], c = from[2], d = from[3];

		to[0] = a;
		to[1] = b;
		to[2] = c;
		to[3] = d;
	}
	for (; n; n--)
		*to++ = *from++;
}

/*
 * Not memcpy(): in a program it may be an instrumented one. A whole word is written by one access,
 * as somebody may be waiting for it. Not within try_move(), which keeps nothing in registers.
 */
static __attribute__((noinline)) void move(void *dst, const void *src, size_t len)
{
	size_t i = len & ~(sizeof(vector) - 1);
	const uint8_t *from = src;
	uint8_t *to = dst;

#if defined(__x86_64__)
	if (len >= STRING_MIN && len < STRING_MAX) {
		__asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(len) : : "memory");
		return;
	}
#endif
	move_vectors(dst, src, len / sizeof(vector));
	if (len & sizeof(word)) {
		*(word *)(void *)(to + i) = *(const word *)(const void *)(from + i);
		i += sizeof(word);
	}
	if (len & sizeof(half)) {
		*(half *)(void *)(to + i) = *(const half *)(const void *)(from + i);
		i += sizeof(half);
	}
	for (; i < len; i++)
		*(volatile uint8_t *)(to + i) = from[i];
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

bool emu_guard_copy(struct engine *e, void *dst, const void *src, size_t len)
{
	return is_safe(e) && try_move(dst, src, len);
}
