/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/cm/link.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>

#include "base/clock.h"
#include "emu/server/base/timer.h"
#include "emu/server/card/counters.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/path.h"
#include "emu/server/card/pkey.h"
#include "emu/server/card/topology.h"
#include "emu/server/wire/mad.h"

#define HOP_LIMIT 64u
#define LIFE_TIME 16u /* the kernel's CMA_IBOE_PACKET_LIFETIME */
#define ECN	  3u  /* the bits of the traffic class that routers set */

struct endpoint {
	struct emu_timer timer; /* the next deadline of the CM */
	struct emu_cm *cm;
	char role[16];
	const struct emu_cm_ops *upper;
	void *ctx;
	SLIST_ENTRY(endpoint) link;
};

struct message {
	struct emu_cm_path path; /* the sender's */
	uint8_t mad[EMU_MAD_BYTES];
	STAILQ_ENTRY(message) link;
};

static SLIST_HEAD(endpoints, endpoint) endpoints = SLIST_HEAD_INITIALIZER(endpoints);
static STAILQ_HEAD(messages, message) queue = STAILQ_HEAD_INITIALIZER(queue);

static void deliver_all(struct emu_timer *t);

static struct emu_timer delivery = {.expired = deliver_all};

static struct endpoint *find(const char *role)
{
	struct endpoint *e;

	SLIST_FOREACH(e, &endpoints, link)
	if (!strcmp(e->role, role))
		return e;
	return NULL;
}

static bool is_alive(const struct emu_func *f)
{
	return f && !f->dead;
}

/* A packet has the P_Key of its port's entry for the partition of the path. */
static bool passes(const struct emu_func *from, const struct emu_func *to, uint16_t pkey)
{
	int index = emu_pkey_find(from, pkey);

	if (index < 0)
		return false;
	if (emu_pkey_admits(to, from->pkey[index]))
		return true;
	emu_counter_add(to, EMU_COUNTER_bad_pkey_cntr, 1);
	return false;
}

/* --- to and from networks --------------------------------------------------------------------- */

/* Does the message leave by an endpoint, with the GIDs that it names? */
static bool leaves(const struct message *m, struct emu_route *r)
{
	const struct emu_func *from = m->path.port;
	int index = emu_gid_find(from, m->path.sgid, EMU_GID_ROCE_V2, EMU_NO_VLAN);
	struct emu_address a = {
		.sgid_index = (uint8_t)index,
		.tclass = m->path.traffic_class,
		.hop_limit = m->path.hop_limit,
		.flow_label = m->path.flow_label,
	};

	memcpy(a.dgid, m->path.dgid, sizeof(a.dgid));
	return index >= 0 && emu_path_destination(from, &a, r) == EMU_ON_WIRE &&
	       !memcmp(r->dst, m->path.dgid, sizeof(r->dst)) &&
	       !memcmp(emu_endpoint_addr((int)r->endpoint), m->path.sgid, sizeof(m->path.sgid));
}

static void send_datagram(const struct message *m, const struct emu_route *r)
{
	const struct emu_func *from = m->path.port;
	int index = emu_pkey_find(from, m->path.pkey);

	if (index >= 0)
		emu_wire_send_mad(r, from->pkey[index], m->mad);
}

/* What the message says of the path replaces these defaults. */
static bool receive_datagram(const struct emu_wire_mad *m)
{
	const struct endpoint *e = find(m->to->role);
	struct emu_cm_path path = {
		.port = m->to,
		.pkey = m->pkey,
		.mtu = emu_port_mtu(m->to),
		.traffic_class = m->tclass & (uint8_t)~ECN,
		.hop_limit = HOP_LIMIT,
		.packet_life_time = LIFE_TIME,
	};

	if (!e)
		return false;
	path.sl = path.traffic_class >> 5;
	memcpy(path.sgid, m->dst, sizeof(path.sgid));
	memcpy(path.dgid, m->src, sizeof(path.dgid));
	emu_cm_receive(e->cm, &path, m->bytes);
	return true;
}

static bool is_on_network(const char *role)
{
	const struct emu_func *f = emu_topology.func, *end = f + emu_topology.nfuncs;

	for (; f < end; f++)
		if (!strcmp(f->role, role) && emu_endpoint_find(f, NULL) != EMU_NO_ENDPOINT)
			return true;
	return false;
}

