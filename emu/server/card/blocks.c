/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/blocks.h"

_Static_assert(EMU_FIRST_QPN % EMU_BLOCK_QPS == 0 && EMU_NUM_QPS % EMU_BLOCK_QPS == 0, "blocks");

int (*emu_blocks_changed)(void);

static uint32_t owners[EMU_BLOCKS]; /* the engine's slot + 1; 0: none */
static uint32_t last_block = EMU_BLOCKS - 1;

/* The number that an engine got last; 0: none. */
static uint32_t last_number[EMU_MAX_ENGINES];

static uint32_t block_of(uint32_t qpn)
{
	return (qpn - EMU_FIRST_QPN) / EMU_BLOCK_QPS;
}

static uint32_t first_of(uint32_t block)
{
	return EMU_FIRST_QPN + block * EMU_BLOCK_QPS;
}

static bool is_empty(uint32_t block, bool (*is_free)(uint32_t qpn))
{
	for (uint32_t i = 0; i < EMU_BLOCK_QPS; i++)
		if (!is_free(first_of(block) + i))
			return false;
	return true;
}

/* A free number of the block, from this one on. */
static uint32_t find_from(uint32_t qpn, bool (*is_free)(uint32_t qpn))
{
	uint32_t end = first_of(block_of(qpn) + 1);

	for (; qpn < end; qpn++)
		if (is_free(qpn))
			return qpn;
	return 0;
}

/* The rest of the block from which the engine got its last number. */
static uint32_t find_next(uint32_t slot, bool (*is_free)(uint32_t qpn))
{
	uint32_t last = last_number[slot];

	if (!last || owners[block_of(last)] != slot + 1 || last + 1 == first_of(block_of(last) + 1))
		return 0;
	return find_from(last + 1, is_free);
}

/* The block that rested longest. */
static uint32_t take_block(uint32_t slot, bool (*is_free)(uint32_t qpn))
{
	uint32_t block;

	for (uint32_t i = 1; i <= EMU_BLOCKS; i++) {
		block = (last_block + i) % EMU_BLOCKS;
		if (owners[block] || !is_empty(block, is_free))
			continue;
		owners[block] = slot + 1;
		if (emu_blocks_changed && emu_blocks_changed()) {
			owners[block] = 0;
			return 0;
		}
		last_block = block;
		return first_of(block);
	}
	return 0;
}

/* Give empty blocks back before a new one is taken: they rest. */
static void return_blocks(uint32_t slot, bool (*is_free)(uint32_t qpn))
{
	for (uint32_t block = 0; block < EMU_BLOCKS; block++)
		if (owners[block] == slot + 1 && is_empty(block, is_free))
			owners[block] = 0;
}

static uint32_t find_any(uint32_t slot, bool (*is_free)(uint32_t qpn))
{
	uint32_t block, qpn = 0;

	for (block = 0; block < EMU_BLOCKS && !qpn; block++)
		if (owners[block] == slot + 1)
			qpn = find_from(first_of(block), is_free);
	return qpn;
}

uint32_t emu_block_number(uint32_t slot, bool (*is_free)(uint32_t qpn))
{
	uint32_t qpn;

	if (slot >= EMU_MAX_ENGINES)
		return 0;
	qpn = find_next(slot, is_free);
	if (!qpn) {
		return_blocks(slot, is_free);
		qpn = take_block(slot, is_free);
	}
	if (!qpn)
		qpn = find_any(slot, is_free);
	if (qpn)
		last_number[slot] = qpn;
	return qpn;
}

uint32_t emu_block_owner(uint32_t qpn)
{
	if (qpn < EMU_FIRST_QPN || qpn >= EMU_MAX_QPS || !owners[block_of(qpn)])
		return EMU_NO_ENGINE;
	return owners[block_of(qpn)] - 1;
}

void emu_blocks_release(uint32_t slot)
{
	for (uint32_t block = 0; block < EMU_BLOCKS; block++)
		if (owners[block] == slot + 1)
			owners[block] = 0;
	last_number[slot] = 0;
}

void emu_blocks_begin(uint32_t random)
{
	last_block = random % EMU_BLOCKS;
}
