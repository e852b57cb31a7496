/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `dpumap-emu status': the objects in existence, the work done so far, and the connection manager. */
#ifndef EMU_STATUS_H
#define EMU_STATUS_H

#include <stdbool.h>

#include <json-c/json.h>

#include "emu/ipc/shm.h"

/* The status as JSON, which the caller frees; NULL: out of memory. */
char *emu_status_text(void);
/* Keep the counts of an engine that has ended. */
void emu_status_keep_ended(struct emu_engine *e);

/* An array with an object for each machine that has used the connection manager. */
struct json_object *emu_cma_describe(void);
/* Add the commands and events of the connection manager to the trace, or stop that. */
void emu_cma_trace(bool on);

#endif
