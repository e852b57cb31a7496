/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Little-endian numbers with any alignment and on any host, byte by byte. Compilers turn this form
 * into one load or store where the machine has it.
 */
#ifndef DPUMAP_DESC_BYTES_H
#define DPUMAP_DESC_BYTES_H

#include <stdint.h>

static inline uint16_t load_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t load_u32(const uint8_t *at)
{
	return load_u16(at) | (uint32_t)load_u16(at + 2) << 16;
}

static inline uint64_t load_u64(const uint8_t *at)
{
	return load_u32(at) | (uint64_t)load_u32(at + 4) << 32;
}

static inline void store_u16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

static inline void store_u32(uint8_t *at, uint32_t value)
{
	store_u16(at, (uint16_t)value);
	store_u16(at + 2, (uint16_t)(value >> 16));
}

static inline void store_u64(uint8_t *at, uint64_t value)
{
	store_u32(at, (uint32_t)value);
	store_u32(at + 4, (uint32_t)(value >> 32));
}

#endif
