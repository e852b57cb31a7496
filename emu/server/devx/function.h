/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The driver's side of a PCI function: a file that executes commands as the kernel, without the kernel's checks before
 * them (emu/ipc/firmware.h).
 */
#ifndef EMU_SERVER_DEVX_FUNCTION_H
#define EMU_SERVER_DEVX_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/firmware.h"
#include "emu/ipc/note.h"
#include "emu/server/devx/mailbox.h"
#include "emu/server/uverbs/events.h"
#include "emu/server/uverbs/method.h"

enum emu_driver_state { EMU_DRIVER_DISABLED, EMU_DRIVER_ENABLED, EMU_DRIVER_INITIALIZED };

/* What the driver of a function has set up. */
struct emu_driver {
	struct emu_events *events;
	uint64_t event_mask[EMU_FW_EQS]; /* of an event queue: a bit for each type of event */
	enum emu_driver_state state;
	uint32_t pages; /* that it has given */
	bool roce;	/* enabled */
};

extern const struct emu_method emu_methods_function[];

/* The driver's state of a file; NULL: it is no function's. */
struct emu_driver *emu_driver_of(const struct emu_file *f);
/* Deliver an engine's note to the event queues of functions. */
void emu_driver_note(const struct emu_note *n);
/* The file has gone. */
void emu_driver_free(struct emu_file *f);

#endif
