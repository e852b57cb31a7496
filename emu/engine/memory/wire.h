/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The client's memory: work requests, completions and doorbell records, with big-endian fields. */
#ifndef EMU_ENGINE_MEMORY_WIRE_H
#define EMU_ENGINE_MEMORY_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "emu/ipc/bytes.h"

/* Memory of this process that the driver gave to the device: rings, doorbell records, CQEs. */
static inline uint8_t *emu_own(uint64_t addr)
{
	return (uint8_t *)(uintptr_t)addr;
}

/* Load a word of a doorbell record; acquires what the driver wrote before it. */
static inline uint32_t emu_dbr_word(uint64_t dbr_addr, unsigned int word)
{
	uint8_t *p = emu_own(dbr_addr) + (size_t)word * 4;
	uint32_t raw = __atomic_load_n((uint32_t *)(void *)p, __ATOMIC_ACQUIRE);

	return emu_get32((const uint8_t *)&raw);
}

#endif
