/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/path.h"

#include <string.h>

#include "emu/server/card/gid.h"
#include "emu/server/card/segments.h"

/* By partitions; a port that is down is cut off as well. */
static uint32_t cuts[EMU_MAX_FUNCS];

static bool is_open(const struct emu_func *from, const struct emu_func *to)
{
	return from == to ||
	       (!from->port_down && !to->port_down && !(cuts[from->index] & 1u << to->index));
}

bool emu_path_is_open(const struct emu_func *from, const struct emu_func *to)
{
	return is_open(from, to);
}

/* For engines, which resolve the addresses of datagrams. */
static void publish_cuts(const struct emu_func *from)
{
	uint32_t cut = 0;
	unsigned int i;

	for (i = 0; i < emu_topology.nfuncs; i++)
		if (!is_open(from, &emu_topology.func[i]))
			cut |= 1u << i;
	atomic_store(&emu_tables->port[from->index].cut, cut);
}

const struct emu_func *emu_path_lead(const struct emu_func *from, unsigned int sgid_index,
				     const uint8_t dgid[16])
{
	const struct emu_gid *g = emu_gid_at(from, sgid_index);
	const struct emu_func *to = emu_topology.func, *end = to + emu_topology.nfuncs;

	for (; g && to < end; to++)
		if (is_open(from, to) && emu_gid_find(to, dgid, g->type, g->vlan) >= 0)
			return to;
	return NULL;
}

/* The addresses of queue pairs by number. Clients can write to the shared table, not to this one. */
static struct path {
	const struct emu_func *from; /* NULL: it has no address */
	uint8_t sgid_index;
	uint8_t dgid[16];
} paths[EMU_MAX_QPS];

static void resolve(uint32_t qpn)
{
	const struct path *p = &paths[qpn];
	const struct emu_func *to = NULL;

	if (p->from)
		to = emu_path_lead(p->from, p->sgid_index, p->dgid);
	atomic_store(&emu_queues->qp[qpn].dest_func, to ? to->index : EMU_NOWHERE);
}

void emu_paths_refresh(void)
{
	uint32_t i;

	for (i = 0; i < emu_topology.nfuncs; i++)
		publish_cuts(&emu_topology.func[i]);
	for (i = 0; i < EMU_MAX_QPS; i++)
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

void emu_path_set(const struct emu_func *f, struct emu_qp *q, unsigned int sgid_index,
		  const uint8_t dgid[16])
{
	const uint32_t qpn = (uint32_t)(q - emu_queues->qp);
	struct path *p = &paths[qpn];

	emu_path_clear(q);
	if (emu_gid_hold(f, sgid_index))
		return;
	p->from = f;
	p->sgid_index = (uint8_t)sgid_index;
	memcpy(p->dgid, dgid, sizeof(p->dgid));
	resolve(qpn);
}

void emu_path_clear(struct emu_qp *q)
{
	const uint32_t qpn = (uint32_t)(q - emu_queues->qp);
	struct path *p = &paths[qpn];

	if (p->from)
		emu_gid_release(p->from, p->sgid_index);
	p->from = NULL;
	resolve(qpn);
}
