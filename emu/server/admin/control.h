/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Connections to the control socket: holders, status, faults, traces. */
#ifndef EMU_CONTROL_H
#define EMU_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Serve a connection; `fd` is consumed, also on failure. With `holds` it is the first holder: the
 * server ends with its last holder.
 */
int emu_admin_create(int fd, bool holds);
/* Is there a connection that keeps the server alive? */
bool emu_admin_has_holders(void);

#define EMU_TRACE_LINE 1024 /* bytes of a line, at most */

struct emu_trace_line {
	const char *text; /* with the newline */
	size_t len;
	const char *role; /* the function or machine, or NULL: of interest to all */
	bool failed;	  /* the command or work request */
};

/* Send a line to every connection that traces such lines. */
void emu_control_publish(const struct emu_trace_line *line);
/* The server ends: those that have not read all lines learn how many are lost. */
void emu_control_end(void);

#endif
