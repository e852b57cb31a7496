/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/memory/guard.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "emu/engine/memory/memory.h"

/* From these lengths on the wide registers, and bypassing the nearest caches, pay off. */
#define WIDE_MIN     512u
#define PREFETCH_MIN (256u << 10)
/* From this length on the processor's own copy is the fastest one, if it is optimized (ERMS). */
#define STRING_MIN   (32u << 10)
#define STRING_APART 16u /* bytes, see is_slow_string() */
#define PAGE	     4096u
#define ERMS	     (1u << 9) /* CPUID, leaf 7, EBX */

void __asan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));

static const int signals[2] = {SIGSEGV, SIGBUS};
static struct sigaction before[2];
static atomic_flag taken = ATOMIC_FLAG_INIT;
static atomic_bool installed;

/*
 * Where to continue after a fault; NULL: the fault is not ours. In static TLS: a handler must not
 * allocate.
 */
static _Thread_local sigjmp_buf *volatile guard __attribute__((tls_model("initial-exec")));

/* There was no handler: restore the default action. */
static void die(int number, const siginfo_t *info)
{
	struct sigaction none = {.sa_handler = SIG_DFL};

	sigaction(number, &none, NULL);
	if (info->si_code <= 0) /* sent by kill(); a fault would repeat by itself */
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

/* Once per process; a forked child inherits it. */
static bool install(void)
{
	struct sigaction ours = {.sa_sigaction = on_fault,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	if (__asan_init || __tsan_init)
		return false;
	if (atomic_flag_test_and_set(&taken))
		return atomic_load(&installed);
	for (int i = 0; i < 2; i++)
		if (sigaction(signals[i], NULL, &before[i]) || sigaction(signals[i], &ours, NULL))
			return false;
	atomic_store(&installed, true);
	return true;
}

static bool are_ours(void)
{
	struct sigaction now;

	for (int i = 0; i < 2; i++)
		if (sigaction(signals[i], NULL, &now) || now.sa_sigaction != on_fault)
			return false;
	return true;
}

void emu_guard_block_signals(sigset_t *old)
{
	sigset_t set;

	sigfillset(&set);
	for (int i = 0; i < 2; i++)
		sigdelset(&set, signals[i]);
	pthread_sigmask(SIG_SETMASK, &set, old);
}

/* The signals that this thread gets; it blocks all others. */
static void want_signals(void)
{
	static _Thread_local bool wanted __attribute__((tls_model("initial-exec")));
	sigset_t set;

	if (wanted)
		return;
	wanted = true;
	sigemptyset(&set);
	for (int i = 0; i < 2; i++)
		sigaddset(&set, signals[i]);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

bool emu_guard_check(struct emu_memory *mem)
{
	struct emu_guard *g = &mem->guard;

	g->asked = *mem->now;
	g->safe = install() && are_ours();
	emu_guard_enter(mem);
	return g->safe;
}

void emu_guard_enter(const struct emu_memory *mem)
{
	if (mem->guard.safe)
		want_signals();
}

typedef uint64_t __attribute__((vector_size(32), aligned(1), may_alias)) wide;
typedef uint64_t __attribute__((vector_size(16), aligned(1), may_alias)) vector;
typedef uint64_t __attribute__((aligned(1), may_alias)) word;
typedef uint32_t __attribute__((aligned(1), may_alias)) half;

#if defined(__x86_64__)
#define AHEAD 2048 /* bytes */

static __attribute__((noinline, target("avx2,prfchw"))) void move_wide(wide *to, const wide *from,
								       size_t n, bool prefetches)
{
	for (; n; n -= 4, to += 4, from += 4) {
		wide a = from[0], b = from[1], c = from[2], d = from[3];

		if (prefetches) { /* two lines */
			__builtin_prefetch((const uint8_t *)from + AHEAD);
			__builtin_prefetch((const uint8_t *)from + AHEAD + 64);
			__builtin_prefetch((const uint8_t *)to + AHEAD, 1);
			__builtin_prefetch((const uint8_t *)to + AHEAD + 64, 1);
		}
		to[0] = a;
		to[1] = b;
		to[2] = c;
		to[3] = d;
	}
}

/* Asked once: in a virtual machine the question takes longer than a copy. */
static bool has_fast_strings(void)
{
	enum { UNKNOWN, NO, YES };
	static atomic_int known;
	unsigned int a, b = 0, c, d;
	int answer = atomic_load_explicit(&known, memory_order_relaxed);

	if (answer == UNKNOWN) {
		answer = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & ERMS ? YES : NO;
		atomic_store_explicit(&known, answer, memory_order_relaxed);
	}
	return answer == YES;
}

/* Zen 4 copies ten times slower if the target's offset in its page is a few bytes greater than the source's. */
static bool is_slow_string(const uint8_t *to, const uint8_t *from)
{
	uintptr_t ahead = ((uintptr_t)to - (uintptr_t)from) % PAGE;

	return ahead && ahead < STRING_APART;
}

/* The first part of a very long copy. Its stores may be seen in any order, but before those that follow. */
static size_t move_string(uint8_t *to, const uint8_t *from, size_t len)
{
	size_t n = len - WIDE_MIN, left = n;

	if (is_slow_string(to, from) || !has_fast_strings())
		return 0;
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
	return n;
}

/* The part of a long copy for wide registers; the bytes before it are already copied. */
static size_t move_middle(uint8_t *to, const uint8_t *from, size_t len)
{
	size_t n = len / sizeof(wide) & ~(size_t)3;

	if (!__builtin_cpu_supports("avx2"))
		return 0;
	move_wide((wide *)(void *)to, (const wide *)(const void *)from, n, len >= PREFETCH_MIN);
	return n * sizeof(wide);
}
#else
static size_t move_string(uint8_t *to, const uint8_t *from, size_t len)
{
	(void)to;
	(void)from;
	(void)len;
	return 0;
}

static size_t move_middle(uint8_t *to, const uint8_t *from, size_t len)
{
	(void)to;
	(void)from;
	(void)len;
	return 0;
}
#endif

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

static void move_few(uint8_t *to, const uint8_t *from, size_t len)
{
	size_t i = len & ~(sizeof(vector) - 1);

	move_vectors((vector *)(void *)to, (const vector *)(const void *)from,
		     len / sizeof(vector));
	if (i == len)
		return;
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

/*
 * Not memcpy(), which may be instrumented. Copies from the first byte to the last, each byte once
 * and each whole word by one access, as a program may poll for it; of very long copies this is true for
 * the last WIDE_MIN bytes, which are copied after all others. Not inline in emu_guard_copy(),
 * which must keep nothing in registers.
 */
static __attribute__((noinline)) void move(uint8_t *to, const uint8_t *from, size_t len)
{
	size_t n;

	if (len >= STRING_MIN) {
		n = move_string(to, from, len);
		to += n;
		from += n;
		len -= n;
	}
	if (len >= WIDE_MIN) {
		n = -(uintptr_t)to % sizeof(wide);
		move_few(to, from, n);
		n += move_middle(to + n, from + n, len - n);
		to += n;
		from += n;
		len -= n;
	}
	move_few(to, from, len);
}

bool emu_guard_copy(void *dst, const void *src, size_t len)
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
