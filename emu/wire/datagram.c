/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/wire/datagram.h"

#include <string.h>

#include "emu/ipc/pkey.h"

size_t wire_datagram_build(const struct wire_datagram *d, uint8_t *out)
{
	struct wire_packet p = {
		.opcode = (uint8_t)(WIRE_UD | (d->has_imm ? WIRE_SEND_ONLY_IMM : WIRE_SEND_ONLY)),
		.solicited = d->solicited,
		.migrated = true,
		.pkey = d->pkey,
		.dest_qpn = d->dest_qpn,
		.psn = d->psn,
		.qkey = d->qkey,
		.src_qpn = d->src_qpn,
		.imm = d->imm,
		.len = d->len,
	};

	return wire_build(&p, out);
}

enum wire_drop wire_datagram_check(const struct wire_packet *p, uint32_t qpn, uint32_t qkey,
				   uint16_t pkey)
{
	if (WIRE_SERVICE(p->opcode) != WIRE_UD)
		return WIRE_DROP_SERVICE;
	if (p->dest_qpn != qpn && p->dest_qpn != WIRE_MULTICAST)
		return WIRE_DROP_QPN;
	if (!emu_pkey_matches(p->pkey, pkey))
		return WIRE_DROP_PKEY;
	return p->qkey == qkey ? WIRE_ACCEPTED : WIRE_DROP_QKEY;
}

size_t wire_mad_build(const uint8_t mad[static WIRE_MAD_BYTES], uint16_t pkey, uint32_t psn,
		      uint8_t *out)
{
	struct wire_datagram d = {
		.src_qpn = WIRE_MAD_QPN,
		.dest_qpn = WIRE_MAD_QPN,
		.qkey = WIRE_MAD_QKEY,
		.psn = psn,
		.pkey = pkey,
		.len = WIRE_MAD_BYTES,
	};
	size_t head = wire_datagram_build(&d, out);

	memcpy(out + head, mad, WIRE_MAD_BYTES);
	return head + WIRE_MAD_BYTES;
}

const uint8_t *wire_mad(const struct wire_packet *p)
{
	if (WIRE_SERVICE(p->opcode) != WIRE_UD || p->dest_qpn != WIRE_MAD_QPN ||
	    p->qkey != WIRE_MAD_QKEY || p->len != WIRE_MAD_BYTES)
		return NULL;
	return p->payload;
}
