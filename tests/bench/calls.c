/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

/* Hidden functions would count the program's own calls alone. */
#define EXPORT __attribute__((visibility("default")))

_Thread_local unsigned long bench_allocations, bench_locks;

#ifndef __SANITIZE_ADDRESS__
void *__libc_malloc(size_t size);	      /* NOLINT(bugprone-reserved-identifier) */
void *__libc_calloc(size_t n, size_t size);   /* NOLINT(bugprone-reserved-identifier) */
void *__libc_realloc(void *old, size_t size); /* NOLINT(bugprone-reserved-identifier) */

EXPORT void *malloc(size_t size)
{
	bench_allocations++;
	return __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	bench_allocations++;
	return __libc_calloc(n, size);
}

EXPORT void *realloc(void *old, size_t size)
{
	bench_allocations++;
	return __libc_realloc(old, size);
}
#endif

/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are a name and a type */
#define COUNT_LOCK(name, type)                                     \
	EXPORT int name(type *lock)                                \
	{                                                          \
		static int (*real)(type *);                        \
                                                                   \
		bench_locks++;                                     \
		if (!real)                                         \
			*(void **)&real = dlsym(RTLD_NEXT, #name); \
		return real(lock);                                 \
	}
COUNT_LOCK(pthread_mutex_lock, pthread_mutex_t)
COUNT_LOCK(pthread_mutex_trylock, pthread_mutex_t)
COUNT_LOCK(pthread_spin_lock, pthread_spinlock_t)
/* NOLINTEND(bugprone-macro-parentheses) */
