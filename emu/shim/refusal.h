/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Why this process cannot use the emulator, and what to change: one line on stderr, once in a process.
 */
#ifndef EMU_REFUSAL_H
#define EMU_REFUSAL_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The emulator cannot reach the memory of this process. `err` is the error of the server, the process `server`,
 * which is 0 if it is not visible here.
 */
void emu_refusal_print(int err, pid_t server);

/* The emulator, process `server`, is of another build than the library in this process. */
void emu_refusal_print_build(pid_t server);

/* There is no connection: connect() failed with `err`. A missing file beside others is no reason for a line. */
void emu_refusal_print_lost(int err);

/*
 * Programs that make themselves non-dumpable. Then only processes with CAP_SYS_PTRACE reach their
 * memory, and the emulated card's server and engines may lack it.
 */

/*
 * If the server needs this process to stay dumpable, disable core dumps by their limit instead and
 * return true.
 */
bool emu_dumpable_replace(void);
/* Has emu_dumpable_replace() returned true? */
bool emu_dumpable_is_replaced(void);

#endif
