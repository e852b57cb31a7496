/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a process that should have ended is doing, so that a failed test explains itself. */
#ifndef DPUMAP_TESTS_THREADS_H
#define DPUMAP_TESTS_THREADS_H

#include <sys/types.h>

/* Of each thread its name, state and times, the system call it is in, and where in the kernel. */
void threads_print(pid_t pid, const char *name);

#endif
