/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Opcodes of the base transport header: what each means, and which headers follow (IBA 9.2.1, table 38). */
#ifndef EMU_WIRE_OPCODE_H
#define EMU_WIRE_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

/* The transport service: the upper three bits of an opcode. */
enum wire_service {
	WIRE_RC = 0x00,
	WIRE_UC = 0x20,
	WIRE_UD = 0x60,
	WIRE_MANUFACTURER = 0x80, /* RoCEv2 takes one of these: WIRE_CNP */
	WIRE_XRC = 0xa0,	  /* annex A14 */
};

#define WIRE_SERVICE(opcode)   ((enum wire_service)((opcode)&0xe0u))
#define WIRE_OPERATION(opcode) ((opcode)&0x1fu)

/* The lower five bits. */
enum wire_operation {
	WIRE_SEND_FIRST = 0x00,
	WIRE_SEND_MIDDLE,
	WIRE_SEND_LAST,
	WIRE_SEND_LAST_IMM,
	WIRE_SEND_ONLY,
	WIRE_SEND_ONLY_IMM,
	WIRE_WRITE_FIRST,
	WIRE_WRITE_MIDDLE,
	WIRE_WRITE_LAST,
	WIRE_WRITE_LAST_IMM,
	WIRE_WRITE_ONLY,
	WIRE_WRITE_ONLY_IMM,
	WIRE_READ_REQUEST,
	WIRE_READ_FIRST,
	WIRE_READ_MIDDLE,
	WIRE_READ_LAST,
	WIRE_READ_ONLY,
	WIRE_ACK,
	WIRE_ATOMIC_ACK,
	WIRE_COMPARE_SWAP,
	WIRE_FETCH_ADD,
	WIRE_SEND_LAST_INV = 0x16,
	WIRE_SEND_ONLY_INV,
	WIRE_OPERATIONS,
};

#define WIRE_CNP 0x81u /* congestion notification packet (annex A17.9.3) */

enum wire_kind {
	WIRE_KIND_NONE,
	WIRE_KIND_SEND,
	WIRE_KIND_WRITE,
	WIRE_KIND_READ,
	WIRE_KIND_ATOMIC,
	WIRE_KIND_READ_RESPONSE,
	WIRE_KIND_ACK,
	WIRE_KIND_ATOMIC_ACK,
	WIRE_KIND_CNP,
};

/* Extended transport headers, in the order in which they follow (IBA 9.2, figure 73). */
enum wire_header {
	WIRE_H_DETH = 1u << 0,
	WIRE_H_XRCETH = 1u << 1,
	WIRE_H_RETH = 1u << 2,
	WIRE_H_ATOMIC = 1u << 3,
	WIRE_H_AETH = 1u << 4,
	WIRE_H_ATOMIC_ACK = 1u << 5,
	WIRE_H_IMM = 1u << 6,
	WIRE_H_IETH = 1u << 7,
};

/* An opcode: an "only" packet is the first and the last of its message, a "middle" one neither. */
struct wire_opcode {
	uint8_t kind;	 /* enum wire_kind; WIRE_KIND_NONE: not defined */
	uint8_t headers; /* enum wire_header */
	bool first, last;
	bool payload; /* it may have one */
};

struct wire_opcode wire_opcode(uint8_t opcode);

static inline bool wire_kind_is_request(uint8_t kind)
{
	return kind >= WIRE_KIND_SEND && kind <= WIRE_KIND_ATOMIC;
}

#endif
