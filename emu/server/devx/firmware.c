/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/devx/firmware.h"

#include "emu/prm/prm_alias.h"
#include "emu/prm/prm_mkey.h"
#include "emu/prm/prm_qp.h"
#include "emu/server/devx/commands.h"
#include "emu/server/devx/mkey.h"
#include "emu/server/devx/queue.h"
#include "emu/server/devx/rmp.h"

#define CREATE_IN    MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN
#define CREATE_OUT   MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT
#define OTHER_IN     MLX5_IB_ATTR_DEVX_OTHER_CMD_IN

#define MKC(field)   EMU_PRM_IN(EMU_CREATE_MKEY_IN_MKC, field)
#define ALIAS(field) EMU_PRM_IN(EMU_ALIAS_IN_CONTEXT, field)

static const struct emu_field create_mkey_fields[] = {
	EMU_MBOX_FIELD("pd", CREATE_IN, MKC(EMU_MKC_PD), EMU_DECIMAL),
	EMU_MBOX_FIELD("mode", CREATE_IN, MKC(EMU_MKC_ACCESS_MODE_1_0), EMU_DECIMAL),
	EMU_MBOX_FIELD("start", CREATE_IN, MKC(EMU_MKC_START_ADDR), EMU_ADDRESS),
	EMU_MBOX_FIELD("length", CREATE_IN, MKC(EMU_MKC_LEN), EMU_DECIMAL),
	EMU_MBOX_FIELD_OUT("index", CREATE_OUT, EMU_CREATE_MKEY_OUT_MKEY_INDEX, EMU_HEX),
	EMU_FIELDS_END,
};

static const struct emu_field create_alias_fields[] = {
	EMU_MBOX_FIELD("vhca_id", CREATE_IN, ALIAS(EMU_ALIAS_CTX_VHCA_ID_TO_BE_ACCESSED),
		       EMU_DECIMAL),
	EMU_MBOX_FIELD("target", CREATE_IN, ALIAS(EMU_ALIAS_CTX_OBJECT_ID_TO_BE_ACCESSED), EMU_HEX),
	EMU_MBOX_FIELD_OUT("index", CREATE_OUT, EMU_ALIAS_OUT_OBJ_ID, EMU_HEX),
	EMU_FIELDS_END,
};

static const struct emu_field allow_access_fields[] = {
	EMU_MBOX_FIELD("index", OTHER_IN, EMU_ALLOW_ACCESS_IN_OBJECT_ID_TO_BE_ACCESSED, EMU_HEX),
	EMU_FIELDS_END,
};

static const struct emu_field query_caps_fields[] = {
	EMU_MBOX_FIELD("op_mod", OTHER_IN, EMU_CMD_IN_OP_MOD, EMU_HEX),
	EMU_FIELDS_END,
};

#define NAMED(name, fields) .command = {name, fields}
#define UNNAMED		    .command = {NULL, NULL}
#define OTHER(op, function, named)                                                              \
	{                                                                                       \
		.carrier = EMU_DEVX_OTHER, .opcode = EMU_CMD_##op, .handler = (function), named \
	}
#define CREATE(op, general_type, object, function, structure, undo_function, named)                \
	{                                                                                          \
		.carrier = EMU_DEVX_CREATE, .opcode = EMU_CMD_##op, .object_type = (general_type), \
		.type = EMU_T_##object, .handler = (function), .size = sizeof(struct structure),   \
		.undo = (undo_function), named                                                     \
	}
#define ACT(action, op, object, function)                                             \
	{                                                                             \
		.carrier = EMU_DEVX_##action, .opcode = (op), .type = EMU_T_##object, \
		.handler = (function)                                                 \
	}

/*
 * A request for a general object of another type is traced as an alias with errors, so its name
 * does not depend on the type. Any opcode of MODIFY may be a transition of a QP.
 */
