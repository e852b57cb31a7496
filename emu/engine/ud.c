/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Datagrams: from an address vector to a queue pair, and the network header in the first 40 bytes
 * of the receiver's buffer (IBA 11.4.1.2; for RoCE v2 over IPv4 the IP header is in the last 20
 * bytes).
 */
#include "emu/engine/ud.h"

#include <string.h>

#include "emu/engine/memory/wire.h"
#include "emu/engine/state.h"
#include "emu/ipc/gid.h"
#include "emu/ipc/group.h"

#define ROCE_V2	  2u
#define PROTO_UDP 17u
#define PROTO_IB  0x1bu
#define UDP_BYTES 8u
#define BTH_DETH  20u /* base and datagram transport headers */
#define ICRC	  4u
#define CQE_GRH	  0x10u /* flags_rqpn, bit 28 */
#define NET_GRH	  0u	/* bits 24 and 25 on Ethernet: the kind of header */
#define NET_IPV6  1u
#define NET_IPV4  2u
#define QPN_MASK  0xffffffu

/* The global routing header: InfiniBand architecture, volume 1, 8.3; also the header of IPv6. */
struct grh {
	uint8_t version_class_flow[4];
	uint8_t payload_length[2];
	uint8_t next_header;
	uint8_t hop_limit;
	uint8_t sgid[16];
	uint8_t dgid[16];
};

/* RFC 791. */
struct ipv4_header {
	uint8_t version_ihl;
	uint8_t tos;
	uint8_t total_length[2];
	uint8_t identification[2];
	uint8_t flags_fragment[2];
	uint8_t ttl;
	uint8_t protocol;
	uint8_t checksum[2];
	uint8_t src[4];
	uint8_t dst[4];
};

_Static_assert(sizeof(struct grh) == EMU_GRH && sizeof(struct ipv4_header) == 20, "headers");

static const struct emu_gid *gid_of(const struct engine *e, uint16_t func, uint8_t index)
{
	const struct emu_gid *g = &e->cfg.tables->port[func % EMU_MAX_FUNCS].gid[index];

	return atomic_load_explicit(&g->serial, memory_order_acquire) ? g : NULL;
}

/* Has the port this GID, or if it is NULL any, with the version and the VLAN of the sender's? */
static bool has_gid(const struct emu_port *port, const uint8_t *raw, const struct emu_gid *from)
{
	uint32_t high = atomic_load(&port->gid_high), i;
	const struct emu_gid *g;

	for (i = 0; i < high && i < EMU_MAX_GIDS; i++) {
		g = &port->gid[i];
		if (atomic_load_explicit(&g->serial, memory_order_acquire) &&
		    g->type == from->type && g->vlan == from->vlan &&
		    (!raw || !memcmp(g->raw, raw, sizeof(g->raw))))
			return true;
	}
	return false;
}

static bool owns(const struct emu_port *port, const uint8_t gid[16])
{
	uint32_t high = atomic_load(&port->gid_high), i;

	for (i = 0; i < high && i < EMU_MAX_GIDS; i++)
		if (atomic_load_explicit(&port->gid[i].serial, memory_order_acquire) &&
		    !memcmp(port->gid[i].raw, gid, sizeof(port->gid[i].raw)))
			return true;
	return false;
}

bool emu_ud_is_local(const struct engine *e, const uint8_t gid[16])
{
	for (uint32_t i = 0; i < EMU_MAX_FUNCS; i++)
		if (owns(&e->cfg.tables->port[i], gid))
			return true;
	return false;
}

/* Do datagrams arrive at this function's port? */
static bool is_open(const struct engine *e, const struct emu_qp *q, uint32_t func)
{
	uint32_t cut = atomic_load(&e->cfg.tables->port[q->func % EMU_MAX_FUNCS].cut);

	return func < EMU_MAX_FUNCS && !(cut & 1u << func);
}

bool emu_ud_is_multicast(const struct emu_av *av)
{
	return emu_gid_is_group(av->dgid) && (av->qpn & QPN_MASK) == EMU_GROUP_QPN;
}

static bool is_member(const struct emu_member *m, const uint8_t gid[16])
{
	return atomic_load(&m->serial) && m->qpn < EMU_MAX_QPS &&
	       !memcmp(m->gid, gid, sizeof(m->gid));
}

uint32_t emu_ud_next_member(const struct engine *e, const struct emu_qp *q, const uint8_t gid[16],
			    uint32_t member)
{
	const struct emu_queues *queues = e->cfg.queues;
	uint32_t i = atomic_load(&queues->bucket[emu_group_bucket(gid)]);

	for (; i && i < EMU_MAX_MEMBERS; i = atomic_load(&queues->member[i].next))
		if (i > member && is_member(&queues->member[i], gid) &&
		    !(q->block_self && &queues->qp[queues->member[i].qpn] == q))
			return i;
	return 0;
}

/* The queue pair of a member, or NULL if the member has left the group. */
static struct emu_qp *qp_of_member(const struct engine *e, const uint8_t gid[16], uint32_t member)
{
	struct emu_queues *queues = e->cfg.queues;
	const struct emu_member *m = &queues->member[member];

	if (!member || member >= EMU_MAX_MEMBERS || !is_member(m, gid))
		return NULL;
	return &queues->qp[m->qpn];
}

