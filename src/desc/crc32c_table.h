/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * CRC-32C with a table of 64 bytes, four bits at a time. A table of 1 KiB saves 0.3 us
 * on a descriptor (bench_desc), which is little beside the firmware command of each export.
 */
#ifndef DPUMAP_DESC_CRC32C_TABLE_H
#define DPUMAP_DESC_CRC32C_TABLE_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t crc32c_step(uint32_t crc, uint8_t byte)
{
	static const uint32_t table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	crc ^= byte;
	crc = crc >> 4 ^ table[crc & 0xf];
	return crc >> 4 ^ table[crc & 0xf];
}

static inline uint32_t crc32c_by_table(uint32_t crc, const uint8_t *at, size_t len)
{
	crc = ~crc;
	for (size_t i = 0; i < len; i++)
		crc = crc32c_step(crc, at[i]);
	return ~crc;
}

#endif