static void begin_network(const struct endpoint *e)
{
	uint32_t random = 0;

	if (!is_on_network(e->role))
		return;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) == sizeof(random))
		emu_cm_number_from(e->cm, random);
	emu_wire_receive_mad = receive_datagram;
}

/* --- between the machines --------------------------------------------------------------------- */

/* To those who capture packets. */
static void show(const struct message *m, const struct emu_func *to)
{
	struct emu_wire_mad seen = {
		.to = to,
		.tclass = m->path.traffic_class,
		.pkey = m->path.pkey,
		.bytes = m->mad,
	};

	memcpy(seen.src, m->path.sgid, sizeof(seen.src));
	memcpy(seen.dst, m->path.dgid, sizeof(seen.dst));
	emu_wire_show_mad(&seen, m->path.port);
}

/* At delivery, not when it is sent: what happened in between counts. */
static void deliver(const struct message *m)
{
	const struct emu_func *from = m->path.port, *to = emu_func_by_gid(m->path.dgid);
	struct emu_cm_path path = m->path;
	const struct endpoint *e;
	struct emu_route r;
	bool wire;

	if (!is_alive(from) || emu_func_by_gid(m->path.sgid) != from)
		return;
	wire = leaves(m, &r);
	if (to && (!is_alive(to) || !emu_path_is_open(from, to)))
		return;
	if (wire)
		send_datagram(m, &r);
	if (wire || !to)
		return;
	e = find(to->role);
	if (!e || !passes(from, to, m->path.pkey))
		return;
	path.port = to;
	memcpy(path.sgid, m->path.dgid, sizeof(path.sgid));
	memcpy(path.dgid, m->path.sgid, sizeof(path.dgid));
	show(m, to);
	emu_cm_receive(e->cm, &path, m->mad);
}

/* Answers that are sent meanwhile are delivered at the next turn. */
static void deliver_all(struct emu_timer *t)
{
	struct messages batch = STAILQ_HEAD_INITIALIZER(batch);
	struct message *m;

	(void)t;
	STAILQ_CONCAT(&batch, &queue);
	while ((m = STAILQ_FIRST(&batch))) {
		STAILQ_REMOVE_HEAD(&batch, link);
		deliver(m);
		free(m);
	}
}

static void send_message(void *ctx, const struct emu_cm_path *path,
			 const uint8_t mad[EMU_MAD_BYTES])
{
	struct message *m = malloc(sizeof(*m));

	(void)ctx;
	if (!m)
		return; /* lost, as on a fabric without buffers */
	m->path = *path;
	memcpy(m->mad, mad, EMU_MAD_BYTES);
	STAILQ_INSERT_TAIL(&queue, m, link);
	if (!delivery.set)
		emu_timer_set(&delivery, monotonic_ms());
}

static uint64_t now(void *ctx)
{
	(void)ctx;
	return monotonic_ms();
}

static void wake(void *ctx, uint64_t when)
{
	emu_timer_set(&((struct endpoint *)ctx)->timer, when);
}

static void expire(struct emu_timer *t)
{
	emu_cm_expire(((struct endpoint *)t)->cm);
}

static bool listens(void *ctx, const struct emu_cm_path *path, uint64_t service_id)
{
	const struct endpoint *e = ctx;

	return e->upper->listens(e->ctx, path, service_id);
}

static int event(void *ctx, struct emu_cm_conn *c, const struct emu_cm_event *ev)
{
	const struct endpoint *e = ctx;

	return e->upper->event(e->ctx, c, ev);
}

static uint64_t guid(void *ctx, const struct emu_func *port)
{
	const struct endpoint *e = ctx;

	return e->upper->guid(e->ctx, port);
}

struct emu_cm *emu_cm_link_create(const char *role, const struct emu_cm_ops *ops, void *ctx)
{
	static const struct emu_cm_ops own = {
		.send = send_message,
		.now = now,
		.wake = wake,
		.listens = listens,
		.event = event,
		.guid = guid,
	};
	struct endpoint *e;

	if (find(role) || strlen(role) >= sizeof(e->role))
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->cm = emu_cm_new(&own, e);
	if (!e->cm) {
		free(e);
		return NULL;
	}
	memcpy(e->role, role, strlen(role) + 1);
	e->upper = ops;
	e->ctx = ctx;
	e->timer.expired = expire;
	begin_network(e);
	SLIST_INSERT_HEAD(&endpoints, e, link);
	return e->cm;
}
