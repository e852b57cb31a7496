/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The connection manager in the status and in traces. */
#ifndef EMU_ADMIN_CMA_H
#define EMU_ADMIN_CMA_H

#include <stdbool.h>
#include <stdio.h>

/* Count the ids of all programs and the connections of these ids. */
void emu_cma_count(unsigned int *ids, unsigned int *connections);
/* Write a JSON array with an object for each machine that has used the connection manager. */
void emu_cma_write_json(FILE *out);

/* Add the commands and events of the connection manager to the trace, or stop that. */
void emu_cma_trace(bool on);

#endif
