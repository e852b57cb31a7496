/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lines on standard error. A slow reader is waited for once, for 20 ms: then lines without room are dropped, and the
 * next one that has room says how many were. A line is one write, so that lines of several processes in one file stay
 * whole.
 */
#ifndef DPUMAP_LOCAL_LINE_H
#define DPUMAP_LOCAL_LINE_H

#include <stdbool.h>

/* The numbers of syslog. */
enum dpumap_line_level {
	DPUMAP_LINE_ERROR = 3,
	DPUMAP_LINE_WARNING = 4,
	DPUMAP_LINE_INFO = 6,
	DPUMAP_LINE_DEBUG = 7,
};

/* Begins lines with the time, unless they go to the journal of systemd, which has the time. */
void dpumap_line_show_time(void);

/* Writes "program: text", for the journal with the level. A longer line than a kilobyte is cut. */
void dpumap_line_write(enum dpumap_line_level level, const char *program, const char *text);

/* Can a line be written to fd without waiting? */
bool dpumap_line_has_room(int fd);

#endif
