/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the kernel says about this process's doorbell pages and doorbell records. */
#ifndef EMU_ENGINE_DOORBELL_PAGES_H
#define EMU_ENGINE_DOORBELL_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#define EMU_DOORBELL_BYTES 4096u

struct engine;

/*
 * List the pages of the file `ino` that this process maps writable, at most ENGINE_DOORBELLS. Returns an
 * errno.
 */
int emu_doorbell_pages(uint64_t ino, uint64_t *page, uint32_t *count);
/*
 * Does no doorbell record of the engine's queues lie in memory that processes share? Within a pass.
 * Returns an errno.
 */
int emu_doorbell_records_are_exclusive(struct engine *e, bool *exclusive);
/*
 * Does valgrind run the process? It runs one thread at a time, and a thread that waits in a page fault
 * keeps the others from running.
 */
bool emu_doorbell_is_valgrind(void);

#endif
