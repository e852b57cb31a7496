/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `dpumap-emu status': the objects in existence, and the work done so far. */
#ifndef EMU_STATUS_H
#define EMU_STATUS_H

#include "emu/ipc/shm.h"

/* The status as JSON, which the caller frees; NULL: out of memory. */
char *emu_status_text(void);
/* Keep the counts of an engine that has ended. */
void emu_status_retire(struct emu_engine *e);

#endif
