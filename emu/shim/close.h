/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The calls that close descriptors: before one closes a device or an event channel, the last work is done. */
#ifndef EMU_SHIM_CLOSE_H
#define EMU_SHIM_CLOSE_H

/* The same before a system call by number, also one that ends the program or executes another one. */
void emu_close_before_call(long number, const long arg[static 3]);

#endif
