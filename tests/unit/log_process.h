/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Backends of the log exist until the process ends, so each experiment runs in a process of its own.
 * The parent reads its two outputs when it has ended.
 */
#ifndef DPUMAP_TESTS_LOG_PROCESS_H
#define DPUMAP_TESTS_LOG_PROCESS_H

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

/* For experiments: a failed assertion of CMocka would continue with the next test in the child. */
#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			dprintf(STDERR_FILENO, "%s:%d: CHECK failed: %s\n", __FILE__, __LINE__, \
				#condition);                                                    \
			_exit(1);                                                               \
		}                                                                               \
	} while (0)
#define CHECK_OK(call)	    CHECK((call) == DOCA_SUCCESS)
#define CHECK_INVALID(call) CHECK((call) == DOCA_ERROR_INVALID_VALUE)

/* The beginning of a line, up to the tag of the level. */
#define STAMP "[[][0-9]{2}:[0-9]{2}:[0-9]{2}:[0-9]{6}[]][[][0-9]+[]][[]DOCA[]]"

struct log_output {
	char *out, *err; /* what it wrote to standard output and standard error */
};

/* Run the experiment, which must exit with 0; log_output_clear() frees its output. */
void log_process_run(struct log_output *output, void (*experiment)(void));
void log_output_clear(struct log_output *output);

/* In an experiment: a backend that writes to standard output. */
struct doca_log_backend *log_to_stdout(void);

/* The whole text matches the extended regular expression. */
void assert_like(const char *text, const char *pattern);
/* The text has so many lines, each complete. */
void assert_lines(const char *text, size_t wanted);
size_t occurrences(const char *text, const char *word);

#endif
