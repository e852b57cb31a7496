/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The log of dpumapd. */
#ifndef DPUMAPD_LOG_H
#define DPUMAPD_LOG_H

/* Writes one line to the log, which is standard error. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
