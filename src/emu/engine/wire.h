/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Big-endian fields of work requests and completions, and the client's memory that holds them. */
#ifndef EMU_ENGINE_WIRE_H
#define EMU_ENGINE_WIRE_H

#include <stddef.h>
#include <stdint.h>

static inline uint16_t emu_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t emu_get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t emu_get64(const uint8_t *p)
{
	return (uint64_t)emu_get32(p) << 32 | emu_get32(p + 4);
}

static inline void emu_put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void emu_put32(uint8_t *p, uint32_t v)
{
	emu_put16(p, (uint16_t)(v >> 16));
	emu_put16(p + 2, (uint16_t)v);
}

static inline void emu_put64(uint8_t *p, uint64_t v)
{
	emu_put32(p, (uint32_t)(v >> 32));
	emu_put32(p + 4, (uint32_t)v);
}

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
