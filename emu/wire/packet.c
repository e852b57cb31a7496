/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/packet.h"

#include <string.h>

#include "emu/ipc/bytes.h"
#include "emu/wire/psn.h"

/* Byte 1 of the BTH (IBA 9.2). */
#define SOLICITED 0x80u
#define MIGRATED  0x40u
#define PAD_SHIFT 4u
#define PAD_MASK  3u
#define VERSION	  0x0fu
/* Byte 4: as RoCEv2 and IBA 1.4 use the reserved byte. */
#define FECN 0x80u
#define BECN 0x40u
/* Byte 8. */
#define ACK_REQ 0x80u

/* A header: its bytes, and how they become fields and vice versa. */
struct header {
	uint8_t bit; /* enum wire_header */
	uint8_t bytes;
	void (*read)(const uint8_t *b, struct wire_packet *p);
	void (*write)(const struct wire_packet *p, uint8_t *b);
};

static void read_deth(const uint8_t *b, struct wire_packet *p)
{
	p->qkey = emu_get32(b);
	p->src_qpn = emu_get32(b + 4) & WIRE_QPN_MASK;
}

static void write_deth(const struct wire_packet *p, uint8_t *b)
{
	emu_put32(b, p->qkey);
	emu_put32(b + 4, p->src_qpn & WIRE_QPN_MASK);
}

static void read_xrceth(const uint8_t *b, struct wire_packet *p)
{
	p->srqn = emu_get32(b) & WIRE_QPN_MASK;
}

static void write_xrceth(const struct wire_packet *p, uint8_t *b)
{
	emu_put32(b, p->srqn & WIRE_QPN_MASK);
}

static void read_reth(const uint8_t *b, struct wire_packet *p)
{
	p->va = emu_get64(b);
	p->rkey = emu_get32(b + 8);
	p->dma_len = emu_get32(b + 12);
}

static void write_reth(const struct wire_packet *p, uint8_t *b)
{
	emu_put64(b, p->va);
	emu_put32(b + 8, p->rkey);
	emu_put32(b + 12, p->dma_len);
}

static void read_atomic(const uint8_t *b, struct wire_packet *p)
{
	p->va = emu_get64(b);
	p->rkey = emu_get32(b + 8);
	p->swap_add = emu_get64(b + 12);
	p->compare = emu_get64(b + 20);
}

static void write_atomic(const struct wire_packet *p, uint8_t *b)
{
	emu_put64(b, p->va);
	emu_put32(b + 8, p->rkey);
	emu_put64(b + 12, p->swap_add);
	emu_put64(b + 20, p->compare);
}

static void read_aeth(const uint8_t *b, struct wire_packet *p)
{
	p->syndrome = b[0];
	p->msn = emu_get32(b) & WIRE_PSN_MASK;
}

static void write_aeth(const struct wire_packet *p, uint8_t *b)
{
	emu_put32(b, (uint32_t)p->syndrome << 24 | (p->msn & WIRE_PSN_MASK));
}

static void read_atomic_ack(const uint8_t *b, struct wire_packet *p)
{
	p->original = emu_get64(b);
}

static void write_atomic_ack(const struct wire_packet *p, uint8_t *b)
{
	emu_put64(b, p->original);
}

static void read_imm(const uint8_t *b, struct wire_packet *p)
{
	p->imm = emu_get32(b);
}

static void write_imm(const struct wire_packet *p, uint8_t *b)
{
	emu_put32(b, p->imm);
}

static void read_ieth(const uint8_t *b, struct wire_packet *p)
{
	p->invalidate = emu_get32(b);
}

static void write_ieth(const struct wire_packet *p, uint8_t *b)
{
	emu_put32(b, p->invalidate);
}

#define HEADERS 8u

static const struct header headers[HEADERS] = {
	{WIRE_H_DETH, 8, read_deth, write_deth},
	{WIRE_H_XRCETH, 4, read_xrceth, write_xrceth},
	{WIRE_H_RETH, 16, read_reth, write_reth},
	{WIRE_H_ATOMIC, 28, read_atomic, write_atomic},
	{WIRE_H_AETH, 4, read_aeth, write_aeth},
	{WIRE_H_ATOMIC_ACK, 8, read_atomic_ack, write_atomic_ack},
	{WIRE_H_IMM, 4, read_imm, write_imm},
	{WIRE_H_IETH, 4, read_ieth, write_ieth},
};