/* clang-format off */
const struct emu_firmware_command emu_firmware_commands[] = {
	OTHER(QUERY_HCA_CAP, emu_devx_query_hca_cap, NAMED("devx.query-caps", query_caps_fields)),
	OTHER(ALLOW_OTHER_VHCA_ACCESS, emu_devx_allow_access,
	      NAMED("devx.allow-access", allow_access_fields)),
	OTHER(QUERY_ESW_FUNCTIONS, emu_devx_query_esw_functions, UNNAMED),
	OTHER(QUERY_LAG, emu_devx_query_lag, UNNAMED),
	OTHER(QUERY_ISSI, emu_devx_query_issi, UNNAMED),
	OTHER(QUERY_VPORT_STATE, emu_devx_query_vport_state, UNNAMED),
	OTHER(NOP, emu_devx_nop, UNNAMED),

	CREATE(CREATE_MKEY, 0, DEVX_MKEY, emu_devx_create_mkey, emu_devx_mkey, emu_devx_mkey_undo,
	       NAMED("mkey.create", create_mkey_fields)),
	CREATE(CREATE_GENERAL_OBJECT, EMU_OBJ_TYPE_MKEY, DEVX_ALIAS, emu_devx_create_alias,
	       emu_devx_mkey, emu_devx_mkey_undo, NAMED("alias.create", create_alias_fields)),
	CREATE(CREATE_CQ, 0, DEVX_CQ, emu_devx_create_cq, emu_devx_cq, emu_devx_cq_undo, UNNAMED),
	CREATE(CREATE_QP, 0, DEVX_QP, emu_devx_create_qp, emu_devx_qp, emu_devx_qp_undo, UNNAMED),
	CREATE(CREATE_RMP, 0, DEVX_RMP, emu_devx_create_rmp, emu_devx_rmp, emu_devx_rmp_undo, UNNAMED),
	CREATE(ALLOC_FLOW_COUNTER, 0, DEVX_COUNTER, emu_devx_alloc_counter, emu_devx_counter, NULL,
	       UNNAMED),

	ACT(MODIFY, EMU_CMD_INIT2INIT_QP, DEVX_QP, emu_devx_init2init_qp),
	ACT(MODIFY, EMU_CMD_INIT2INIT_QP, QP, emu_devx_init2init_qp),
	ACT(MODIFY, 0, DEVX_QP, emu_devx_modify_qp),
	ACT(MODIFY, 0, QP, emu_devx_modify_verbs_qp),

	ACT(QUERY, EMU_CMD_QUERY_MKEY, DEVX_MKEY, emu_devx_query_mkey),
	ACT(QUERY, EMU_CMD_QUERY_GENERAL_OBJECT, DEVX_ALIAS, emu_devx_query_alias),
	ACT(QUERY, EMU_CMD_QUERY_FLOW_COUNTER, DEVX_COUNTER, emu_devx_query_counter),
	ACT(QUERY, EMU_CMD_QUERY_CQ, DEVX_CQ, emu_devx_query_cq),
	ACT(QUERY, EMU_CMD_QUERY_QP, DEVX_QP, emu_devx_query_qp),
	ACT(QUERY, EMU_CMD_QUERY_QP, QP, emu_devx_query_verbs_qp),
	{.handler = NULL},
};
/* clang-format on */

const struct emu_firmware_command *emu_firmware_by_opcode(enum emu_devx_carrier carrier,
							  uint16_t opcode)
{
	const struct emu_firmware_command *f = emu_firmware_commands;

	while (f->handler && (f->carrier != carrier || f->opcode != opcode))
		f++;
	return f->handler ? f : NULL;
}

const struct emu_firmware_command *emu_firmware_creation(const struct emu_mbox *m)
{
	const struct emu_firmware_command *f = emu_firmware_by_opcode(EMU_DEVX_CREATE, m->opcode);

	return f && (!f->object_type || f->object_type == m->op_mod) ? f : NULL;
}

const struct emu_firmware_command *emu_firmware_on_object(enum emu_devx_carrier carrier,
							  const struct emu_mbox *m,
							  const struct emu_uobj *o)
{
	for (const struct emu_firmware_command *f = emu_firmware_commands; f->handler; f++)
		if (f->carrier == carrier && (!f->opcode || f->opcode == m->opcode) &&
		    f->type == o->type)
			return f;
	return NULL;
}

bool emu_firmware_created(const struct emu_uobj *o)
{
	const struct emu_firmware_command *f = emu_firmware_commands;

	while (f->handler && (f->carrier != EMU_DEVX_CREATE || f->type != o->type))
		f++;
	return f->handler;
}
