/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Comes before everything else in unit tests of an instrumented build: a child that ends by _exit()
 * writes what it reached as well.
 */
#ifndef DPUMAP_TESTS_UNIT_COVERAGE_H
#define DPUMAP_TESTS_UNIT_COVERAGE_H

#include <unistd.h>

void __gcov_dump(void);

static inline __attribute__((noreturn, unused)) void exit_counted(int status)
{
	__gcov_dump();
	_exit(status);
}

#define _exit exit_counted

#endif
