/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* INVOKE_WRITE: the legacy write() commands, carried by the ioctl. */
#include <errno.h>

#include "cmd.h"

#define EX(n) (0x80000000u | (n))

static const struct {
	uint32_t command;
	uint16_t in, out; /* least sizes of the core structs */
	int (*handler)(struct emu_cmd *c);
} commands[] = {
	{IB_USER_VERBS_CMD_QUERY_DEVICE, 8, sizeof(struct ib_uverbs_query_device_resp),
	 emu_write_query_device},
	{EX(IB_USER_VERBS_CMD_QUERY_DEVICE), 8, 8, emu_write_query_device_ex},
	{IB_USER_VERBS_CMD_ALLOC_PD, 8, sizeof(struct ib_uverbs_alloc_pd_resp), emu_write_alloc_pd},
	{IB_USER_VERBS_CMD_REG_MR, sizeof(struct ib_uverbs_reg_mr),
	 sizeof(struct ib_uverbs_reg_mr_resp), emu_write_reg_mr},
	{IB_USER_VERBS_CMD_REREG_MR, sizeof(struct ib_uverbs_rereg_mr),
	 sizeof(struct ib_uverbs_rereg_mr_resp), emu_write_rereg_mr},
	{IB_USER_VERBS_CMD_ALLOC_MW, sizeof(struct ib_uverbs_alloc_mw),
	 sizeof(struct ib_uverbs_alloc_mw_resp), emu_write_alloc_mw},
	{IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, 8,
	 sizeof(struct ib_uverbs_create_comp_channel_resp), emu_write_comp_channel},
	{IB_USER_VERBS_CMD_MODIFY_QP, sizeof(struct ib_uverbs_modify_qp), 0, emu_write_modify_qp},
	{IB_USER_VERBS_CMD_QUERY_QP, sizeof(struct ib_uverbs_query_qp),
	 sizeof(struct ib_uverbs_query_qp_resp), emu_write_query_qp},
	{IB_USER_VERBS_CMD_MODIFY_SRQ, sizeof(struct ib_uverbs_modify_srq), 0,
	 emu_write_modify_srq},
	{IB_USER_VERBS_CMD_QUERY_SRQ, sizeof(struct ib_uverbs_query_srq),
	 sizeof(struct ib_uverbs_query_srq_resp), emu_write_query_srq},
	{IB_USER_VERBS_CMD_OPEN_XRCD, sizeof(struct ib_uverbs_open_xrcd),
	 sizeof(struct ib_uverbs_open_xrcd_resp), emu_write_open_xrcd},
	{IB_USER_VERBS_CMD_OPEN_QP, sizeof(struct ib_uverbs_open_qp),
	 sizeof(struct ib_uverbs_create_qp_resp), emu_write_open_qp},
	{IB_USER_VERBS_CMD_CREATE_AH, sizeof(struct ib_uverbs_create_ah),
	 sizeof(struct ib_uverbs_create_ah_resp), emu_write_create_ah},
	{IB_USER_VERBS_CMD_RESIZE_CQ, sizeof(struct ib_uverbs_resize_cq), 4, emu_write_resize_cq},
	{EX(IB_USER_VERBS_EX_CMD_MODIFY_CQ), sizeof(struct ib_uverbs_ex_modify_cq), 0,
	 emu_write_modify_cq},
};

/*
 * The library's probe is a command without buffers: "no room for the answer" tells it that write
 * commands work this way.
 */
int emu_invoke_write(struct emu_cmd *c)
{
	uint32_t command = (uint32_t)emu_attr_u64(c, UVERBS_ATTR_WRITE_CMD, 0);
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].command != command)
			continue;
		if (emu_attr_len(c, UVERBS_ATTR_CORE_IN) < commands[i].in ||
		    emu_attr_len(c, UVERBS_ATTR_CORE_OUT) < commands[i].out)
			return -ENOSPC;
		return c->file->has_context ? commands[i].handler(c) : -EINVAL;
	}
	return -EOPNOTSUPP;
}
