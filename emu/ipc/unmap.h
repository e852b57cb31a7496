/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How engines unmap other processes' memory (engine/memory/maps.h) before the command returns that ends its
 * mkey. An engine marks the mkeys in emu_queues.mapped before it maps the memory, and looks
 * afterwards whether they still exist. The server retires an mkey first, and then looks at the mark. So
 * at least one of the two finds the other.
 */
#ifndef EMU_UNMAP_H
#define EMU_UNMAP_H

#include <stdbool.h>

#include "emu/ipc/shm.h"

/*
 * Let all engines unmap the memory of mkeys that were retired, and wait for this. An engine that is
 * stopped (by a signal or a debugger) must not stop all others: it is not waited for, but unmaps the
 * memory before it copies again. The wait for any other engine ends after two seconds, and is not
 * repeated before the engine has answered. `gave_up_at`, zeros at first, records this; `ended` tells
 * whether an engine will never answer.
 */
void emu_unmap_wait(struct emu_queues *q, uint32_t gave_up_at[EMU_MAX_ENGINES],
		    bool (*ended)(const struct emu_engine *e));

#endif
