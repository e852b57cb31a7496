/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Event files of DEVX: device events that a client subscribed to, and answers of asynchronous queries. */
#ifndef EMU_DEVX_EVENTS_H
#define EMU_DEVX_EVENTS_H

#include "emu/server/firmware/mailbox.h"
#include "emu/server/uverbs/events.h"

/* uverbs methods */
int emu_devx_event_file(struct emu_cmd *c);
int emu_devx_command_file(struct emu_cmd *c);
int emu_devx_subscribe(struct emu_cmd *c);

/* Queue the out mailbox of a query for the client to read. */
int emu_devx_answer(struct emu_events *to, uint64_t wr_id, const struct emu_mbox *m);
/*
 * The type of the event that a note tells (enum emu_event_type), or -1; and the object of a command that it is about,
 * or NULL.
 */
int emu_devx_event_of(const struct emu_note *n);
const struct emu_uobj *emu_devx_object_of(const struct emu_note *n);
/* Deliver an engine's note to the subscribers of DEVX objects. */
void emu_devx_note(const struct emu_note *n);

#endif
