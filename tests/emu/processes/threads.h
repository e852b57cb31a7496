/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Report what the threads of a process do that should have ended. */
#ifndef DPUMAP_TESTS_THREADS_H
#define DPUMAP_TESTS_THREADS_H

#include <sys/types.h>

/* Print the name, state, times, system call and kernel stack of each thread. */
void threads_print(pid_t pid, const char *name);

#endif
