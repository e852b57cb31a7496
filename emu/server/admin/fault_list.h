/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The active faults: each as the words that follow `dpumap-emu fault`. Those of functions, ports and queue
 * pairs are read from their state; rules for commands and completions end when they have failed their number.
 */
#ifndef EMU_FAULT_LIST_H
#define EMU_FAULT_LIST_H

#include <json-c/json.h>

/* An array of objects. */
struct json_object *emu_fault_describe(void);

#endif
