/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "fail.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "prm.h"

#define ERRNO_MAX 4095
#define COLUMNS	  78
#define MMAP_NAME "file.mmap"

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
	{MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, 0, "umem.create"},
	{MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, 0, "umem.destroy"},
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static struct emu_fail_request rule;
static uint64_t rule_seen, rule_failed;
static bool counted; /* the last command */

static bool matches(const char *pattern, const char *name)
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

/* NULL: a legacy command that does not exist, like the library's probe. */
static const char *name_of(const struct emu_cmd *c)
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

static bool role_exists(const char *role)
{
	unsigned int i;

	for (i = 0; i < emu.nfuncs; i++)
		if (!strcmp(emu.func[i].role, role))
			return true;
	return false;
}

int emu_fail_set(const struct emu_fail_request *r, uint64_t *seen, uint64_t *failed)
{
	struct emu_fail_request next = *r;

	next.method[sizeof(next.method) - 1] = '\0';
	next.role[sizeof(next.role) - 1] = '\0';
	if (next.nth && (!next.errnum || next.errnum > ERRNO_MAX || !next.count))
		return -EINVAL;
	if (*next.role && !role_exists(next.role))
		return -ENODEV;
	*seen = rule_seen;
	*failed = rule_failed;
	rule = next;
	rule_seen = 0;
	rule_failed = 0;
	return 0;
}

static int due(const struct emu_func *f, const char *name)
{
	counted = false;
	if (!name || (*rule.role && strcmp(rule.role, f->role) != 0) || !matches(rule.method, name))
		return 0;
	counted = true;
	if (++rule_seen < rule.nth || rule_seen - rule.nth >= rule.count)
		return 0;
	rule_failed++;
	return -(int)rule.errnum;
}

int emu_fail_command(const struct emu_cmd *c)
{
	return rule.nth ? due(c->file->func, name_of(c)) : 0;
}

int emu_fail_mmap(const struct emu_file *f)
{
	return rule.nth ? due(f->func, MMAP_NAME) : 0;
}

void emu_fail_uncount(void)
{
	if (counted)
		rule_seen--;
	counted = false;
}

bool emu_fail_matches_any(const char *pattern)
{
	size_t i;

	for (i = 0; i < NCOMMANDS; i++)
		if (matches(pattern, commands[i].name))
			return true;
	return matches(pattern, MMAP_NAME);
}

void emu_fail_names(FILE *out)
{
	const char *last = "";
	size_t column = 0, i;

	for (i = 0; i <= NCOMMANDS; i++) {
		const char *name = i < NCOMMANDS ? commands[i].name : MMAP_NAME;

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
