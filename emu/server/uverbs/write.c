/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/handlers.h"

#include <errno.h>

#include "emu/server/uverbs/ah.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/events.h"
#include "emu/server/uverbs/mr.h"
#include "emu/server/uverbs/mw.h"
#include "emu/server/uverbs/pd.h"
#include "emu/server/uverbs/qp_modify.h"
#include "emu/server/uverbs/srq.h"
#include "emu/server/uverbs/xrc.h"

#define EX(n) (0x80000000u | (n))

static const struct emu_field alloc_pd_fields[] = {
	EMU_CORE_OUT(ib_uverbs_alloc_pd_resp, pd_handle, EMU_DECIMAL),
	EMU_FIELDS_END,
};

static const struct emu_field reg_mr_fields[] = {
	EMU_CORE_IN(ib_uverbs_reg_mr, pd_handle, EMU_DECIMAL),
	EMU_CORE_IN(ib_uverbs_reg_mr, start, EMU_ADDRESS),
	EMU_CORE_IN(ib_uverbs_reg_mr, length, EMU_DECIMAL),
	EMU_CORE_IN(ib_uverbs_reg_mr, access_flags, EMU_ACCESS),
	EMU_CORE_OUT(ib_uverbs_reg_mr_resp, mr_handle, EMU_DECIMAL),
	EMU_CORE_OUT(ib_uverbs_reg_mr_resp, lkey, EMU_HEX),
	EMU_FIELDS_END,
};

static const struct emu_field rereg_mr_fields[] = {
	EMU_CORE_IN(ib_uverbs_rereg_mr, mr_handle, EMU_DECIMAL),
	EMU_CORE_IN(ib_uverbs_rereg_mr, flags, EMU_HEX),
	EMU_CORE_IN(ib_uverbs_rereg_mr, length, EMU_DECIMAL),
	EMU_CORE_IN(ib_uverbs_rereg_mr, access_flags, EMU_ACCESS),
	EMU_CORE_OUT(ib_uverbs_rereg_mr_resp, lkey, EMU_HEX),
	EMU_FIELDS_END,
};

static const struct emu_field modify_qp_fields[] = {
	EMU_CORE_IN(ib_uverbs_modify_qp, qp_handle, EMU_DECIMAL),
	EMU_CORE_IN(ib_uverbs_modify_qp, attr_mask, EMU_HEX),
	EMU_CORE_IN(ib_uverbs_modify_qp, qp_state, EMU_QP_STATE),
	EMU_CORE_IN(ib_uverbs_modify_qp, dest_qp_num, EMU_HEX),
	EMU_CORE_IN_AS("dgid", ib_uverbs_modify_qp, dest.dgid, EMU_GID),
	EMU_FIELDS_END,
};

static const struct emu_field query_qp_fields[] = {
	EMU_CORE_IN(ib_uverbs_query_qp, qp_handle, EMU_DECIMAL),
	EMU_CORE_OUT(ib_uverbs_query_qp_resp, qp_state, EMU_QP_STATE),
	EMU_FIELDS_END,
};

static const struct emu_field create_ah_fields[] = {
	EMU_CORE_IN(ib_uverbs_create_ah, pd_handle, EMU_DECIMAL),
	EMU_CORE_IN_AS("sgid_index", ib_uverbs_create_ah, attr.grh.sgid_index, EMU_DECIMAL),
	EMU_CORE_IN_AS("dgid", ib_uverbs_create_ah, attr.grh.dgid, EMU_GID),
	EMU_CORE_OUT(ib_uverbs_create_ah_resp, ah_handle, EMU_DECIMAL),
	EMU_FIELDS_END,
};

static const struct emu_field mcast_fields[] = {
	EMU_CORE_IN(ib_uverbs_attach_mcast, qp_handle, EMU_DECIMAL),
	EMU_CORE_IN(ib_uverbs_attach_mcast, gid, EMU_GID),
	EMU_FIELDS_END,
};

