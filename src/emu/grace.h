/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The grace period of shm.h: waiting until engines have left the passes that they are in. */
#ifndef EMU_GRACE_H
#define EMU_GRACE_H

#include <stdbool.h>

#include "emu/shm.h"

/* Did the thread of that engine end? */
bool emu_engine_ended(const struct emu_engine *e);

/*
 * Wait for all of them together. An engine whose process was stopped in a pass (by a debugger, say)
 * must not stop everybody else: it is waited for for two seconds, and not again until it has moved,
 * which `gave_up_at` remembers; zeros at first. `ended` tells of an engine that will never move.
 */
void emu_grace_wait(const struct emu_queues *q, uint32_t gave_up_at[EMU_MAX_ENGINES],
		    bool (*ended)(const struct emu_engine *e));

#endif
