/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The rules are those of ib_uverbs_attach_mcast() and ib_attach_mcast(). On Ethernet the multicast LID
 * has no meaning and is ignored, as there (is_valid_mcast_lid).
 */
#include "emu/server/uverbs/handlers.h"

#include <errno.h>

#include "emu/ipc/group.h"
#include "emu/server/card/groups.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/qp.h"

static int get(struct emu_cmd *c, struct ib_uverbs_attach_mcast *req, struct emu_qp_obj **qp)
{
	int err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, req, sizeof(*req));

	if (err)
		return err;
	return emu_cmd_obj(c, req->qp_handle, EMU_T_QP, qp);
}

static struct emu_groups_of groups_of(struct emu_qp_obj *qp)
{
	return (struct emu_groups_of){qp->obj.file->func, qp->qpn, &qp->groups};
}

int emu_write_attach_mcast(struct emu_cmd *c)
{
	struct ib_uverbs_attach_mcast req;
	struct emu_groups_of of;
	struct emu_qp_obj *qp;
	int err = get(c, &req, &qp);

	if (err)
		return err;
	if (qp->type != EMU_QPT_UD)
		return -EINVAL;
	of = groups_of(qp);
	return emu_group_attach(&of, req.gid);
}

_Static_assert(sizeof(struct ib_uverbs_attach_mcast) == sizeof(struct ib_uverbs_detach_mcast),
	       "both commands have the same fields");

int emu_write_detach_mcast(struct emu_cmd *c)
{
	struct ib_uverbs_attach_mcast req;
	struct emu_groups_of of;
	struct emu_qp_obj *qp;
	int err = get(c, &req, &qp);

	if (err)
		return err;
	of = groups_of(qp);
	return emu_group_detach(&of, req.gid);
}

void emu_mcast_leave(struct emu_qp_obj *qp)
{
	const struct emu_groups_of of = groups_of(qp);

	emu_group_leave(&of);
}
