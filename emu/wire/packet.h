/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A packet of InfiniBand's transport as the payload of a UDP datagram (RoCEv2, annex A17): base transport
 * header, extended headers, payload, 0 to 3 bytes of pad, and the invariant CRC (icrc.h).
 */
#ifndef EMU_WIRE_PACKET_H
#define EMU_WIRE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/wire/drop.h"
#include "emu/wire/opcode.h"

#define WIRE_PORT	 4791u /* of UDP (annex A17.3.1.2) */
#define WIRE_BTH	 12u
#define WIRE_ICRC	 4u
#define WIRE_MAX_HEADERS 44u /* BTH, XRCETH, AtomicETH */
#define WIRE_MAX_MTU	 4096u
#define WIRE_MAX_PACKET	 (WIRE_MAX_HEADERS + WIRE_MAX_MTU + WIRE_ICRC)
#define WIRE_CNP_BYTES	 16u	   /* reserved, all zeros */
#define WIRE_QPN_MASK	 0xffffffu /* queue pairs and SRQs */
#define WIRE_MULTICAST	 0xffffffu /* the queue pair of multicast datagrams (IBA 9.6.1) */

/* Only the fields of headers that the opcode has are valid. Numbers are in host order. */
struct wire_packet {
	uint8_t opcode;
	bool solicited, migrated, ack_req, fecn, becn;
	uint16_t pkey;
	uint32_t dest_qpn;
	uint32_t psn;
	uint32_t qkey, src_qpn;	    /* DETH; IBA 9.3 has all extended headers */
	uint32_t srqn;		    /* XRCETH (annex A14.3) */
	uint64_t va;		    /* RETH and AtomicETH */
	uint32_t rkey, dma_len;	    /* dma_len: RETH alone */
	uint64_t swap_add, compare; /* AtomicETH */
	uint8_t syndrome;	    /* AETH */
	uint32_t msn;		    /* AETH */
	uint64_t original;	    /* AtomicAckETH */
	uint32_t imm;		    /* ImmDt */
	uint32_t invalidate;	    /* IETH: an R_Key */
	const uint8_t *payload;
	uint32_t len; /* of the payload, without pad */
	struct wire_opcode op;
};

/*
 * Parse the payload of a UDP datagram, whose invariant CRC was checked, and check all that needs no queue
 * pair. `p->payload` points into `bytes`.
 */
enum wire_drop wire_parse(const uint8_t *bytes, size_t len, struct wire_packet *p);
/* The queue pair to which a packet with at least a base transport header goes. */
uint32_t wire_dest_qpn(const uint8_t *bytes);
/* How many bytes the headers of this opcode have. */
size_t wire_header_bytes(uint8_t opcode);
/*
 * Write the headers, wire_header_bytes(p->opcode), for a payload of p->len bytes. The caller writes
 * the payload behind them. `p->op` is not used.
 */
size_t wire_build(const struct wire_packet *p, uint8_t *out);

#endif
