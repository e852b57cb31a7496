/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/path.h"

#include <string.h>

#include "emu/ipc/gid.h"
#include "emu/ipc/group.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/segments.h"

/* What the kernel takes from its route in place of the hop limit of an address (ib_resolve_unicast_gid_dmac()). */
#define HOP_LIMIT 64u

/* By partitions; a port that is down is cut off as well. */
static uint32_t cuts[EMU_MAX_FUNCS];

bool emu_path_is_cut(const struct emu_func *from, const struct emu_func *to)
{
	return cuts[from->index] & 1u << to->index;
}

static bool is_open(const struct emu_func *from, const struct emu_func *to)
{
	return from == to || (!from->port_down && !to->port_down && !emu_path_is_cut(from, to));
}

bool emu_path_is_open(const struct emu_func *from, const struct emu_func *to)
{
	return is_open(from, to);
}

/* For engines, which resolve the addresses of datagrams. */
static void publish_cuts(const struct emu_func *from)
{
	uint32_t cut = 0;

	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (!is_open(from, &emu_topology.func[i]))
			cut |= 1u << i;
	atomic_store(&emu_tables->port[from->index].cut, cut);
}

/* The function that has the GID with the version and VLAN of the sender's, if packets arrive there. */
static const struct emu_func *find_func(const struct emu_func *from, const struct emu_gid *g,
					const uint8_t dgid[16])
{
	const struct emu_func *to = emu_topology.func, *end = to + emu_topology.nfuncs;

	for (; to < end; to++)
		if (is_open(from, to) && emu_gid_find(to, dgid, g->type, g->vlan) >= 0)
			return to;
	return NULL;
}

/* --- the wire --------------------------------------------------------------------------------- */

static int endpoint_of(const struct emu_func *f, const struct emu_gid *g)
{
	return g->type == EMU_GID_ROCE_V2 && g->vlan == EMU_NO_VLAN ? emu_endpoint_find(f, g->raw)
								    : EMU_NO_ENDPOINT;
}

static void begin_route(struct emu_route *r, int endpoint, const uint8_t dst[16],
			const struct emu_address *a)
{
	memset(r, 0, sizeof(*r));
	r->endpoint = (uint32_t)endpoint;
	memcpy(r->dst, dst, sizeof(r->dst));
	r->tclass = a->tclass;
	r->hop_limit = a->hop_limit > 1 ? a->hop_limit : HOP_LIMIT;
	r->flow_label = a->flow_label;
}

/* Between two functions of this emulator: by their endpoints, whatever GIDs the queue pair uses. */
static bool route_between(const struct emu_func *from, const struct emu_func *to,
			  const struct emu_gid *g, const struct emu_address *a, struct emu_route *r)
{
	int own = endpoint_of(from, g), peer = emu_endpoint_find(to, a->dgid);
	bool ipv4;

	if (!emu_tables->wire_forced || from->port_down)
		return false;
	if (peer == EMU_NO_ENDPOINT && own != EMU_NO_ENDPOINT)
		peer = emu_endpoint_of_family(to, emu_gid_is_ipv4(emu_endpoint_addr(own)));
	if (peer == EMU_NO_ENDPOINT)
		peer = emu_endpoint_find(to, NULL);
	if (peer == EMU_NO_ENDPOINT)
		return false;
	ipv4 = emu_gid_is_ipv4(emu_endpoint_addr(peer));
	if (own == EMU_NO_ENDPOINT || emu_gid_is_ipv4(emu_endpoint_addr(own)) != ipv4)
		own = emu_endpoint_of_family(from, ipv4);
	if (own == EMU_NO_ENDPOINT)
		return false;
	begin_route(r, own, emu_endpoint_addr(peer), a);
	return true;
}

/* To a peer outside this emulator. */
static bool route_outside(const struct emu_func *from, const struct emu_gid *g,
			  const struct emu_address *a, struct emu_route *r)
{
	int own = endpoint_of(from, g);

	if (own == EMU_NO_ENDPOINT || emu_endpoint_is_internal(own) || from->port_down ||
	    emu_gid_is_group(a->dgid) || emu_gid_is_ipv4(a->dgid) != emu_gid_is_ipv4(g->raw) ||
	    emu_func_by_gid(a->dgid))
		return false;
	begin_route(r, own, a->dgid, a);
	return true;
}

