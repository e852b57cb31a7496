/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The grace period of shm.h: wait until the engines have left their current passes. */
#ifndef EMU_GRACE_H
#define EMU_GRACE_H

#include <stdbool.h>

#include "emu/ipc/shm.h"

/* Has the engine's thread ended? */
bool emu_engine_ended(const struct emu_engine *e);
/* Is its process stopped, by a signal or a debugger? */
bool emu_engine_stopped(const struct emu_engine *e);

/*
 * Wait for all engines together. An engine whose process was stopped within a pass (by a debugger,
 * for example) must not stop all others: the wait for it ends after two seconds, and is not
 * repeated before the engine has moved. `gave_up_at`, zeros at first, records this. `ended` tells
 * whether an engine will never move again.
 */
void emu_grace_wait(const struct emu_queues *q, uint32_t gave_up_at[EMU_MAX_ENGINES],
		    bool (*ended)(const struct emu_engine *e));

#endif
