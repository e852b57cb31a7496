/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/pci/gateway.h"

#include <stdbool.h>
#include <string.h>

/* Words of the capability, in little endian as all of the configuration space. */
enum {
	CONTROL = 0x04, /* the space, and in its highest bits whether it exists */
	COUNTER = 0x08, /* a number for the next owner */
	OWNER = 0x0c,	/* of the gateway; 0: nobody */
	ADDRESS = 0x10,
	DATA = 0x14,
};

#define SPACE_MASK	 0xffffu
#define SPACE_SEMAPHORES 0xau
#define STATUS_EXISTS	 (1u << 29)
#define FLAG		 (1u << 31) /* of an address: write; then: the data are read */
#define ADDRESS_MASK	 0x3fffffffu

static uint32_t get(const uint8_t *cap, unsigned int at)
{
	return cap[at] | (uint32_t)cap[at + 1] << 8 | (uint32_t)cap[at + 2] << 16 |
	       (uint32_t)cap[at + 3] << 24;
}

static void put(uint8_t *cap, unsigned int at, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		cap[at + i] = (uint8_t)(value >> 8 * i);
}

void emu_gateway_init(uint8_t *cap, uint8_t *writable)
{
	cap[2] = EMU_GATEWAY_BYTES;
	put(cap, COUNTER, 1);
	put(writable, CONTROL, SPACE_MASK);
	put(writable, OWNER, UINT32_MAX);
	put(writable, ADDRESS, UINT32_MAX);
	put(writable, DATA, UINT32_MAX);
}

/* Only one that is free gets an owner; anybody may free it. */
static bool may_change(uint32_t owner, uint32_t next)
{
	return !owner || !next;
}

static void take(uint8_t *cap, const uint8_t *before)
{
	const uint32_t owner = get(before, OWNER), next = get(cap, OWNER);

	if (!may_change(owner, next))
		put(cap, OWNER, owner);
	else if (next)
		put(cap, COUNTER, get(cap, COUNTER) + 1);
}

static void access(struct emu_gateway *g, uint8_t *cap)
{
	const uint32_t word = get(cap, ADDRESS), data = get(cap, DATA);
	const uint32_t at = word & ADDRESS_MASK;
	uint32_t *semaphore = at < EMU_GATEWAY_SEMAPHORES ? &g->semaphore[at] : NULL;

	if ((get(cap, CONTROL) & SPACE_MASK) != SPACE_SEMAPHORES)
		semaphore = NULL;
	if (word & FLAG && semaphore && may_change(*semaphore, data))
		*semaphore = data;
	if (!(word & FLAG))
		put(cap, DATA, semaphore ? *semaphore : 0);
	put(cap, ADDRESS, word ^ FLAG);
}

void emu_gateway_written(struct emu_gateway *g, uint8_t *cap, const uint8_t *before, uint64_t from,
			 uint64_t to)
{
	const uint32_t space = get(cap, CONTROL) & SPACE_MASK;

	put(cap, CONTROL, space | (space == SPACE_SEMAPHORES ? STATUS_EXISTS : 0));
	if (from < OWNER + 4 && to > OWNER)
		take(cap, before);
	if (from < ADDRESS + 4 && to > ADDRESS)
		access(g, cap);
}
