/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The archive of the codec is built freestanding and takes what the compiler may assume of the
 * processor. The library builds this file once more, hosted, and asks the processor.
 */
#include "crc32c.h"
#include "crc32c_cpu.h"
#include "crc32c_insn.h"
#include "crc32c_table.h"

uint32_t dpumap_desc_crc32c(uint32_t crc, const void *buf, size_t len)
{
#if CRC32C_HAS_INSN
	if (crc32c_cpu_has_insn())
		return crc32c_by_insn(crc, buf, len);
#endif
	return crc32c_by_table(crc, buf, len);
}
