/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Included before everything else in unit tests with coverage: a child that ends with _exit()
 * writes its coverage data too.
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
