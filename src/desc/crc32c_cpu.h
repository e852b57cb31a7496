/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Whether the processor has the instructions of crc32c_insn.h: what the compiler may assume, and in
 * a hosted build what the processor says.
 */
#ifndef DPUMAP_DESC_CRC32C_CPU_H
#define DPUMAP_DESC_CRC32C_CPU_H

#include <stdbool.h>

#if __STDC_HOSTED__ && defined(__aarch64__)
#include <sys/auxv.h>

#include <asm/hwcap.h>
#endif

static inline bool crc32c_cpu_has_insn(void)
{
#if defined(__SSE4_2__) || defined(__ARM_FEATURE_CRC32)
	return true;
#elif __STDC_HOSTED__ && defined(__x86_64__)
	return __builtin_cpu_supports("sse4.2");
#elif __STDC_HOSTED__ && defined(__aarch64__)
	return getauxval(AT_HWCAP) & HWCAP_CRC32;
#else
	return false;
#endif
}

#endif
