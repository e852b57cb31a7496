/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The syndrome of an ACK header: positive with credits, "receiver not ready" with a time, or a code (IBA 9.7.5.2). */
#ifndef EMU_WIRE_AETH_H
#define EMU_WIRE_AETH_H

#include <stdint.h>

enum wire_syndrome {
	WIRE_ACK_CREDITS = 0x00,   /* + the code of a number of credits (9.7.7.2) */
	WIRE_ACK_UNLIMITED = 0x1f, /* the responder does not count credits */
	WIRE_RNR = 0x20,	   /* + the code of a time */
	WIRE_NAK_SEQUENCE = 0x60,
	WIRE_NAK_REQUEST = 0x61,   /* invalid request */
	WIRE_NAK_ACCESS = 0x62,	   /* remote access error */
	WIRE_NAK_OPERATION = 0x63, /* remote operational error */
};

#define WIRE_SYNDROME_KIND(syndrome)  ((syndrome)&0xe0u)
#define WIRE_SYNDROME_VALUE(syndrome) ((syndrome)&0x1fu)
#define WIRE_SYNDROME_NAK	      0x60u

/* The code for as many credits as possible, but not more than `count`; and the credits of a code. */
uint8_t wire_credit_code(uint32_t count);
uint32_t wire_credits(uint8_t code);
/* How long to wait after an RNR NAK with this code, in nanoseconds (9.7.5.2, table 45). */
uint64_t wire_rnr_ns(uint8_t code);

#endif
