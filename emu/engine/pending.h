/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an engine waits for. These wake it, however long it sleeps:
 *
 *   a program rings: posted sends, armed CQs            the watcher (doorbell.h)
 *   a message, an answer or an error of another engine  emu_engine_wake() of notes.h
 *   a command changes one of its queues                 the server, as above
 *   the server answers a UMR                            the server
 *   the server ends                                     the watcher
 *
 * Nothing announces these, so the engine takes naps while one of them is due. Receives that are posted
 * and completions that are polled change a doorbell record without a ring: no message waits for a
 * receive (the requester retries after its timer), and no completion waits for room.
 */
#ifndef EMU_ENGINE_PENDING_H
#define EMU_ENGINE_PENDING_H

#include <stdbool.h>

struct engine;

bool emu_engine_is_pending(const struct engine *e);

#endif
