/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The checksum of descriptors, for the processor on which the library runs. */
#include "desc/crc32c.h"

#include <stdbool.h>

#ifdef __aarch64__
#include <sys/auxv.h>

#include <asm/hwcap.h>
#endif

#include "desc/crc32c_insn.h"
#include "desc/crc32c_table.h"

#if CRC32C_HAS_INSN
static inline bool has_insn(void)
{
#ifdef __x86_64__
	return __builtin_cpu_supports("sse4.2");
#else
	return getauxval(AT_HWCAP) & HWCAP_CRC32;
#endif
}
#endif

uint32_t dpumap_desc_crc32c(uint32_t crc, const void *buf, size_t len)
{
#if CRC32C_HAS_INSN
	if (has_insn())
		return crc32c_by_insn(crc, buf, len);
#endif
	return crc32c_by_table(crc, buf, len);
}
