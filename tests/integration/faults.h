/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fault injection for a program that contains the library's objects: the linker's --wrap redirects
 * its allocations here, and our own ioctl() receives the commands of libibverbs.
 */
#ifndef DPUMAP_TESTS_FAULTS_H
#define DPUMAP_TESTS_FAULTS_H

#include <stdbool.h>

enum fault_kind {
	FAULT_NONE,
	FAULT_ALLOC,
	FAULT_COMMAND, /* a command that creates, changes or queries */
	FAULT_DESTROY, /* a command that destroys */
};

/* Let the n-th event of that kind from now on fail, once; n starts at 1. */
void fault_arm(enum fault_kind kind, unsigned int n, int err);
void fault_disarm(void);
bool fault_fired(void);

/* Since the start of the program. */
unsigned int fault_count_commands(void);
/* Allocations of the library, and of the tests, that were not freed. */
unsigned int fault_count_live(void);

#endif
