/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory that ends where the mapping does: a step beyond is a fault, in builds without ASan too. */
#ifndef DPUMAP_FUZZ_GUARD_H
#define DPUMAP_FUZZ_GUARD_H

#include <stdint.h>
#include <stdlib.h>

#include <sys/mman.h>

#define GUARD_ROOM 65536 /* as large as any page is, and larger than any input */

/* The first byte that nobody may touch, and GUARD_ROOM bytes before it that one may. */
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
