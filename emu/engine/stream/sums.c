/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/stream/sums.h"

#include <pthread.h>

#include <libdeflate.h>

#define CRC32C_POLYNOMIAL 0x82f63b78u /* reflected */

static uint32_t crc32c_table[256];
static pthread_once_t crc32c_once = PTHREAD_ONCE_INIT;

static void fill_crc32c_table(void)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ CRC32C_POLYNOMIAL : crc >> 1;
		crc32c_table[byte] = crc;
	}
}

static uint32_t crc32c(uint32_t crc, const uint8_t *bytes, size_t len)
{
	crc = ~crc;
	for (size_t i = 0; i < len; i++)
		crc = crc >> 8 ^ crc32c_table[(crc ^ bytes[i]) & 0xff];
	return ~crc;
}

void emu_sums_begin(struct emu_sums *sums)
{
	pthread_once(&crc32c_once, fill_crc32c_table);
	sums->crc32 = 0;
	sums->adler32 = 1;
	sums->crc32c = 0;
	XXH32_reset(&sums->xxh32, 0);
}

void emu_sums_add(struct emu_sums *sums, const uint8_t *bytes, size_t len)
{
	sums->crc32 = libdeflate_crc32(sums->crc32, bytes, len);
	sums->adler32 = libdeflate_adler32(sums->adler32, bytes, len);
	sums->crc32c = crc32c(sums->crc32c, bytes, len);
	XXH32_update(&sums->xxh32, bytes, len);
}

uint32_t emu_sums_xxh32(const struct emu_sums *sums)
{
	return XXH32_digest(&sums->xxh32);
}
