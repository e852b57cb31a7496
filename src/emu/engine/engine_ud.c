/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Datagrams: from an address vector to a queue pair, and the network header that the receiver finds
 * in the first 40 bytes of its buffer (IBA 11.4.1.2; for RoCE v2 over IPv4 the IP header is in the
 * last 20 of them).
 */
#include "engine_int.h"

#define ROCE_V2	   2u
#define PROTO_UDP  17u
#define PROTO_IB   0x1bu
#define IPV4_BYTES 20u
#define UDP_BYTES  8u
#define BTH_DETH   20u /* base and datagram transport headers */
#define ICRC	   4u
#define CQE_GRH	   0x10u /* flags_rqpn, bit 28 */
#define NET_GRH	   0u	 /* bits 24 and 25 on Ethernet: what the header is */
#define NET_IPV6   1u
#define NET_IPV4   2u
#define QPN_MASK   0xffffffu

static const struct emu_gid *gid_of(const struct engine *e, uint16_t func, uint8_t index)
{
	const struct emu_tables *t = e->cfg.tables;
	uint32_t i;

	for (i = 0; i < t->ngids && i < EMU_MAX_GIDS; i++)
		if (t->gid[i].func == func && t->gid[i].index == index)
			return &t->gid[i];
	return NULL;
}

static const struct emu_gid *find_gid(const struct engine *e, const uint8_t raw[16])
{
	const struct emu_tables *t = e->cfg.tables;
	uint32_t i;

	for (i = 0; i < t->ngids && i < EMU_MAX_GIDS; i++)
		if (!memcmp(t->gid[i].raw, raw, sizeof(t->gid[i].raw)))
			return &t->gid[i];
	return NULL;
}

struct emu_qp *emu_ud_peer(struct engine *e, const struct emu_qp *q, const struct emu_av *av)
{
	const struct emu_gid *to = find_gid(e, av->dgid);
	struct emu_qp *p;
	uint32_t state;

	if (!to || !gid_of(e, q->func, av->sgid_index) || (av->qpn & QPN_MASK) >= EMU_MAX_QPS)
		return NULL;
	p = &e->cfg.queues->qp[av->qpn & QPN_MASK];
	if (!atomic_load(&p->serial) || p->type != EMU_QPT_UD || p->func != to->func)
		return NULL;
	state = atomic_load(&p->state);
	return state < EMU_QPS_RTR || state > EMU_QPS_SQE ? NULL : p;
}

static bool is_ipv4(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(gid, prefix, sizeof(prefix));
}

static uint16_t ip_checksum(const uint8_t *p)
{
	uint32_t sum = 0;
	unsigned int i;

	for (i = 0; i < IPV4_BYTES; i += 2)
		sum += emu_get16(p + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (uint16_t)~sum;
}

static void put_ipv4(uint8_t *p, const struct emu_av *av, const uint8_t *src, uint64_t ib_len)
{
	p[0] = 0x45; /* version 4, five words */
	p[1] = av->tclass;
	emu_put16(p + 2, (uint16_t)(IPV4_BYTES + UDP_BYTES + ib_len));
	p[6] = 0x40; /* don't fragment */
	p[8] = av->hop_limit;
	p[9] = PROTO_UDP;
	memcpy(p + 12, src + 12, 4);
	memcpy(p + 16, av->dgid + 12, 4);
	emu_put16(p + 10, ip_checksum(p));
}

void emu_ud_header(const struct engine *e, const struct emu_qp *q, const struct emu_av *av,
		   uint64_t len, uint8_t *grh)
{
	const struct emu_gid *from = gid_of(e, q->func, av->sgid_index);
	uint64_t ib_len = BTH_DETH + len + ICRC;
	bool v2;

	memset(grh, 0, EMU_GRH);
	if (!from)
		return;
	v2 = from->type == ROCE_V2;
	if (v2 && is_ipv4(from->raw)) {
		put_ipv4(grh + EMU_GRH - IPV4_BYTES, av, from->raw, ib_len);
		return;
	}
	emu_put32(grh, 6u << 28 | (uint32_t)av->tclass << 20 | (av->flow & 0xfffff));
	emu_put16(grh + 4, (uint16_t)(ib_len + (v2 ? UDP_BYTES : 0)));
	grh[6] = v2 ? PROTO_UDP : PROTO_IB;
	grh[7] = av->hop_limit;
	memcpy(grh + 8, from->raw, 16);
	memcpy(grh + 24, av->dgid, 16);
}

uint8_t emu_ud_network(const uint8_t *grh)
{
	if (!grh[0])
		return CQE_GRH | NET_IPV4;
	return CQE_GRH | (grh[6] == PROTO_UDP ? NET_IPV6 : NET_GRH);
}
