/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Packets of RoCEv2 of any content, for Frama-C's Eva. Which headers a packet has depends on its opcode, so each
 * opcode is taken alone. Eva does not relate a pointer to a length, so the lengths are taken in intervals: the
 * array has as many bytes as the shortest of an interval, so that any access beyond them is an alarm.
 */
#include <__fc_builtin.h>
#include <stdbool.h>

#include "emu/wire/packet.h"

static uint8_t bytes[WIRE_MAX_HEADERS + WIRE_ICRC];
static uint8_t *const end = bytes + sizeof(bytes);
static struct wire_packet packet;

static void parse(uint8_t opcode, size_t min, size_t max)
{
	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	if (min)
		*(end - min) = opcode;
	(void)wire_parse(end - min, Frama_C_size_t_interval(min, max), &packet);
}

void main_parse(void)
{
	parse(0, 0, WIRE_BTH + WIRE_ICRC - 1);
	//@ loop unroll 256;
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		const size_t whole = wire_header_bytes((uint8_t)opcode) + WIRE_ICRC;

		//@ slevel merge;
		if (whole > WIRE_BTH + WIRE_ICRC)
			parse((uint8_t)opcode, WIRE_BTH + WIRE_ICRC, whole - 1);
		parse((uint8_t)opcode, whole, SIZE_MAX);
	}
}

/* Building takes values of the engine, no bytes of a peer; its buffer has room for the headers. */
void main_build(void)
{
	//@ loop unroll 256;
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		//@ slevel merge;
		Frama_C_make_unknown((char *)&packet, sizeof(packet));
		packet.opcode = (uint8_t)opcode;
		packet.solicited = Frama_C_nondet(0, 1);
		packet.migrated = Frama_C_nondet(0, 1);
		packet.ack_req = Frama_C_nondet(0, 1);
		packet.fecn = Frama_C_nondet(0, 1);
		packet.becn = Frama_C_nondet(0, 1);
		(void)wire_build(&packet, end - wire_header_bytes((uint8_t)opcode));
	}
}