static struct emu_qp *named_qp(struct engine *e, uint32_t qpn)
{
	return qpn < EMU_MAX_QPS ? &e->cfg.queues->qp[qpn] : NULL;
}

/* The queue pair for management datagrams of the port that has a GID, or NULL. */
static struct emu_qp *gsi_of(struct engine *e, const uint8_t *gid, const struct emu_gid *from)
{
	const struct emu_port *port;
	uint32_t i, qpn;

	for (i = 0; i < EMU_MAX_FUNCS; i++) {
		port = &e->cfg.tables->port[i];
		qpn = atomic_load(&port->gsi);
		if (qpn && has_gid(port, gid, from))
			return named_qp(e, qpn);
	}
	return NULL;
}

static struct emu_qp *addressed_qp(struct engine *e, const struct emu_av *av,
				   const struct emu_gid *from)
{
	const uint32_t qpn = av->qpn & QPN_MASK;

	return qpn == EMU_GSI_QPN ? gsi_of(e, av->dgid, from) : named_qp(e, qpn);
}

uint32_t emu_ud_source(const struct engine *e, uint32_t func, uint32_t qpn)
{
	const struct emu_port *port = &e->cfg.tables->port[func % EMU_MAX_FUNCS];

	return atomic_load(&port->gsi) == qpn ? EMU_GSI_QPN : qpn;
}

static uint8_t receiver_of(const struct emu_qp *q)
{
	return q->type == EMU_QPT_DCI ? EMU_QPT_DCT : EMU_QPT_UD;
}

struct emu_qp *emu_ud_peer(struct engine *e, const struct emu_qp *q, const struct emu_av *av,
			   uint32_t member)
{
	const struct emu_gid *from = gid_of(e, q->func, av->sgid_index);
	bool group = emu_ud_is_multicast(av);
	const struct emu_port *port;
	struct emu_qp *p;
	uint32_t state;

	if (!from)
		return NULL;
	p = group ? qp_of_member(e, av->dgid, member) : addressed_qp(e, av, from);
	if (!p || !atomic_load(&p->serial) || p->type != receiver_of(q) || !is_open(e, q, p->func))
		return NULL;
	port = &e->cfg.tables->port[p->func % EMU_MAX_FUNCS];
	if (!has_gid(port, group ? NULL : av->dgid, from))
		return NULL;
	state = atomic_load(&p->state);
	return state < EMU_QPS_RTR || state > EMU_QPS_SQE ? NULL : p;
}

static uint16_t ip_checksum(const uint8_t *p)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < sizeof(struct ipv4_header); i += 2)
		sum += emu_get16(p + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (uint16_t)~sum;
}

static void put_ipv4(uint8_t *p, const struct emu_av *av, const uint8_t *src, uint64_t ib_len)
{
	struct ipv4_header *ip = (struct ipv4_header *)p;

	ip->version_ihl = 0x45; /* version 4, five words */
	ip->tos = av->tclass;
	emu_put16(ip->total_length, (uint16_t)(sizeof(*ip) + UDP_BYTES + ib_len));
	ip->flags_fragment[0] = 0x40; /* don't fragment */
	ip->ttl = av->hop_limit;
	ip->protocol = PROTO_UDP;
	memcpy(ip->src, src + EMU_GID_IPV4, sizeof(ip->src));
	memcpy(ip->dst, av->dgid + EMU_GID_IPV4, sizeof(ip->dst));
	emu_put16(ip->checksum, ip_checksum(p));
}

void emu_ud_header(const struct engine *e, const struct emu_qp *q, const struct emu_av *av,
		   uint64_t len, uint8_t *area)
{
	struct grh *grh = (struct grh *)area;
	const struct emu_gid *from = gid_of(e, q->func, av->sgid_index);
	uint64_t ib_len = BTH_DETH + len + ICRC;
	bool v2;

	memset(area, 0, EMU_GRH);
	if (!from)
		return;
	v2 = from->type == ROCE_V2;
	if (v2 && emu_gid_is_ipv4(from->raw)) {
		put_ipv4(area + EMU_GRH - sizeof(struct ipv4_header), av, from->raw, ib_len);
		return;
	}
	emu_put32(grh->version_class_flow,
		  6u << 28 | (uint32_t)av->tclass << 20 | (av->flow & 0xfffff));
	emu_put16(grh->payload_length, (uint16_t)(ib_len + (v2 ? UDP_BYTES : 0)));
	grh->next_header = v2 ? PROTO_UDP : PROTO_IB;
	grh->hop_limit = av->hop_limit;
	memcpy(grh->sgid, from->raw, sizeof(grh->sgid));
	memcpy(grh->dgid, av->dgid, sizeof(grh->dgid));
}

bool emu_ud_to_group(const uint8_t *area)
{
	const struct grh *grh = (const struct grh *)area;
	const struct ipv4_header *ip =
		(const struct ipv4_header *)(area + EMU_GRH - sizeof(struct ipv4_header));

	return grh->version_class_flow[0] ? grh->dgid[0] == 0xff : ip->dst[0] >> 4 == 0xe;
}

uint8_t emu_ud_network(const uint8_t *area)
{
	const struct grh *grh = (const struct grh *)area;

	if (!grh->version_class_flow[0])
		return CQE_GRH | NET_IPV4;
	return CQE_GRH | (grh->next_header == PROTO_UDP ? NET_IPV6 : NET_GRH);
}
