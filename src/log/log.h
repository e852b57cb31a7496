/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Internal log: one line per event to stderr. DPUMAP_LOG_LEVEL chooses the least urgent level that
 * is written: off, error, warning (default), info or debug. Secrets never go through here.
 */
#ifndef DPUMAP_LOG_H
#define DPUMAP_LOG_H

#include <doca_error.h>

enum dpumap_log_level {
	DPUMAP_LOG_OFF,
	DPUMAP_LOG_ERROR,
	DPUMAP_LOG_WARNING,
	DPUMAP_LOG_INFO,
	DPUMAP_LOG_DEBUG,
};

/* error is appended by name unless it is DOCA_SUCCESS. */
__attribute__((format(printf, 3, 4))) void
dpumap_log_line(enum dpumap_log_level level, doca_error_t error, const char *fmt, ...);

#define dpumap_log(level, ...) dpumap_log_line(level, DOCA_SUCCESS, __VA_ARGS__)

/*
 * The function that decides an error says it here, once, and returns what it gets back. Macros, so
 * that the compiler sees which error comes back.
 */
#define dpumap_fail(error, ...) (dpumap_log_line(DPUMAP_LOG_ERROR, (error), __VA_ARGS__), (error))

/* The same for an answer that is an error to its caller only: an interface without an address. */
#define dpumap_fail_quiet(error, ...) \
	(dpumap_log_line(DPUMAP_LOG_INFO, (error), __VA_ARGS__), (error))

#define dpumap_fail_null(function) \
	dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: a required argument is NULL", function)

#endif
