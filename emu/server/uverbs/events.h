/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Event files of all kinds: completion channels, async event files, and DEVX's. Each is the writing
 * end of a pipe, found again by the pipe's inode. No handle names it: it lives until the client has
 * closed its end and nothing refers to it.
 *
 * The kernel counts an event when it is read, and removes unread events of a destroyed object; so does
 * the server, which opens the reading end for a moment (/proc/self/fd).
 *
 * Engines write completion events too (struct emu_channel_fd), so a CQ is withdrawn before its events are removed.
 */
#ifndef EMU_EVENTS_H
#define EMU_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emu/ipc/shm.h"
#include "emu/server/base/reactor.h"
#include "emu/server/uverbs/cmd.h"

enum emu_events_kind {
	EMU_EVENTS_COMPLETION,
	EMU_EVENTS_ASYNC,
	EMU_EVENTS_DEVX,     /* device events of DEVX objects */
	EMU_EVENTS_COMMANDS, /* answers of asynchronous queries */
	EMU_EVENTS_FUNCTION, /* events for the event queues of a PCI function */
};

struct emu_events {
	struct emu_watch watch; /* fd -1 when the client's end is closed */
	struct emu_events *next;
	struct emu_file *file;
	enum emu_events_kind kind;
	struct emu_subscription *subscriptions; /* EMU_EVENTS_DEVX */
	bool omit_data;
	ino_t ino;
	unsigned int users;
};

extern const struct emu_method emu_methods_events[];

/* Legacy command. */
int emu_write_comp_channel(struct emu_cmd *c);

/*
 * Create an event file and pass the client's end to it; `*e` (if not NULL) is the server's end. Its records
 * have that length, or EMU_EVENT_VARIES.
 */
int emu_give_events(struct emu_cmd *c, enum emu_events_kind kind, size_t record, uint16_t attr,
		    struct emu_events **e);
/* The event file behind a client's descriptor number, or NULL. */
struct emu_events *emu_events_find(const struct emu_cmd *c, int64_t fd, enum emu_events_kind kind);
/* The async file that an attribute names, or else the first one of the command's file. */
struct emu_events *emu_async_of(const struct emu_cmd *c, uint16_t attr);
/* Hold and release an event file; NULL is allowed. */
void emu_events_get(struct emu_events *e);
void emu_events_put(struct emu_events *e);
void emu_events_destroy_all(struct emu_file *f);
/* Queue one record; false if the client has closed its end or does not read. */
bool emu_events_send(struct emu_events *e, const void *record, size_t len);
/* Remove the unread records of an object that is destroyed; returns their number. */
uint32_t emu_events_retract(struct emu_events *e, uint64_t element);
/* Send an event to every async file of every context of the function. */
void emu_events_broadcast(const struct emu_func *f, uint32_t type, uint64_t element);
/* Deliver an engine's note to the event files of verbs objects. */
void emu_events_note(const struct emu_note *n);

#endif
