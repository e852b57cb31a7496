/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Multicast groups of a function's driver. */
#include <errno.h>

#include "emu/prm/prm_qp.h"
#include "emu/server/card/groups.h"
#include "emu/server/card/segments.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/firmware/queue.h"

static int refuse(struct emu_mbox *m, int err)
{
	if (!err)
		return 0;
	return emu_refuse(m, err == -ENOMEM ? EMU_CMD_SYN_MCG_LIMIT : EMU_CMD_SYN_MCG_GROUP);
}

int emu_driver_change_group(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_MCG_IN);
	struct emu_devx_qp *qp = (struct emu_devx_qp *)o;
	const struct emu_groups_of of = {c->file->func, qp->qpn, &qp->groups};
	const uint8_t *gid = emu_prm_at_const(m->in, EMU_MCG_IN_MULTICAST_GID);
	int err = emu_driver_check(m, EMU_MCG_IN_BYTES, EMU_CMD_OUT_BYTES);

	if (err)
		return err;
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_MCG_RESERVED);
	if (emu_queues->qp[qp->qpn].type != EMU_QPT_UD)
		return emu_refuse(m, EMU_CMD_SYN_MCG_QP);
	return refuse(m, m->opcode == EMU_CMD_ATTACH_TO_MCG ? emu_group_attach(&of, gid)
							    : emu_group_detach(&of, gid));
}
