/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Copies within this process by the CPU alone, more than twice as fast as through the kernel. If a
 * page is missing, our handler of SIGSEGV and SIGBUS ends the copy; faults of other threads go to the
 * handler that was installed before. If the program installs its own handler later, or runs under
 * a sanitizer that needs the signals, the kernel copies instead.
 */
#ifndef EMU_ENGINE_MEMORY_GUARD_H
#define EMU_ENGINE_MEMORY_GUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_memory;

/* Whether the engine may handle the faults of its copies. */
struct emu_guard {
	uint64_t asked; /* ns; when it was checked last; 0 = never */
	bool safe;
};

/* Check whether the signals are still ours. */
bool emu_guard_check(struct emu_memory *mem);
/* Before a thread makes a pass, which may trust the check of another thread. */
void emu_guard_enter(const struct emu_memory *mem);
/* Block all signals but those of faults, which a handler of the process may mend: for a new thread of the engine. */
void emu_guard_block_signals(sigset_t *old);
/* Copy; false if a page was missing, when some of it may be done. */
bool emu_guard_copy(void *dst, const void *src, size_t len);

#endif
