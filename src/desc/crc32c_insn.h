/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * CRC-32C by the instructions that most 64-bit x86 and Arm processors have. With them a descriptor
 * is encoded and decoded in 28 ns, with the table in 630 (bench_desc). Assembler, so that it
 * compiles with any -march; the caller knows whether the processor has them.
 */
#ifndef DPUMAP_DESC_CRC32C_INSN_H
#define DPUMAP_DESC_CRC32C_INSN_H

#include "bytes.h"

#include <stddef.h>

#ifdef __x86_64__
#define CRC32C_HAS_INSN 1

#ifdef __clang__ /* clang would store the register to memory for "m" */
#define CRC32C_OPERAND "r"
#else
#define CRC32C_OPERAND "rm"
#endif

static inline uint64_t crc32c_insn_u8(uint64_t crc, uint8_t byte)
{
	__asm__("crc32b %1, %0" : "+r"(crc) : CRC32C_OPERAND(byte));
	return crc;
}

static inline uint64_t crc32c_insn_u64(uint64_t crc, uint64_t value)
{
	__asm__("crc32q %1, %0" : "+r"(crc) : CRC32C_OPERAND(value));
	return crc;
}
#elif defined(__aarch64__)
#define CRC32C_HAS_INSN 1

static inline uint64_t crc32c_insn_u8(uint64_t crc, uint8_t byte)
{
	__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(byte));
	return crc;
}

static inline uint64_t crc32c_insn_u64(uint64_t crc, uint64_t value)
{
	__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(value));
	return crc;
}
#else
#define CRC32C_HAS_INSN 0
#endif

#if CRC32C_HAS_INSN
static inline uint32_t crc32c_by_insn(uint32_t start, const uint8_t *at, size_t len)
{
	const uint8_t *end = at + len;
	uint64_t crc =
		~start; /* as wide as the operand of the instructions, so that no step extends it */

	for (const uint8_t *last = at + len / 8 * 8; at != last; at += 8)
		crc = crc32c_insn_u64(crc, load_u64(at));
	for (; at != end; at++)
		crc = crc32c_insn_u8(crc, *at);
	return ~(uint32_t)crc;
}
#endif

#endif
