/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Events of ids. */
#ifndef EMU_UCMA_EVENT_H
#define EMU_UCMA_EVENT_H

#include <stdint.h>

#include "emu/server/ucma/command.h"
#include "emu/server/ucma/file.h"
#include "emu/server/ucma/id.h"

/* An event of an id with all fields but its parameters; NULL: no memory. */
struct emu_cma_event *emu_cma_event_new(struct emu_cma_id *id, enum emu_cma_event_type type,
					int status);
/* Queue an event, if the program has given its id a context: an id that was not accepted has none. */
void emu_cma_event_send(struct emu_cma_event *e);
/* Both in one, without parameters. */
void emu_cma_report(struct emu_cma_id *id, enum emu_cma_event_type type, int status);
/* The address of a UD peer or group, for the program's address handle. */
void emu_cma_fill_ah(struct ib_uverbs_ah_attr *ah, const struct emu_cm_path *path,
		     const uint8_t dgid[16]);
/* Remove the unread events of an id; connection requests are rejected. */
void emu_cma_events_forget(const struct emu_cma_id *id);
/* The same for all ids of a file that was closed. */
void emu_cma_events_forget_all(struct emu_cma_file *f);
/* The same for a group. */
void emu_cma_events_forget_group(const struct emu_cma_group *g);

emu_cma_command emu_cma_get_event, emu_cma_write_event;

#endif
