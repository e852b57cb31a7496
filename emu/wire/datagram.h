/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Datagrams of UD queue pairs (IBA 9.8.3): each is one packet and needs no state, so a sender builds it and a
 * receiver checks it with what it knows of its queue pair. Management datagrams are those of queue pair 1
 * (13.4, annex A17.4.4): 256 bytes with the well-known Q_Key.
 */
#ifndef EMU_WIRE_DATAGRAM_H
#define EMU_WIRE_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/wire/packet.h"

#define WIRE_MAD_BYTES 256u
#define WIRE_MAD_QPN   1u
#define WIRE_MAD_QKEY  0x80010000u

struct wire_datagram {
	uint32_t src_qpn, dest_qpn;
	uint32_t qkey;
	uint32_t psn; /* counted by the sender, and not checked */
	uint32_t imm; /* in host order */
	uint16_t pkey;
	bool has_imm;
	bool solicited;
	uint32_t len; /* of the payload */
};

/* Write the headers of a datagram; the caller appends the payload and calls wire_seal(). */
size_t wire_datagram_build(const struct wire_datagram *d, uint8_t *out);
/* May the queue pair with these attributes receive the packet? Multicast: IBA 10.5.2. */
enum wire_drop wire_datagram_check(const struct wire_packet *p, uint32_t qpn, uint32_t qkey,
				   uint16_t pkey);

/* Write a management datagram without its pad and CRC; returns its length. */
size_t wire_mad_build(const uint8_t mad[static WIRE_MAD_BYTES], uint16_t pkey, uint32_t psn,
		      uint8_t *out);
/* The management datagram in a packet, WIRE_MAD_BYTES bytes of its payload; NULL: it is none. */
const uint8_t *wire_mad(const struct wire_packet *p);

#endif
