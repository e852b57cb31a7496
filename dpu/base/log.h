/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The log of dpumapd: lines on standard error, which never wait for their reader. */
#ifndef DPUMAPD_LOG_H
#define DPUMAPD_LOG_H

#include "local/line.h"

/* Begins the log of a server: its lines have the time. */
void log_begin(void);

/* Each writes one line. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Writes a line that a client or a stranger causes, unless its source, such as "cert:web", "uid:1000" or an address,
 * has caused too many: these are counted.
 */
void log_from(enum dpumap_line_level level, const char *source, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Says how many lines were only counted. To be called often. */
void log_tick(void);

#endif
