/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The library's own messages: to the SDK backends of doca_log.h, or without one to standard error
 * from warnings up. DPUMAP_LOG_LEVEL (off, error, warning, info or debug) sets the most verbose
 * level on standard error, with or without backends. Secrets are never logged.
 */
#ifndef DPUMAP_LOG_H
#define DPUMAP_LOG_H

#include <stdbool.h>

#include <doca_error.h>

enum dpumap_log_level {
	DPUMAP_LOG_OFF,
	DPUMAP_LOG_ERROR,
	DPUMAP_LOG_WARNING,
	DPUMAP_LOG_INFO,
	DPUMAP_LOG_DEBUG,
};

/* The name without folders, where the compiler provides it. */
#ifdef __FILE_NAME__
#define DPUMAP_LOG_FILE __FILE_NAME__
#else
#define DPUMAP_LOG_FILE __FILE__
#endif

__attribute__((format(printf, 6, 7))) void dpumap_log_at(enum dpumap_log_level level,
							 doca_error_t error, const char *file,
							 int line, const char *func,
							 const char *fmt, ...);

/* error is appended by name unless it is DOCA_SUCCESS. */
#define dpumap_log_line(level, error, ...) \
	dpumap_log_at((level), (error), DPUMAP_LOG_FILE, __LINE__, __func__, __VA_ARGS__)

#define dpumap_log(level, ...) dpumap_log_line(level, DOCA_SUCCESS, __VA_ARGS__)

/*
 * Log an error and return it. Called once, by the function that decides the error. A macro, so that
 * the compiler sees which error is returned.
 */
#define dpumap_fail(error, ...) (dpumap_log_line(DPUMAP_LOG_ERROR, (error), __VA_ARGS__), (error))

/* The same at level info, for an error that programs expect, such as an interface without an address. */
#define dpumap_fail_info(error, ...) \
	(dpumap_log_line(DPUMAP_LOG_INFO, (error), __VA_ARGS__), (error))

/*
 * For messages that a peer causes: whether its source, such as "uid:1000", may cause another one. If not, it is
 * counted. A level that is not shown is not counted.
 */
bool dpumap_log_admits(enum dpumap_log_level level, const char *source);
/* Logs how many messages were only counted. To be called often. */
void dpumap_log_report(void);

#define dpumap_log_from(source, level, error, ...)                                             \
	(dpumap_log_admits((level), (source)) ? dpumap_log_line((level), (error), __VA_ARGS__) \
					      : (void)0)

#define dpumap_fail_from(source, error, ...) \
	(dpumap_log_from((source), DPUMAP_LOG_ERROR, (error), __VA_ARGS__), (error))

#define dpumap_fail_null(function) \
	dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: a required argument is NULL", function)

#endif
