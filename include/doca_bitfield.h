/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Macros for fields of bits, in bytes and in big-endian words.
 *
 * Bits are counted from the least significant one, bit 0, of the value in the byte order of the
 * processor. A mask of a BE16 or BE32 macro is big-endian, as is the field that holds the value.
 * With constant arguments each macro is a constant expression. A macro may evaluate an argument
 * more than once.
 *
 * The names and arguments are those of DOCA 3.0, doca_bitfield.h. The meaning of the macros with a P
 * in their names is our reading: p is a condition.
 */
#ifndef DOCA_BITFIELD_H_
#define DOCA_BITFIELD_H_

#include <stdlib.h>

#include <arpa/inet.h>

#include <doca_types.h>

/** Convert 16 bits from the byte order of the processor to big-endian. */
#define DOCA_HTOBE16(x)                                                       \
	((doca_be16_t)(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? (uint16_t)(x) \
							      : __builtin_bswap16((uint16_t)(x))))
/** Convert 32 bits from the byte order of the processor to big-endian. */
#define DOCA_HTOBE32(x)                                                       \
	((doca_be32_t)(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? (uint32_t)(x) \
							      : __builtin_bswap32((uint32_t)(x))))
/** Convert 16 bits from big-endian to the byte order of the processor. */
#define DOCA_BETOH16(x) ((uint16_t)DOCA_HTOBE16(x))
/** Convert 32 bits from big-endian to the byte order of the processor. */
#define DOCA_BETOH32(x) ((uint32_t)DOCA_HTOBE32(x))

/** Get the index of the lowest bit that is set in x; 0 if no bit is set. */
#define DOCA_SHIFT(x) ((x) ? __builtin_ctzll((unsigned long long)(x)) : 0)

/** Make a mask of the bits h to l of a byte; h is at least l and at most 7. */
#define DOCA_U8_GENMASK(h, l) ((uint8_t)((0xffu << (l)) & (0xffu >> (7 - (h)))))
/** Make the mask DOCA_U8_GENMASK(h, l) if p is true, else 0; by inference. */
#define DOCA_U8P_GENMASK(h, l, p) ((uint8_t)((p) ? DOCA_U8_GENMASK(h, l) : 0))
/** Place the value v in the bits of the mask m; bits that do not fit are dropped. */
#define DOCA_U8_SET(m, v) ((uint8_t)(((unsigned int)(v) << DOCA_SHIFT(m)) & (m)))
/** Place the value v as DOCA_U8_SET(m, v) if p is true, else 0; by inference. */
#define DOCA_U8P_SET(m, v, p) ((uint8_t)((p) ? DOCA_U8_SET(m, v) : 0))
/** Get the value in the bits of the mask m from the field f. */
#define DOCA_U8_GET(m, f) ((uint8_t)(((f) & (m)) >> DOCA_SHIFT(m)))

/** Make a big-endian mask of the bits h to l of 16 bits; h is at least l and at most 15. */
#define DOCA_BE16_GENMASK(h, l) DOCA_HTOBE16((0xffffu << (l)) & (0xffffu >> (15 - (h))))
/** Make the mask DOCA_BE16_GENMASK(h, l) if p is true, else 0; by inference. */
#define DOCA_BE16P_GENMASK(h, l, p) ((doca_be16_t)((p) ? DOCA_BE16_GENMASK(h, l) : 0))
/** Place the value v in the bits of the mask m; bits that do not fit are dropped. */
#define DOCA_BE16_SET(m, v) \
	DOCA_HTOBE16(((uint32_t)(v) << DOCA_SHIFT(DOCA_BETOH16(m))) & DOCA_BETOH16(m))
/** Place the value v as DOCA_BE16_SET(m, v) if p is true, else 0; by inference. */
#define DOCA_BE16P_SET(m, v, p) ((doca_be16_t)((p) ? DOCA_BE16_SET(m, v) : 0))
/** Get the value in the bits of the mask m from the big-endian field f. */
#define DOCA_BE16_GET(m, f) \
	((uint16_t)((DOCA_BETOH16(f) & DOCA_BETOH16(m)) >> DOCA_SHIFT(DOCA_BETOH16(m))))

/** Make a big-endian mask of the bits h to l of 32 bits; h is at least l and at most 31. */
#define DOCA_BE32_GENMASK(h, l) DOCA_HTOBE32((0xffffffffu << (l)) & (0xffffffffu >> (31 - (h))))
/** Make the mask DOCA_BE32_GENMASK(h, l) if p is true, else 0; by inference. */
#define DOCA_BE32P_GENMASK(h, l, p) ((doca_be32_t)((p) ? DOCA_BE32_GENMASK(h, l) : 0))
/** Place the value v in the bits of the mask m; bits that do not fit are dropped. */
#define DOCA_BE32_SET(m, v) \
	DOCA_HTOBE32(((uint32_t)(v) << DOCA_SHIFT(DOCA_BETOH32(m))) & DOCA_BETOH32(m))
/** Place the value v as DOCA_BE32_SET(m, v) if p is true, else 0; by inference. */
#define DOCA_BE32P_SET(m, v, p) ((doca_be32_t)((p) ? DOCA_BE32_SET(m, v) : 0))
/** Get the value in the bits of the mask m from the big-endian field f. */
#define DOCA_BE32_GET(m, f) \
	((uint32_t)((DOCA_BETOH32(f) & DOCA_BETOH32(m)) >> DOCA_SHIFT(DOCA_BETOH32(m))))

#endif /* DOCA_BITFIELD_H_ */
