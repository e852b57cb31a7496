/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/commands.h"

#include <errno.h>

#include "emu/prm/prm_counter.h"

int emu_devx_alloc_counter(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_ALLOC_COUNTER_IN);
	static uint32_t last_id;

	(void)c;
	if (m->op_mod)
		return emu_refuse(m, EMU_CMD_SYN_COUNTER_OP_MOD);
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_COUNTER_RESERVED);
	if (o->file->func->count.flow_counters > EMU_MAX_FLOW_COUNTERS)
		return emu_refuse(m, EMU_CMD_SYN_COUNTER_LIMIT);
	if (!++last_id) /* 0 is not a valid number to the kernel */
		last_id = 1;
	((struct emu_devx_counter *)o)->id = last_id;
	emu_prm_set(m->out, EMU_ALLOC_COUNTER_OUT_FLOW_COUNTER_ID, last_id);
	return 0;
}

int emu_devx_query_counter(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const struct emu_devx_counter *d = (const struct emu_devx_counter *)o;
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_QUERY_COUNTER_IN);

	(void)c;
	if (m->in_len < EMU_QUERY_COUNTER_IN_BYTES ||
	    emu_prm_get(m->in, EMU_QUERY_COUNTER_IN_FLOW_COUNTER_ID) != d->id)
		return -EINVAL; /* the kernel compares it with the handle's */
	if (m->op_mod)
		return emu_refuse(m, EMU_CMD_SYN_QUERY_COUNTER_OP_MOD);
	if (!EMU_PRM_IS_ZERO(m->in, reserved) ||
	    emu_prm_get(m->in, EMU_QUERY_COUNTER_IN_NUM_OF_COUNTERS) > 1)
		return emu_refuse(m, EMU_CMD_SYN_QUERY_COUNTER_RESERVED);
	if (m->out_len < EMU_QUERY_COUNTER_OUT_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_QUERY_COUNTER_OUT_LEN);
	return 0;
}
