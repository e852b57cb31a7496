/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Event files of DEVX: device events that a client subscribed to, and answers of asynchronous queries. */
#ifndef EMU_DEVX_EVENTS_H
#define EMU_DEVX_EVENTS_H

#include "emu/server/devx/mailbox.h"
#include "emu/server/uverbs/events.h"

/* uverbs methods */
int emu_devx_event_file(struct emu_cmd *c);
int emu_devx_command_file(struct emu_cmd *c);
int emu_devx_subscribe(struct emu_cmd *c);

/* Queue the out mailbox of a query for the client to read. */
int emu_devx_answer(struct emu_events *to, uint64_t wr_id, const struct emu_mbox *m);
/* Deliver an engine's note to the subscribers of DEVX objects. */
void emu_devx_note(const struct emu_note *n);

#endif
