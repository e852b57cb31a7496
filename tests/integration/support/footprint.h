/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The resources of a process, as the kernel counts them. */
#ifndef DPUMAP_TESTS_FOOTPRINT_H
#define DPUMAP_TESTS_FOOTPRINT_H

#include <stdbool.h>
#include <sys/types.h>

struct footprint {
	long anon_kib; /* resident anonymous memory */
	long heap_kib; /* the part of it that brk() has allocated */
	long maps, threads, descriptors;
	bool sanitized; /* sanitizers keep freed memory, so the sizes mean nothing */
};

struct footprint footprint_of(pid_t pid);
/* The entries of /proc/PID/fd; 0 if the process does not exist. */
long footprint_descriptors(pid_t pid);

#endif
