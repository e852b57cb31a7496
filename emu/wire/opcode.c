/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/opcode.h"

/* clang-format off */
#define ROW(op, kind, headers, first, last, payload) \
	[WIRE_##op] = {WIRE_KIND_##kind, (headers), (first), (last), (payload)}

static const struct wire_opcode table[WIRE_OPERATIONS] = {
	ROW(SEND_FIRST,      SEND,          0,                               true,  false, true),
	ROW(SEND_MIDDLE,     SEND,          0,                               false, false, true),
	ROW(SEND_LAST,       SEND,          0,                               false, true,  true),
	ROW(SEND_LAST_IMM,   SEND,          WIRE_H_IMM,                      false, true,  true),
	ROW(SEND_ONLY,       SEND,          0,                               true,  true,  true),
	ROW(SEND_ONLY_IMM,   SEND,          WIRE_H_IMM,                      true,  true,  true),
	ROW(WRITE_FIRST,     WRITE,         WIRE_H_RETH,                     true,  false, true),
	ROW(WRITE_MIDDLE,    WRITE,         0,                               false, false, true),
	ROW(WRITE_LAST,      WRITE,         0,                               false, true,  true),
	ROW(WRITE_LAST_IMM,  WRITE,         WIRE_H_IMM,                      false, true,  true),
	ROW(WRITE_ONLY,      WRITE,         WIRE_H_RETH,                     true,  true,  true),
	ROW(WRITE_ONLY_IMM,  WRITE,         WIRE_H_RETH | WIRE_H_IMM,        true,  true,  true),
	ROW(READ_REQUEST,    READ,          WIRE_H_RETH,                     true,  true,  false),
	ROW(READ_FIRST,      READ_RESPONSE, WIRE_H_AETH,                     true,  false, true),
	ROW(READ_MIDDLE,     READ_RESPONSE, 0,                               false, false, true),
	ROW(READ_LAST,       READ_RESPONSE, WIRE_H_AETH,                     false, true,  true),
	ROW(READ_ONLY,       READ_RESPONSE, WIRE_H_AETH,                     true,  true,  true),
	ROW(ACK,             ACK,           WIRE_H_AETH,                     true,  true,  false),
	ROW(ATOMIC_ACK,      ATOMIC_ACK,    WIRE_H_AETH | WIRE_H_ATOMIC_ACK, true,  true,  false),
	ROW(COMPARE_SWAP,    ATOMIC,        WIRE_H_ATOMIC,                   true,  true,  false),
	ROW(FETCH_ADD,       ATOMIC,        WIRE_H_ATOMIC,                   true,  true,  false),
	ROW(SEND_LAST_INV,   SEND,          WIRE_H_IETH,                     false, true,  true),
	ROW(SEND_ONLY_INV,   SEND,          WIRE_H_IETH,                     true,  true,  true),
};
/* clang-format on */

/* Which operations a service has: unreliable ones neither read nor invalidate (IBA table 38). */
static bool has_operation(uint8_t opcode)
{
	uint8_t operation = WIRE_OPERATION(opcode);

	switch (WIRE_SERVICE(opcode)) {
	case WIRE_RC:
	case WIRE_XRC:
		return operation < WIRE_OPERATIONS;
	case WIRE_UC:
		return operation <= WIRE_WRITE_ONLY_IMM;
	case WIRE_UD:
		return operation == WIRE_SEND_ONLY || operation == WIRE_SEND_ONLY_IMM;
	default:
		return false;
	}
}

struct wire_opcode wire_opcode(uint8_t opcode)
{
	struct wire_opcode o = {.kind = WIRE_KIND_NONE};

	if (opcode == WIRE_CNP)
		return (struct wire_opcode){
			.kind = WIRE_KIND_CNP, .first = true, .last = true, .payload = true};
	if (!has_operation(opcode))
		return o;
	o = table[WIRE_OPERATION(opcode)];
	if (WIRE_SERVICE(opcode) == WIRE_UD)
		o.headers |= WIRE_H_DETH;
	if (WIRE_SERVICE(opcode) == WIRE_XRC && wire_kind_is_request(o.kind))
		o.headers |= WIRE_H_XRCETH;
	return o;
}
