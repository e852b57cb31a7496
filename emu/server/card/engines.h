/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How the server and the engines agree about entries of the shared tables (see emu/ipc/shm.h). */
#ifndef EMU_ENGINES_H
#define EMU_ENGINES_H

#include <stdint.h>

/* Wait until no engine can still use an entry whose serial was cleared. */
void emu_grace(void);
/* Wait until engines have unmapped the memory of mkeys whose serial was cleared (ipc/unmap.h). */
void emu_unmap(void);
/* Wait, though not for long, until the engine in `slot` has looked at all its queues once more. */
void emu_engine_let_pass(uint32_t slot);
/* Tell the engine in `slot` that its queues changed, and wake it. */
void emu_engine_wake(uint32_t slot);

#endif
