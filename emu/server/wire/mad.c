/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/wire/mad.h"

#include <string.h>

#include "emu/server/card/counters.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/pkey.h"
#include "emu/server/wire/endpoints.h"
#include "emu/server/wire/udp.h"
#include "emu/wire/datagram.h"
#include "emu/wire/icrc.h"

#define CLASS_AT  1u /* in the header of a MAD */
#define CLASS_CM  0x07u
#define HOP_LIMIT 64u /* a socket does not show it */
#define BATCH	  64  /* datagrams, then others get their turn */

bool (*emu_wire_receive_mad)(const struct emu_wire_mad *m);

void (*emu_wire_on_packet)(const struct emu_wire_seen_packet *s);

static struct emu_wire_counts counts[EMU_MAX_ENDPOINTS];

const struct emu_wire_counts *emu_wire_counts_of(int endpoint)
{
	return &counts[endpoint];
}

static enum wire_drop check_length(size_t len)
{
	if (len < WIRE_BTH + WIRE_ICRC)
		return WIRE_DROP_SHORT;
	return len > WIRE_MAX_PACKET ? WIRE_DROP_LONG : WIRE_ACCEPTED;
}

/* Why a packet is not a management datagram that the port accepts. */
static enum wire_drop check_packet(const struct emu_func *f, const struct wire_packet *p)
{
	if (p->dest_qpn != WIRE_MAD_QPN)
		return WIRE_DROP_QPN;
	if (WIRE_SERVICE(p->opcode) != WIRE_UD)
		return WIRE_DROP_SERVICE;
	if (p->qkey != WIRE_MAD_QKEY) {
		emu_counter_add(f, EMU_COUNTER_qkey_viol_cntr, 1);
		return WIRE_DROP_QKEY;
	}
	if (!wire_mad(p))
		return WIRE_DROP_LENGTH;
	if (f->dead || f->port_down)
		return WIRE_DROP_STATE;
	if (emu_pkey_admits(f, p->pkey))
		return WIRE_ACCEPTED;
	emu_counter_add(f, EMU_COUNTER_bad_pkey_cntr, 1);
	return WIRE_DROP_PKEY;
}

static enum wire_drop deliver(const struct emu_func *f, const struct wire_path *path,
			      const struct wire_packet *p)
{
	struct emu_wire_mad m = {.to = f, .tclass = path->tclass, .pkey = p->pkey};

	m.bytes = wire_mad(p);
	memcpy(m.src, path->src, sizeof(m.src));
	memcpy(m.dst, path->dst, sizeof(m.dst));
	if (m.bytes[CLASS_AT] != CLASS_CM)
		return WIRE_DROP_REFUSED;
	return emu_wire_receive_mad && emu_wire_receive_mad(&m) ? WIRE_ACCEPTED
								: WIRE_DROP_NO_RECEIVE;
}

static enum wire_drop take(const struct emu_func *f, const struct wire_path *path,
			   const uint8_t *bytes, size_t len)
{
	struct wire_packet p = {0};
	enum wire_drop drop = check_length(len);

	if (drop == WIRE_ACCEPTED && !wire_icrc_is_right(path, bytes, len)) {
		emu_counter_add(f, EMU_COUNTER_rx_icrc_encapsulated, 1);
		drop = WIRE_DROP_ICRC;
	}
	if (drop == WIRE_ACCEPTED)
		drop = wire_parse(bytes, len, &p);
	if (drop == WIRE_ACCEPTED)
		drop = check_packet(f, &p);
	return drop == WIRE_ACCEPTED ? deliver(f, path, &p) : drop;
}

static void show_arrival(const struct emu_func *f, const struct wire_path *path,
			 const uint8_t *bytes, size_t len, enum wire_drop drop)
{
	struct emu_wire_seen_packet s = {.func = f, .path = *path, .bytes = bytes, .len = len};

	s.drop = drop;
	if (len > WIRE_MAX_PACKET)
		s.len = WIRE_MAX_PACKET;
	else
		wire_icrc_reveal(&s.path, bytes, len);
	emu_wire_on_packet(&s);
}

void emu_wire_ready(struct emu_watch *w)
{
	const struct emu_wire_sockets *s = (const struct emu_wire_sockets *)w;
	struct emu_wire_counts *c = &counts[s->index];
	struct wire_path path = {.hop_limit = HOP_LIMIT, .id_unknown = true};
	const struct emu_func *f = emu_endpoint_func(s->index);
	uint8_t bytes[WIRE_MAX_PACKET + 1];
	enum wire_drop drop;
	ssize_t n;

	memcpy(path.dst, emu_endpoint_addr(s->index), sizeof(path.dst));
	for (int i = 0; i < BATCH; i++) {
		n = emu_udp_receive(w->fd, &path, bytes, sizeof(bytes));
		if (n < 0)
			return;
		c->received++;
		drop = take(f, &path, bytes, (size_t)n);
		c->dropped[drop]++;
		if (emu_wire_on_packet)
			show_arrival(f, &path, bytes, (size_t)n, drop);
	}
}

/* Room for a management datagram as it is on a network. */
struct mad_packet {
	uint8_t bytes[WIRE_MAX_HEADERS + WIRE_MAD_BYTES + WIRE_ICRC];
	size_t len;
};

static void build(const struct wire_path *path, uint16_t pkey, const uint8_t mad[256],
		  struct mad_packet *out)
{
	static uint32_t psn;

	out->len = wire_mad_build(mad, pkey, psn++ & 0xffffffu, out->bytes);
	out->len = wire_seal(path, out->bytes, out->len);
}

void emu_wire_show_mad(const struct emu_wire_mad *m, const struct emu_func *from)
{
	struct emu_wire_seen_packet s = {
		.func = from,
		.peer = m->to,
		.path = {.tclass = m->tclass,
			 .hop_limit = HOP_LIMIT,
			 .sport = wire_path_sport(0, WIRE_MAD_QPN, WIRE_MAD_QPN),
			 .dport = WIRE_PORT},
		.sent = true,
	};
	struct mad_packet p;

	if (!emu_wire_on_packet)
		return;
	memcpy(s.path.src, m->src, sizeof(s.path.src));
	memcpy(s.path.dst, m->dst, sizeof(s.path.dst));
	build(&s.path, m->pkey, m->bytes, &p);
	s.bytes = p.bytes;
	s.len = p.len;
	emu_wire_on_packet(&s);
}

void emu_wire_send_mad(const struct emu_route *r, uint16_t pkey, const uint8_t mad[256])
{
	const struct emu_wire_sockets *s = emu_wire_sockets_of((int)r->endpoint);
	struct emu_wire_seen_packet seen = {.sent = true};
	struct mad_packet p;
	struct wire_path path = {
		.tclass = r->tclass,
		.hop_limit = r->hop_limit,
		.flow_label = r->flow_label,
		.dport = WIRE_PORT,
	};
	unsigned int i = wire_path_sport(r->flow_label, WIRE_MAD_QPN, WIRE_MAD_QPN);

	if (!s)
		return;
	i %= EMU_WIRE_PORTS;
	path.sport = s->port[i];
	memcpy(path.src, emu_endpoint_addr((int)r->endpoint), sizeof(path.src));
	memcpy(path.dst, r->dst, sizeof(path.dst));
	build(&path, pkey, mad, &p);
	emu_udp_send(s->sender[i], &path, p.bytes, p.len);
	if (!emu_wire_on_packet)
		return;
	seen.func = emu_endpoint_func((int)r->endpoint);
	seen.path = path;
	seen.bytes = p.bytes;
	seen.len = p.len;
	emu_wire_on_packet(&seen);
}