static size_t header_bytes(uint8_t set)
{
	size_t bytes = WIRE_BTH;

	for (unsigned int i = 0; i < HEADERS; i++)
		bytes += set & headers[i].bit ? headers[i].bytes : 0;
	return bytes;
}

uint32_t wire_dest_qpn(const uint8_t *bytes)
{
	return emu_get32(bytes + 4) & WIRE_QPN_MASK;
}

size_t wire_header_bytes(uint8_t opcode)
{
	return header_bytes(wire_opcode(opcode).headers);
}

static void read_bth(const uint8_t *b, struct wire_packet *p)
{
	p->opcode = b[0];
	p->solicited = b[1] & SOLICITED;
	p->migrated = b[1] & MIGRATED;
	p->pkey = emu_get16(b + 2);
	p->fecn = b[4] & FECN;
	p->becn = b[4] & BECN;
	p->dest_qpn = emu_get32(b + 4) & WIRE_QPN_MASK;
	p->ack_req = b[8] & ACK_REQ;
	p->psn = emu_get32(b + 8) & WIRE_PSN_MASK;
}

static void write_bth(const struct wire_packet *p, uint8_t *b)
{
	uint8_t pad = (uint8_t)(-p->len & PAD_MASK);

	b[0] = p->opcode;
	b[1] = (uint8_t)((p->solicited ? SOLICITED : 0) | (p->migrated ? MIGRATED : 0) |
			 pad << PAD_SHIFT);
	emu_put16(b + 2, p->pkey);
	emu_put32(b + 4, p->dest_qpn & WIRE_QPN_MASK);
	b[4] = (uint8_t)((p->fecn ? FECN : 0) | (p->becn ? BECN : 0));
	emu_put32(b + 8, p->psn & WIRE_PSN_MASK);
	b[8] = p->ack_req ? ACK_REQ : 0;
}

/*
 * The payload and its pad fill words (IBA 9.2). First and middle packets are full, so they have no pad
 * (9.7.4.1); a last packet has at least one byte. Whether a packet is as long as the path MTU says,
 * only the queue pair knows.
 */
static enum wire_drop check_payload(const struct wire_packet *p, uint32_t pad)
{
	if (p->op.kind == WIRE_KIND_CNP)
		return p->len == WIRE_CNP_BYTES ? WIRE_ACCEPTED : WIRE_DROP_PAYLOAD;
	if (!p->op.payload && (p->len || pad))
		return WIRE_DROP_PAYLOAD;
	if (!p->op.last && pad)
		return WIRE_DROP_PAD;
	if (!(p->op.first && p->op.last) && !p->len)
		return WIRE_DROP_PAYLOAD;
	return p->len > WIRE_MAX_MTU ? WIRE_DROP_LONG : WIRE_ACCEPTED;
}

enum wire_drop wire_parse(const uint8_t *bytes, size_t len, struct wire_packet *p)
{
	size_t head;
	uint32_t pad;
	unsigned int i;

	memset(p, 0, sizeof(*p));
	if (len < WIRE_BTH + WIRE_ICRC)
		return WIRE_DROP_SHORT;
	if (len > WIRE_MAX_PACKET)
		return WIRE_DROP_LONG;
	len -= WIRE_ICRC;
	read_bth(bytes, p);
	if (bytes[1] & VERSION)
		return WIRE_DROP_VERSION;
	p->op = wire_opcode(p->opcode);
	if (p->op.kind == WIRE_KIND_NONE)
		return WIRE_DROP_OPCODE;
	head = header_bytes(p->op.headers);
	if (len < head)
		return WIRE_DROP_SHORT;
	pad = bytes[1] >> PAD_SHIFT & PAD_MASK;
	if ((len - head) % 4 || len - head < pad)
		return WIRE_DROP_PAD;
	p->payload = bytes + head;
	p->len = (uint32_t)(len - head) - pad;
	for (head = WIRE_BTH, i = 0; i < HEADERS; i++) {
		if (!(p->op.headers & headers[i].bit))
			continue;
		headers[i].read(bytes + head, p);
		head += headers[i].bytes;
	}
	return check_payload(p, pad);
}

size_t wire_build(const struct wire_packet *p, uint8_t *out)
{
	uint8_t set = wire_opcode(p->opcode).headers;
	size_t at = WIRE_BTH;

	write_bth(p, out);
	for (unsigned int i = 0; i < HEADERS; i++) {
		if (!(set & headers[i].bit))
			continue;
		headers[i].write(p, out + at);
		at += headers[i].bytes;
	}
	return at;
}
