/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/commands.h"

#include "emu/prm/prm_general.h"
#include "emu/server/card/topology.h"

#define ISSI	   1u /* of all devices of the family since Connect-IB */
#define STATE_DOWN 0u
#define STATE_UP   1u

static int check(struct emu_mbox *m, size_t out_len)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_GENERAL_IN);

	if (m->op_mod)
		return emu_refuse(m, EMU_CMD_SYN_QUERY_OP_MOD);
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_QUERY_RESERVED);
	return m->out_len < out_len ? emu_refuse(m, EMU_CMD_SYN_QUERY_OUT_LEN) : 0;
}

int emu_devx_query_lag(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	(void)c;
	(void)o;
	return check(m, EMU_QUERY_LAG_OUT_BYTES);
}

int emu_devx_query_issi(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	int err = check(m, EMU_QUERY_ISSI_OUT_BYTES);

	(void)c;
	(void)o;
	if (err)
		return err;
	emu_prm_set(m->out, EMU_QUERY_ISSI_OUT_CURRENT_ISSI, ISSI);
	emu_prm_set(m->out, EMU_QUERY_ISSI_OUT_SUPPORTED_DW0, 1u << ISSI);
	return 0;
}

int emu_devx_query_vport_state(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	int err = check(m, EMU_QUERY_VPORT_STATE_OUT_BYTES);

	(void)o;
	if (err)
		return err;
	emu_prm_set(m->out, EMU_QUERY_VPORT_STATE_OUT_ADMIN_STATE, STATE_UP);
	emu_prm_set(m->out, EMU_QUERY_VPORT_STATE_OUT_STATE,
		    c->file->func->port_down ? STATE_DOWN : STATE_UP);
	return 0;
}

int emu_devx_nop(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	(void)c;
	(void)o;
	return check(m, EMU_CMD_OUT_BYTES);
}
