/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Flow counters: what rules of flow steering count into. There is no flow steering, so no rule ever
 * refers to one, and all of them stay at 0.
 */
#include <errno.h>

#include "devx.h"

#define QUERY_IN_BYTES	0x20u
#define QUERY_OUT_BYTES 0x20u /* packets and octets, 8 bytes each, after the header */

int emu_devx_alloc_counter(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	/* flow_counter_bulk and its logarithm: bulks are not announced */
	static const struct emu_prm_range reserved[] = {{0x40, 64}};
	static uint32_t last_id;

	(void)c;
	if (m->op_mod)
		return emu_refuse(m, EMU_STATUS_BAD_OP, 0xa0);
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0xa1);
	if (o->file->func->count.flow_counters > EMU_MAX_FLOW_COUNTERS)
		return emu_refuse(m, EMU_STATUS_LIM, 0xa2);
	if (!++last_id) /* the kernel takes 0 for no number */
		last_id = 1;
	((struct emu_devx *)o)->index = last_id;
	emu_prm_set(m->out, EMU_PRM_BYTE(8), 32, last_id);
	return 0;
}

int emu_devx_query_counter(const struct emu_devx *d, struct emu_mbox *m)
{
	/* all but `clear`, num_of_counters and the number; no dump to memory */
	static const struct emu_prm_range reserved[] = {{0x40, 128}, {0xc1, 15}};

	if (m->in_len < QUERY_IN_BYTES || emu_prm_get(m->in, 0xe0, 32) != d->index)
		return -EINVAL; /* the kernel compares it with the handle's */
	if (m->op_mod)
		return emu_refuse(m, EMU_STATUS_BAD_OP, 0xa3);
	if (!EMU_PRM_IS_ZERO(m->in, reserved) || emu_prm_get(m->in, 0xd0, 16) > 1)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0xa4);
	if (m->out_len < QUERY_OUT_BYTES)
		return emu_refuse(m, EMU_STATUS_BAD_OUTP_LEN, 0xa5);
	return 0;
}

int emu_devx_counter_undo(struct emu_uobj *o)
{
	(void)o;
	return 0;
}
