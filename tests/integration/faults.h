/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Faults on demand, for a program that has the library's objects in itself: its allocations come
 * here by the linker's --wrap, and the commands of libibverbs by our own ioctl().
 */
#ifndef DPUMAP_TESTS_FAULTS_H
#define DPUMAP_TESTS_FAULTS_H

#include <stdbool.h>

enum fault_kind {
	FAULT_NONE,
	FAULT_ALLOC,
	FAULT_COMMAND, /* that makes, changes or asks */
	FAULT_DESTROY, /* command that destroys */
};

/* The n-th event of that kind from now fails, once; n is counted from 1. */
void fault_arm(enum fault_kind kind, unsigned int n, int err);
void fault_disarm(void);
bool fault_fired(void);

/* Since the program started. */
unsigned int fault_count_commands(void);
/* Allocations of the library, and of the tests, that were not freed. */
unsigned int fault_count_live(void);

#endif
