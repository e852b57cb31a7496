/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lines for the log of the program that uses the library. */
#ifndef DPUMAP_FLEET_LOG_H
#define DPUMAP_FLEET_LOG_H

struct dpumap_fleet_log {
	void (*line)(void *context, const char *line); /* NULL: no log */
	void *context;
};

void dpumap_fleet_log_line(const struct dpumap_fleet_log *log, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
