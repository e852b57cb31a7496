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
	FAULT_MANAGER, /* a call of librdmacm, in programs that wrap it (../rdma/manager_faults.c) */
};

/* Let the n-th event of that kind from now on fail, once; n starts at 1. */
void fault_arm(enum fault_kind kind, unsigned int n, int err);
void fault_disarm(void);
bool fault_fired(void);

/* For code that injects faults: whether this event of that kind is the one that fails, with *err. */
bool fault_strikes(enum fault_kind kind, int *err);

/* Since the start of the program. */
unsigned int fault_count_commands(void);
/* Allocations of the library, and of the tests, that were not freed. */
unsigned int fault_count_live(void);

#endif
