/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The connection manager in the status and in traces. */
#ifndef EMU_ADMIN_CMA_H
#define EMU_ADMIN_CMA_H

#include <stdbool.h>

#include <json-c/json.h>

/* An array with an object for each machine that has used the connection manager. */
struct json_object *emu_cma_describe(void);

/* Add the commands and events of the connection manager to the trace, or stop that. */
void emu_cma_trace(bool on);

#endif
