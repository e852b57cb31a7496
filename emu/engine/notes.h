/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Notes to the server, and the wake-up of other engines. Direct system calls: an interposed or a
 * sanitizer's version of the functions must not run in this thread.
 */
#ifndef EMU_ENGINE_NOTES_H
#define EMU_ENGINE_NOTES_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/ipc/shm.h"

/*
 * Room for all events of all queues that can happen before a command of the server: of a QP
 * COMM_EST, its error, and LAST_WQE_REACHED.
 */
#define ENGINE_EVENTS (3 * EMU_MAX_QPS + EMU_MAX_CQS + EMU_MAX_SRQS)

struct engine;

/* Events that wait for room in the notify socket. */
struct emu_events {
	uint32_t count;
	struct emu_note note[ENGINE_EVENTS];
};

/* Send a note; false if the socket is full and the note must be sent again. */
bool emu_engine_note(struct engine *e, const struct emu_note *note);
/* Send a record of another size, likewise. */
bool emu_engine_record(struct engine *e, const void *record, size_t len);
/* Send a note of something that happens once: it is kept until the socket has room. */
void emu_engine_event(struct engine *e, const struct emu_note *note);
/* Send the notes that were kept. */
void emu_engine_send_events(struct engine *e);
/* Wake the engine in `slot`, if it sleeps. */
void emu_engine_wake(struct engine *e, uint32_t slot);

#endif
