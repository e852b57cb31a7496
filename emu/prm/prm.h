/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fields of PRM structures, written as the manual prints them.
 *
 * The Mellanox Adapters Programmer's Reference Manual (PRM) draws a structure in rows of 32 bits and
 * names a field by the offset of its row in bytes and by its highest and lowest bit there. So do the
 * layouts in prm_*.h:
 *
 *	#define EMU_MKC_LAYOUT(F) F(EMU_MKC_FREE, 0x00, 30, 30) F(EMU_MKC_QPN, 0x04, 31, 8)
 *	EMU_PRM_LAYOUT(EMU_MKC, 0x40)
 *
 * makes the constants EMU_MKC_FREE and EMU_MKC_QPN for the functions below, and EMU_MKC_BYTES. A field
 * of several rows counts its bits through all of them: 63, 0 is a row and the next one. The compiler
 * refuses a layout whose fields overlap, are out of order, cross rows or do not fit into the structure.
 * Bits that no field names are reserved: EMU_PRM_RESERVED() lists them.
 *
 * Linux' include/linux/mlx5/mlx5_ifc.h and rdma-core's providers/mlx5/mlx5_ifc.h have the same
 * structures, field by field from the first bit on; each layout names its own there.
 */
#ifndef EMU_PRM_H
#define EMU_PRM_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

/* A field is one number: its first bit, from the most significant one of byte 0, and its width. */
#define EMU_PRM_BITS(bit, width) ((int)((unsigned int)(bit) << 12 | (unsigned int)(width)))
#define EMU_PRM_FIELD(row, high, low) \
	EMU_PRM_BITS((row)*8u + ((high) | 31u) - (high), (high) - (low) + 1u)
#define EMU_PRM_BIT(field)   ((unsigned int)(field) >> 12)
#define EMU_PRM_WIDTH(field) ((unsigned int)(field)&0xfffu)
/* A field of a structure that is itself a field of another one. */
#define EMU_PRM_IN(outer, field)		((int)(((unsigned int)(outer) & ~0xfffu) + (unsigned int)(field)))

#define EMU_PRM_CONSTANT_(name, row, high, low) name = EMU_PRM_FIELD(row, high, low),
/* name##_FROM is the bit after the field before: where the reserved bits begin that precede it. */
#define EMU_PRM_EDGES_(name, row, high, low) \
	name##_FROM, name##_LAST = EMU_PRM_BIT(name) + EMU_PRM_WIDTH(name) - 1,
#define EMU_PRM_CHECK_(name, row, high, low)                                       \
	_Static_assert((row) % 4 == 0 && (high) >= (low) &&                        \
			       ((high) < 32 || ((low) == 0 && (high) % 32 == 31)), \
		       #name " crosses rows");                                     \
	_Static_assert((unsigned int)name##_FROM <= EMU_PRM_BIT(name),             \
		       #name " overlaps the field before it, or is out of order");
#define EMU_PRM_GAP_(name, row, high, low) \
	{name##_FROM, (uint16_t)(EMU_PRM_BIT(name) - (unsigned int)name##_FROM)},

#define EMU_PRM_LAYOUT(structure, bytes)                                            \
	enum { structure##_LAYOUT(EMU_PRM_CONSTANT_) structure##_BYTES = (bytes) }; \
	enum { structure##_LAYOUT(EMU_PRM_EDGES_) structure##_REST };               \
	structure##_LAYOUT(EMU_PRM_CHECK_) _Static_assert(                          \
		structure##_REST <= structure##_BYTES * 8, #structure " is too long")

/* The headers of mailboxes; op_mod of a general object is its type. */
#define EMU_PRM_HEADER_IN(F, command)             \
	F(command##_OPCODE, 0x00, 31, 16)         \
	F(command##_UID, 0x00, 15, 0)             \
	F(command##_VHCA_TUNNEL_ID, 0x04, 31, 16) \
	F(command##_OP_MOD, 0x04, 15, 0)
#define EMU_PRM_HEADER_OUT(F, command)    \
	F(command##_STATUS, 0x00, 31, 24) \
	F(command##_SYNDROME, 0x04, 31, 0)

/* A run of bits, whatever it crosses. */
struct emu_prm_range {
	uint16_t bit, width;
};

/* The bits of a structure that no field names: the initializer of a table of ranges. */
#define EMU_PRM_RESERVED(structure)                                                \
	{                                                                          \
		structure##_LAYOUT(EMU_PRM_GAP_)                                   \
		{                                                                  \
			structure##_REST, structure##_BYTES * 8 - structure##_REST \
		}                                                                  \
	}

/* A value for a field. */
struct emu_prm_value {
	int field;
	uint64_t value;
};

static inline uint64_t emu_prm_get(const uint8_t *structure, int field)
{
	unsigned int bit = EMU_PRM_BIT(field), end = bit + EMU_PRM_WIDTH(field);
	uint64_t value = 0;

	assert(end - bit <= 64);
	for (; bit < end; bit++)
		value = value << 1 | (structure[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

/* The value must fit: callers cut what a client chose with emu_prm_fit(). */
static inline void emu_prm_set(uint8_t *structure, int field, uint64_t value)
{
	unsigned int begin = EMU_PRM_BIT(field), bit = begin + EMU_PRM_WIDTH(field);

	assert(bit - begin >= 64 || !(value >> (bit - begin)));
	for (; bit-- > begin; value >>= 1) {
		uint8_t mask = (uint8_t)(0x80u >> bit % 8);

		structure[bit / 8] =
			(uint8_t)((structure[bit / 8] & ~mask) | (value & 1 ? mask : 0));
	}
}

/* What is left of a value that may be too wide for a field. */
static inline uint64_t emu_prm_fit(int field, uint64_t value)
{
	return EMU_PRM_WIDTH(field) < 64 ? value & ((1ull << EMU_PRM_WIDTH(field)) - 1) : value;
}

/* Where a field of whole bytes begins. */
static inline uint8_t *emu_prm_at(uint8_t *structure, int field)
{
	return structure + EMU_PRM_BIT(field) / 8;
}

static inline const uint8_t *emu_prm_at_const(const uint8_t *structure, int field)
{
	return structure + EMU_PRM_BIT(field) / 8;
}

/* Copy a field of any width between two structures of the same layout. */
void emu_prm_copy(uint8_t *to, const uint8_t *from, int field);
void emu_prm_fill(uint8_t *structure, const struct emu_prm_value *values, size_t n);
bool emu_prm_is_zero(const uint8_t *structure, const struct emu_prm_range *ranges, size_t n);

#define EMU_PRM_FILL(structure, values)	   emu_prm_fill(structure, values, ARRAY_SIZE(values))
#define EMU_PRM_IS_ZERO(structure, ranges) emu_prm_is_zero(structure, ranges, ARRAY_SIZE(ranges))

#endif
