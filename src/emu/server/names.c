/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "names.h"

#include <fnmatch.h>
#include <string.h>

#include "prm.h"

#define COLUMNS 78

/* `detail` is the legacy command that is invoked, or the opcode in the mailbox; 0: any. */
static const struct {
	uint16_t object, method;
	uint32_t detail;
	const char *name;
} commands[] = {
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, 0, "context.create"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, 0, "context.query"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, 0, "port.query"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, 0, "gid.query"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, 0, "gid.query"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_QUERY_DEVICE,
	 "device.query"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE,
	 0x80000000u | IB_USER_VERBS_CMD_QUERY_DEVICE, "device.query"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_ALLOC_PD, "pd.create"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_REG_MR, "mr.create"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_REREG_MR, "mr.modify"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
	 "channel.create"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_MODIFY_QP,
	 "qp.modify"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_QUERY_QP, "qp.query"},
	{UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 0, "pd.destroy"},
	{UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, 0, "pd.query"},
	{UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, 0, "events.create"},
	{MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, 0, "uar.create"},
	{MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, 0, "uar.destroy"},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, 0, "mr.create-dm"},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, 0, "mr.create-dmabuf"},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, 0, "mr.query"},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, 0, "mr.destroy"},
	{UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, 0, "dm.create"},
	{UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, 0, "dm.destroy"},
	{UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY, 0, "dm.query"},
	{UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_MAP_OP_ADDR, 0, "dm.map-op"},
	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, 0, "cq.create"},
	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, 0, "cq.destroy"},
	{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, 0, "qp.create"},
	{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, 0, "qp.destroy"},
	{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, EMU_CMD_QUERY_HCA_CAP, "devx.query-caps"},
	{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, EMU_CMD_ALLOW_OTHER_VHCA_ACCESS,
	 "devx.allow-access"},
	{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, 0, "devx.other"},
	{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR, 0, "devx.query-uar"},
	{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN, 0, "devx.query-eqn"},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, EMU_CMD_CREATE_MKEY,
	 "mkey.create"},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, EMU_CMD_CREATE_GENERAL_OBJECT,
	 "alias.create"},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, 0, "devx.create"},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, 0, "devx.destroy"},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, 0, "devx.modify"},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, 0, "devx.query"},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY, 0, "devx.query-async"},
	{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, 0, "devx.subscribe"},
	{MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC, 0,
	 "devx.create-events"},
	{MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC, 0,
	 "devx.create-answers"},
	{MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, 0, "umem.create"},
	{MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, 0, "umem.destroy"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_ALLOC_MW, "mw.create"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_MODIFY_SRQ,
	 "srq.modify"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_QUERY_SRQ,
	 "srq.query"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_OPEN_XRCD,
	 "xrcd.create"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_OPEN_QP, "qp.open"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_CREATE_AH,
	 "ah.create"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, IB_USER_VERBS_CMD_RESIZE_CQ,
	 "cq.resize"},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE,
	 0x80000000u | IB_USER_VERBS_EX_CMD_MODIFY_CQ, "cq.modify"},
	{UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT, 0, "port.query"},
	{UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, 0, "mw.destroy"},
	{UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, 0, "srq.create"},
	{UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, 0, "srq.destroy"},
	{UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, 0, "xrcd.destroy"},
	{UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, 0, "ah.destroy"},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, 0, "mr.advise"},
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

bool emu_command_matches(const char *pattern, const char *name)
{
	return !fnmatch(pattern, name, FNM_EXTMATCH);
}

static uint32_t opcode(const struct emu_cmd *c, uint16_t mailbox)
{
	const struct ib_uverbs_attr *a = emu_attr(c, mailbox);
	uint8_t raw[2];

	if (!a || emu_copy_from(c->chan->pid, raw, a->data, sizeof(raw)))
		return 0;
	return (uint32_t)emu_prm_get(raw, 0, 16);
}

static uint32_t detail_of(const struct emu_cmd *c)
{
	const struct emu_method *m = c->method;

	if (m->object == UVERBS_OBJECT_DEVICE && m->method == UVERBS_METHOD_INVOKE_WRITE)
		return (uint32_t)emu_attr_u64(c, UVERBS_ATTR_WRITE_CMD, 0);
	if (m->object == MLX5_IB_OBJECT_DEVX && m->method == MLX5_IB_METHOD_DEVX_OTHER)
		return opcode(c, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN);
	if (m->object == MLX5_IB_OBJECT_DEVX_OBJ && m->method == MLX5_IB_METHOD_DEVX_OBJ_CREATE)
		return opcode(c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN);
	return 0;
}

const char *emu_command_name(const struct emu_cmd *c)
{
	uint32_t detail = detail_of(c);
	size_t i;

	for (i = 0; i < NCOMMANDS; i++)
		if (commands[i].object == c->method->object &&
		    commands[i].method == c->method->method &&
		    (!commands[i].detail || commands[i].detail == detail))
			return commands[i].name;
	return NULL;
}

bool emu_command_known(const char *pattern)
{
	size_t i;

	for (i = 0; i < NCOMMANDS; i++)
		if (emu_command_matches(pattern, commands[i].name))
			return true;
	return emu_command_matches(pattern, EMU_NAME_MMAP);
}

void emu_command_names(FILE *out)
{
	const char *last = "";
	size_t column = 0, i;

	for (i = 0; i <= NCOMMANDS; i++) {
		const char *name = i < NCOMMANDS ? commands[i].name : EMU_NAME_MMAP;

		if (!strcmp(name, last))
			continue;
		if (!column || column + 1 + strlen(name) > COLUMNS)
			column = (size_t)fprintf(out, column ? "\n    %s" : "    %s", name);
		else
			column += (size_t)fprintf(out, " %s", name);
		last = name;
	}
	fputc('\n', out);
}
