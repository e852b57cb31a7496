/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/prm/prm.h"

static bool bit_at(const uint8_t *structure, unsigned int bit)
{
	return structure[bit / 8] >> (7 - bit % 8) & 1;
}

void emu_prm_copy(uint8_t *to, const uint8_t *from, int field)
{
	unsigned int bit = EMU_PRM_BIT(field), end = bit + EMU_PRM_WIDTH(field);

	for (; bit < end; bit++) {
		uint8_t mask = (uint8_t)(0x80u >> bit % 8);

		to[bit / 8] = (uint8_t)((to[bit / 8] & ~mask) | (from[bit / 8] & mask));
	}
}

void emu_prm_fill(uint8_t *structure, const struct emu_prm_value *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		emu_prm_set(structure, values[i].field, values[i].value);
}

bool emu_prm_is_zero(const uint8_t *structure, const struct emu_prm_range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned int bit = ranges[i].bit; bit < ranges[i].bit + ranges[i].width; bit++)
			if (bit_at(structure, bit))
				return false;
	return true;
}
