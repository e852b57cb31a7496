/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory directly before an inaccessible page: an access beyond its end faults, also without ASan. */
#ifndef DPUMAP_FUZZ_GUARD_H
#define DPUMAP_FUZZ_GUARD_H

#include <stdint.h>
#include <stdlib.h>

#include <sys/mman.h>

#define GUARD_ROOM 65536 /* at least the size of any page, and larger than any input */

/* Return the first inaccessible byte; the GUARD_ROOM bytes before it are accessible. */
static inline uint8_t *guard_end(void)
{
	static uint8_t *end;
	uint8_t *room;

	if (end)
		return end;
	room = mmap(NULL, 2 * GUARD_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (room == MAP_FAILED || mprotect(room + GUARD_ROOM, GUARD_ROOM, PROT_NONE))
		abort();
	end = room + GUARD_ROOM;
	return end;
}

#endif
