/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs that make themselves non-dumpable. Then only processes with CAP_SYS_PTRACE reach their
 * memory, and the emulated card's server and engines may lack it.
 */
#ifndef EMU_DUMPABLE_H
#define EMU_DUMPABLE_H

#include <stdbool.h>

/*
 * If the server needs this process to stay dumpable, disable core dumps by their limit instead and
 * return true.
 */
bool emu_dumpable_replace(void);
/* Has emu_dumpable_replace() returned true? */
bool emu_dumpable_is_replaced(void);

#endif
