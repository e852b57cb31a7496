/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Backends stay until the process ends, so each experiment with the log is a process of its own,
 * whose two outputs are read when it is over.
 */
#ifndef DPUMAP_TESTS_LOG_LAB_H
#define DPUMAP_TESTS_LOG_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_error.h>
#include <doca_log.h>

/* In an experiment, where an assertion of CMocka would go on with the next test. */
#define CHECK(condition)                                                                  \
	do {                                                                              \
		if (!(condition)) {                                                       \
			dprintf(STDERR_FILENO, "%s:%d: not so: %s\n", __FILE__, __LINE__, \
				#condition);                                              \
			_exit(1);                                                         \
		}                                                                         \
	} while (0)
#define CHECK_OK(call)	    CHECK((call) == DOCA_SUCCESS)
#define CHECK_INVALID(call) CHECK((call) == DOCA_ERROR_INVALID_VALUE)

/* Begin of a line up to the level's tag. */
#define STAMP "[[][0-9]{2}:[0-9]{2}:[0-9]{2}:[0-9]{6}[]][[][0-9]+[]][[]DOCA[]]"

struct lab {
	char *out, *err; /* what it wrote to standard output and standard error */
};

/* Runs the experiment, which must end well; lab_clear() takes back what it wrote. */
void lab_run(struct lab *lab, void (*experiment)(void));
void lab_clear(struct lab *lab);

/* In an experiment: a backend that writes to standard output. */
struct doca_log_backend *lab_to_stdout(void);

/* All of the text is as the extended regular expression says. */
void assert_like(const char *text, const char *pattern);
/* So many lines, each complete. */
void assert_lines(const char *text, size_t wanted);
size_t occurrences(const char *text, const char *word);

#endif
