/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the compiler may assume of the processor. The library has a definition of its own, which asks the processor
 * (src/core/crc32c.c).
 */
#include "crc32c.h"
#include "crc32c_insn.h"
#include "crc32c_table.h"

uint32_t dpumap_desc_crc32c(uint32_t crc, const void *buf, size_t len)
{
#if defined(__SSE4_2__) || defined(__ARM_FEATURE_CRC32)
	return crc32c_by_insn(crc, buf, len);
#else
	return crc32c_by_table(crc, buf, len);
#endif
}
