/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Faults on demand: commands that fail before they are executed, completions that engines lose,
 * delay or falsify (shm.h), device memory that is used up, devices that die. There is one rule of
 * a kind; a new one replaces it.
 */
#ifndef EMU_FAULT_H
#define EMU_FAULT_H

#include "cmd.h"

/*
 * Set a rule, or end them all; `val` counts what the rules before it saw and failed: commands, then
 * completions.
 */
int emu_fault_set(const struct emu_fault_request *r, uint64_t val[static 4]);
/*
 * Is this command, or this mmap, to fail? 0 or a negative errno; with -EREMOTEIO the firmware's
 * answer is prepared.
 */
int emu_fault_command(struct emu_cmd *c);
int emu_fault_mmap(const struct emu_file *f);
/* The command that was counted last was not executed and will be sent again. */
void emu_fault_uncount(void);

#endif