const struct emu_write_command emu_write_commands[] = {
	{{"device.query", NULL},
	 IB_USER_VERBS_CMD_QUERY_DEVICE,
	 8,
	 sizeof(struct ib_uverbs_query_device_resp),
	 emu_write_query_device},
	{{"device.query", NULL},
	 EX(IB_USER_VERBS_CMD_QUERY_DEVICE),
	 0,
	 0,
	 emu_write_query_device_ex},
	{{"pd.create", alloc_pd_fields},
	 IB_USER_VERBS_CMD_ALLOC_PD,
	 8,
	 sizeof(struct ib_uverbs_alloc_pd_resp),
	 emu_write_alloc_pd},
	{{"mr.create", reg_mr_fields},
	 IB_USER_VERBS_CMD_REG_MR,
	 sizeof(struct ib_uverbs_reg_mr),
	 sizeof(struct ib_uverbs_reg_mr_resp),
	 emu_write_reg_mr},
	{{"mr.modify", rereg_mr_fields},
	 IB_USER_VERBS_CMD_REREG_MR,
	 sizeof(struct ib_uverbs_rereg_mr),
	 sizeof(struct ib_uverbs_rereg_mr_resp),
	 emu_write_rereg_mr},
	{{"mw.create", NULL},
	 IB_USER_VERBS_CMD_ALLOC_MW,
	 sizeof(struct ib_uverbs_alloc_mw),
	 sizeof(struct ib_uverbs_alloc_mw_resp),
	 emu_write_alloc_mw},
	{{"channel.create", NULL},
	 IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
	 8,
	 sizeof(struct ib_uverbs_create_comp_channel_resp),
	 emu_write_comp_channel},
	{{"qp.modify", modify_qp_fields},
	 IB_USER_VERBS_CMD_MODIFY_QP,
	 sizeof(struct ib_uverbs_modify_qp),
	 0,
	 emu_write_modify_qp},
	{{"qp.modify", modify_qp_fields},
	 EX(IB_USER_VERBS_CMD_MODIFY_QP),
	 0,
	 0,
	 emu_write_modify_qp_ex},
	{{"qp.query", query_qp_fields},
	 IB_USER_VERBS_CMD_QUERY_QP,
	 sizeof(struct ib_uverbs_query_qp),
	 sizeof(struct ib_uverbs_query_qp_resp),
	 emu_write_query_qp},
	{{"srq.modify", NULL},
	 IB_USER_VERBS_CMD_MODIFY_SRQ,
	 sizeof(struct ib_uverbs_modify_srq),
	 0,
	 emu_write_modify_srq},
	{{"srq.query", NULL},
	 IB_USER_VERBS_CMD_QUERY_SRQ,
	 sizeof(struct ib_uverbs_query_srq),
	 sizeof(struct ib_uverbs_query_srq_resp),
	 emu_write_query_srq},
	{{"xrcd.create", NULL},
	 IB_USER_VERBS_CMD_OPEN_XRCD,
	 sizeof(struct ib_uverbs_open_xrcd),
	 sizeof(struct ib_uverbs_open_xrcd_resp),
	 emu_write_open_xrcd},
	{{"qp.open", NULL},
	 IB_USER_VERBS_CMD_OPEN_QP,
	 sizeof(struct ib_uverbs_open_qp),
	 sizeof(struct ib_uverbs_create_qp_resp),
	 emu_write_open_qp},
	{{"ah.create", create_ah_fields},
	 IB_USER_VERBS_CMD_CREATE_AH,
	 sizeof(struct ib_uverbs_create_ah),
	 sizeof(struct ib_uverbs_create_ah_resp),
	 emu_write_create_ah},
	{{"mcast.attach", mcast_fields},
	 IB_USER_VERBS_CMD_ATTACH_MCAST,
	 sizeof(struct ib_uverbs_attach_mcast),
	 0,
	 emu_write_attach_mcast},
	{{"mcast.detach", mcast_fields},
	 IB_USER_VERBS_CMD_DETACH_MCAST,
	 sizeof(struct ib_uverbs_detach_mcast),
	 0,
	 emu_write_detach_mcast},
	{{"cq.resize", NULL},
	 IB_USER_VERBS_CMD_RESIZE_CQ,
	 sizeof(struct ib_uverbs_resize_cq),
	 sizeof(struct ib_uverbs_resize_cq_resp),
	 emu_write_resize_cq},
	{{"cq.modify", NULL}, EX(IB_USER_VERBS_EX_CMD_MODIFY_CQ), 0, 0, emu_write_modify_cq},
	{.handler = NULL},
};

static const struct emu_write_command *find(const struct emu_cmd *c)
{
	uint32_t number = (uint32_t)emu_attr_u64(c, UVERBS_ATTR_WRITE_CMD, 0);
	const struct emu_write_command *w = emu_write_commands;

	while (w->handler && w->number != number)
		w++;
	return w->handler ? w : NULL;
}

static const struct emu_command *find_payload(const struct emu_cmd *c)
{
	const struct emu_write_command *w = find(c);

	return w ? &w->command : NULL;
}

/*
 * The library probes with a command without buffers: ENOSPC, "no room for the answer", says that
 * write commands are executed by INVOKE_WRITE.
 */
static int invoke_write(struct emu_cmd *c)
{
	const struct emu_write_command *w = find(c);

	if (!w)
		return -EOPNOTSUPP;
	if (emu_attr_len(c, UVERBS_ATTR_CORE_IN) < w->in ||
	    emu_attr_len(c, UVERBS_ATTR_CORE_OUT) < w->out) {
		if (!emu_attr(c, UVERBS_ATTR_CORE_IN) && !emu_attr(c, UVERBS_ATTR_CORE_OUT))
			c->answer = "a probe of libibverbs: write commands are supported";
		return -ENOSPC;
	}
	return c->file->has_context ? w->handler(c) : -EINVAL;
}

const struct emu_method emu_methods_write[] = {
	{
		.object = UVERBS_OBJECT_DEVICE,
		.method = UVERBS_METHOD_INVOKE_WRITE,
		.handler = invoke_write,
		.payload = find_payload,
		.attr = {{UVERBS_ATTR_CORE_IN, EMU_A_IN, false, 4},
			 {UVERBS_ATTR_CORE_OUT, EMU_A_OUT, false, 0},
			 {UVERBS_ATTR_WRITE_CMD, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_UHW_IN, EMU_A_IN, false, 0},
			 {UVERBS_ATTR_UHW_OUT, EMU_A_OUT, false, 0}},
	},
	{.handler = NULL},
};
