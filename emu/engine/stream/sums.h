/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The checksums of uncompressed data that a compression engine reports. */
#ifndef EMU_ENGINE_STREAM_SUMS_H
#define EMU_ENGINE_STREAM_SUMS_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct emu_sums {
	uint32_t crc32;
	uint32_t adler32;
	uint32_t crc32c;
	XXH32_state_t xxh32;
};

void emu_sums_begin(struct emu_sums *sums);
void emu_sums_add(struct emu_sums *sums, const uint8_t *bytes, size_t len);
uint32_t emu_sums_xxh32(const struct emu_sums *sums);

#endif
