/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/mcast.h"

#include <string.h>

#include "emu/engine/state.h"
#include "emu/ipc/group.h"

static bool is_member(const struct emu_member *m, const uint8_t gid[16])
{
	return atomic_load(&m->serial) && m->qpn < EMU_MAX_QPS &&
	       !memcmp(m->gid, gid, sizeof(m->gid));
}

uint32_t emu_mcast_next(const struct engine *e, const struct emu_qp *q, const uint8_t gid[16],
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

struct emu_qp *emu_mcast_peer(const struct engine *e, const uint8_t gid[16], uint32_t member)
{
	struct emu_queues *queues = e->cfg.queues;
	const struct emu_member *m = &queues->member[member];

	if (!member || member >= EMU_MAX_MEMBERS || !is_member(m, gid))
		return NULL;
	return &queues->qp[m->qpn];
}