uint32_t emu_path_destination(const struct emu_func *from, const struct emu_address *a,
			      struct emu_route *r)
{
	const struct emu_gid *g = emu_gid_at(from, a->sgid_index);
	const struct emu_func *to = g ? find_func(from, g, a->dgid) : NULL;

	if (to)
		return route_between(from, to, g, a, r) ? EMU_ON_WIRE : to->index;
	return g && route_outside(from, g, a, r) ? EMU_ON_WIRE : EMU_NOWHERE;
}

/* --- queue pairs ------------------------------------------------------------------------------ */

/* The addresses of queue pairs by number. Clients can write to the shared table, not to this one. */
static struct path {
	const struct emu_func *from; /* NULL: it has no address */
	struct emu_address to;
} paths[EMU_MAX_QPS];

static bool is_same(const struct emu_route *a, const struct emu_route *b)
{
	return a->endpoint == b->endpoint && a->flow_label == b->flow_label &&
	       a->tclass == b->tclass && a->hop_limit == b->hop_limit &&
	       !memcmp(a->dst, b->dst, sizeof(a->dst));
}

/* An engine that reads the route must not see a mixture of two. */
static void change_route(struct emu_qp *q, const struct emu_route *r)
{
	if (is_same(&q->route, r))
		return;
	if (atomic_load(&q->dest_func) == EMU_ON_WIRE) {
		atomic_store(&q->dest_func, EMU_NOWHERE);
		emu_grace();
	}
	q->route = *r;
}

/*
 * Within the emulator a target receives into SRQs of all processes that share its domain; on the wire, its engine
 * alone gets the packets.
 */
static bool is_xrc(const struct emu_qp *q)
{
	return q->type == EMU_QPT_XRC_INI || q->type == EMU_QPT_XRC_TGT;
}

static void resolve(uint32_t qpn)
{
	const struct path *p = &paths[qpn];
	struct emu_qp *q = &emu_queues->qp[qpn];
	uint32_t to = EMU_NOWHERE;
	struct emu_route r;

	if (p->from)
		to = emu_path_destination(p->from, &p->to, &r);
	if (to == EMU_ON_WIRE && is_xrc(q) && emu_func_by_gid(p->to.dgid))
		to = emu_func_by_gid(p->to.dgid)->index;
	if (to == EMU_ON_WIRE)
		change_route(q, &r);
	atomic_store(&q->dest_func, to);
}

void emu_paths_refresh(void)
{
	for (uint32_t i = 0; i < emu_topology.nfuncs; i++) {
		publish_cuts(&emu_topology.func[i]);
		emu_endpoint_set_down(&emu_topology.func[i]);
	}
	for (uint32_t i = 0; i < EMU_MAX_QPS; i++)
		if (paths[i].from)
			resolve(i);
}

void emu_path_cut(const struct emu_func *from, const struct emu_func *to, bool cut)
{
	if (cut)
		cuts[from->index] |= 1u << to->index;
	else
		cuts[from->index] &= ~(1u << to->index);
	emu_paths_refresh();
}

void emu_path_set(const struct emu_func *f, struct emu_qp *q, const struct emu_address *to)
{
	const uint32_t qpn = (uint32_t)(q - emu_queues->qp);
	struct path *p = &paths[qpn];

	emu_path_clear(q);
	if (emu_gid_hold(f, to->sgid_index))
		return;
	p->from = f;
	p->to = *to;
	resolve(qpn);
}

void emu_path_clear(struct emu_qp *q)
{
	const uint32_t qpn = (uint32_t)(q - emu_queues->qp);
	struct path *p = &paths[qpn];

	if (p->from)
		emu_gid_release(p->from, p->to.sgid_index);
	p->from = NULL;
	resolve(qpn);
}
