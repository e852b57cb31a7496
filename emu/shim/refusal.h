/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Why the emulator cannot reach the memory of this process, and what to change, in one line. */
#ifndef EMU_REFUSAL_H
#define EMU_REFUSAL_H

#include <sys/types.h>

/* `err` is the error of the server, the process `server`, which is 0 if it is not visible here. */
void emu_refusal_print(int err, pid_t server);

#endif
