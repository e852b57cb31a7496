/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Big-endian fields of rings, packets and messages. */
#ifndef EMU_IPC_BYTES_H
#define EMU_IPC_BYTES_H

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

#endif
