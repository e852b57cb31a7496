/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/firmware.h"

#include <errno.h>

#include "base/array.h"
#include "emu/prm/prm_alias.h"
#include "emu/prm/prm_dek.h"
#include "emu/prm/prm_ethernet.h"
#include "emu/prm/prm_hca.h"
#include "emu/prm/prm_mkey.h"
#include "emu/prm/prm_qp.h"
#include "emu/server/card/qp_context.h"
#include "emu/server/firmware/commands.h"
#include "emu/server/firmware/dct.h"
#include "emu/server/firmware/dek.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/firmware/mkey.h"
#include "emu/server/firmware/queue.h"
#include "emu/server/firmware/rmp.h"
#include "emu/server/uverbs/dm.h"
#include "emu/server/uverbs/pd.h"
#include "emu/server/uverbs/uar.h"
#include "emu/server/uverbs/xrc.h"

#define CREATE_IN    MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN
#define CREATE_OUT   MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT
#define OTHER_IN     MLX5_IB_ATTR_DEVX_OTHER_CMD_IN

#define MKC(field)   EMU_PRM_IN(EMU_CREATE_MKEY_IN_MKC, field)
#define DEK(field)   EMU_PRM_IN(EMU_DEK_IN_CONTEXT, field)
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

/* All but the key, which is a secret. */
static const struct emu_field create_dek_fields[] = {
	EMU_MBOX_FIELD("pd", CREATE_IN, DEK(EMU_DEK_CTX_PD), EMU_DECIMAL),
	EMU_MBOX_FIELD("purpose", CREATE_IN, DEK(EMU_DEK_CTX_KEY_PURPOSE), EMU_DECIMAL),
	EMU_MBOX_FIELD("size", CREATE_IN, DEK(EMU_DEK_CTX_KEY_SIZE), EMU_DECIMAL),
	EMU_MBOX_FIELD_OUT("number", CREATE_OUT, EMU_DEK_OUT_OBJ_ID, EMU_HEX),
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
#define DRIVER(op, function)                                                                       \
	{                                                                                          \
		.carrier = EMU_DEVX_DRIVER, .opcode = EMU_CMD_##op, .handler = (function), UNNAMED \
	}
/* An object that only a driver creates. */
#define OWN(op, object, function, structure, undo_function)                                       \
	{                                                                                         \
		.carrier = EMU_DEVX_DRIVER, .opcode = EMU_CMD_##op, .type = EMU_T_##object,       \
		.handler = (function), .size = sizeof(struct structure), .undo = (undo_function), \
		UNNAMED                                                                           \
	}
#define DESTROY(op, object)                                                                  \
	{                                                                                    \
		.carrier = EMU_DEVX_DESTROY, .opcode = EMU_CMD_##op, .type = EMU_T_##object, \
		.handler = emu_driver_destroy                                                \
	}
#define DESTROY_BY(op, object, field)                                                        \
	{                                                                                    \
		.carrier = EMU_DEVX_DESTROY, .opcode = EMU_CMD_##op, .type = EMU_T_##object, \
		.number = (field), .handler = emu_driver_destroy                             \
	}
#define DESTROY_GENERAL(general_type, object, field)                                      \
	{                                                                                 \
		.carrier = EMU_DEVX_DESTROY, .opcode = EMU_CMD_DESTROY_GENERAL_OBJECT,    \
		.object_type = (general_type), .type = EMU_T_##object, .number = (field), \
		.handler = emu_driver_destroy                                             \
	}
#define CREATE(op, general_type, object, function, structure, undo_function, named)                \
	{                                                                                          \
		.carrier = EMU_DEVX_CREATE, .opcode = EMU_CMD_##op, .object_type = (general_type), \
		.type = EMU_T_##object, .handler = (function), .size = sizeof(struct structure),   \
		.undo = (undo_function), named                                                     \
	}
#define ACT_BY(action, op, object, field, function)                                   \
	{                                                                             \
		.carrier = EMU_DEVX_##action, .opcode = (op), .type = EMU_T_##object, \
		.number = (field), .handler = (function)                              \
	}
#define ACT(action, op, object, function)                                             \
	{                                                                             \
		.carrier = EMU_DEVX_##action, .opcode = (op), .type = EMU_T_##object, \
		.handler = (function)                                                 \
	}

/* The row names the type; what is destroyed is found before. */
int emu_driver_destroy(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_driver *d = c->file->driver;
	int err = emu_uobj_destroy(o);

	(void)m;
	if (err)
		return err;
	d->objects--;
	emu_driver_pages_return(d);
	return 0;
}

/*
 * A request for a general object of a type that is not here is traced as an alias with errors. Any
 * opcode of MODIFY may be a transition of a QP.
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
	CREATE(CREATE_GENERAL_OBJECT, EMU_OBJ_TYPE_DEK, DEVX_DEK, emu_devx_create_dek, emu_dek,
	       emu_devx_dek_undo, NAMED("dek.create", create_dek_fields)),
	CREATE(CREATE_CQ, 0, DEVX_CQ, emu_devx_create_cq, emu_devx_cq, emu_devx_cq_undo, UNNAMED),
	CREATE(CREATE_QP, 0, DEVX_QP, emu_devx_create_qp, emu_devx_qp, emu_devx_qp_undo, UNNAMED),
	CREATE(CREATE_DCT, 0, DEVX_DCT, emu_devx_create_dct, emu_devx_dct, emu_devx_dct_undo, UNNAMED),
	CREATE(CREATE_RMP, 0, DEVX_RMP, emu_devx_create_rmp, emu_devx_rmp, emu_devx_rmp_undo, UNNAMED),
	CREATE(ALLOC_FLOW_COUNTER, 0, DEVX_COUNTER, emu_devx_alloc_counter, emu_devx_counter, NULL,
	       UNNAMED),
	CREATE(ALLOC_PD, 0, DEVX_PD, emu_driver_alloc_pd, emu_pd, emu_pd_undo, UNNAMED),
	CREATE(ALLOC_XRCD, 0, DEVX_XRCD, emu_driver_alloc_xrcd, emu_xrcd, NULL, UNNAMED),
	CREATE(ALLOC_TRANSPORT_DOMAIN, 0, TRANSPORT_DOMAIN, emu_driver_alloc_plain, emu_plain, NULL, UNNAMED),
	CREATE(ALLOC_Q_COUNTER, 0, Q_COUNTER, emu_driver_alloc_q_counter, emu_q_counter, NULL, UNNAMED),
	CREATE(CREATE_XRC_SRQ, 0, XRC_SRQ, emu_driver_create_xrc_srq, emu_xrc_srq, emu_driver_xrc_srq_undo, UNNAMED),

	ACT(MODIFY, EMU_CMD_MODIFY_CQ, DEVX_CQ, emu_devx_modify_cq),
	ACT(MODIFY, EMU_CMD_MODIFY_CQ, CQ, emu_devx_modify_cq),
	ACT(MODIFY, EMU_CMD_INIT2INIT_QP, DEVX_QP, emu_devx_init2init_qp),
	ACT(MODIFY, EMU_CMD_INIT2INIT_QP, QP, emu_devx_init2init_qp),
	ACT(MODIFY, EMU_CMD_RTS2RTS_QP, DEVX_QP, emu_devx_rts2rts_qp),
	ACT(MODIFY, EMU_CMD_RTS2RTS_QP, QP, emu_devx_rts2rts_qp),
	ACT(MODIFY, 0, DEVX_QP, emu_devx_modify_qp),
	ACT(MODIFY, 0, QP, emu_devx_modify_verbs_qp),

	ACT(QUERY, EMU_CMD_QUERY_MKEY, DEVX_MKEY, emu_devx_query_mkey),
	ACT(QUERY, EMU_CMD_QUERY_GENERAL_OBJECT, DEVX_ALIAS, emu_devx_query_alias),
	ACT(QUERY, EMU_CMD_QUERY_GENERAL_OBJECT, DEVX_DEK, emu_devx_query_dek),
	ACT(QUERY, EMU_CMD_QUERY_FLOW_COUNTER, DEVX_COUNTER, emu_devx_query_counter),
	ACT_BY(QUERY, EMU_CMD_QUERY_Q_COUNTER, Q_COUNTER, EMU_Q_COUNTER_IN_COUNTER_SET_ID,
	       emu_driver_query_q_counter),
	ACT(QUERY, EMU_CMD_QUERY_CQ, DEVX_CQ, emu_devx_query_cq),
	ACT(QUERY, EMU_CMD_QUERY_CQ, CQ, emu_devx_query_cq),
	ACT(QUERY, EMU_CMD_QUERY_QP, DEVX_QP, emu_devx_query_qp),
	ACT(QUERY, EMU_CMD_QUERY_QP, QP, emu_devx_query_qp),
	ACT(MODIFY, EMU_CMD_ARM_DCT, DEVX_DCT, emu_devx_arm_dct),
	ACT(QUERY, EMU_CMD_QUERY_DCT, DEVX_DCT, emu_devx_query_dct),
	ACT(QUERY, EMU_CMD_QUERY_DCT, QP, emu_devx_query_dct),
	ACT(MODIFY, EMU_CMD_MODIFY_RMP, DEVX_RMP, emu_devx_modify_rmp),
	ACT(QUERY, EMU_CMD_QUERY_RMP, DEVX_RMP, emu_devx_query_rmp),
	ACT(MODIFY, EMU_CMD_MODIFY_RMP, SRQ, emu_devx_modify_rmp),
	ACT(QUERY, EMU_CMD_QUERY_RMP, SRQ, emu_devx_query_rmp),
	ACT(MODIFY, EMU_CMD_ARM_XRC_SRQ, XRC_SRQ, emu_driver_arm_xrc_srq),
	ACT(QUERY, EMU_CMD_QUERY_XRC_SRQ, XRC_SRQ, emu_driver_query_xrc_srq),
	ACT(MODIFY, EMU_CMD_ARM_XRC_SRQ, SRQ, emu_driver_arm_xrc_srq),
	ACT(QUERY, EMU_CMD_QUERY_XRC_SRQ, SRQ, emu_driver_query_xrc_srq),
	ACT(QUERY, EMU_CMD_QUERY_EQ, EQ, emu_driver_query_eq),
	ACT(MODIFY, EMU_CMD_MODIFY_TIS, TIS, emu_driver_modify_plain),
	ACT(MODIFY, EMU_CMD_MODIFY_TIR, TIR, emu_driver_modify_plain),
	ACT(MODIFY, EMU_CMD_MODIFY_RQT, RQT, emu_driver_modify_plain),
	ACT(MODIFY, EMU_CMD_MODIFY_RQ, RQ, emu_driver_modify_rq),
	ACT(QUERY, EMU_CMD_QUERY_RQ, RQ, emu_driver_query_rq),
	ACT(MODIFY, EMU_CMD_MODIFY_SQ, SQ, emu_driver_modify_sq),
	ACT(QUERY, EMU_CMD_QUERY_SQ, SQ, emu_driver_query_sq),

	ACT(DRIVER, EMU_CMD_ATTACH_TO_MCG, DEVX_QP, emu_driver_change_group),
	ACT(DRIVER, EMU_CMD_DETACH_FROM_MCG, DEVX_QP, emu_driver_change_group),
	ACT(DRIVER, EMU_CMD_DRAIN_DCT, DEVX_DCT, emu_driver_drain_dct),

	OWN(ALLOC_MEMIC, DM, emu_driver_alloc_memic, emu_dm, emu_dm_undo),
	DRIVER(DEALLOC_MEMIC, emu_driver_dealloc_memic),

	DRIVER(ENABLE_HCA, emu_driver_change_state),
	DRIVER(DISABLE_HCA, emu_driver_change_state),
	DRIVER(INIT_HCA, emu_driver_change_state),
	DRIVER(TEARDOWN_HCA, emu_driver_change_state),
	DRIVER(SET_HCA_CAP, emu_driver_set_hca_cap),
	DRIVER(SET_ISSI, emu_driver_set_issi),
	DRIVER(QUERY_PAGES, emu_driver_query_pages),
	DRIVER(MANAGE_PAGES, emu_driver_manage_pages),
	DRIVER(PAGE_FAULT_RESUME, emu_driver_page_fault_resume),
	DRIVER(QUERY_ADAPTER, emu_driver_query_adapter),
	DRIVER(QUERY_SPECIAL_CONTEXTS, emu_driver_query_special_contexts),
	DRIVER(SET_DRIVER_VERSION, emu_driver_set_driver_version),
	DRIVER(ACCESS_REG, emu_driver_access_reg),
	DRIVER(MAD_IFC, emu_driver_mad_ifc),
	DRIVER(SET_FLOW_TABLE_ROOT, emu_driver_modify_plain),
	DRIVER(SET_FLOW_TABLE_ENTRY, emu_driver_modify_plain),
	DRIVER(DELETE_FLOW_TABLE_ENTRY, emu_driver_modify_plain),
	DRIVER(MODIFY_FLOW_TABLE, emu_driver_modify_plain),
	DRIVER(SET_L2_TABLE_ENTRY, emu_driver_modify_plain),
	DRIVER(DELETE_L2_TABLE_ENTRY, emu_driver_modify_plain),
	DRIVER(QUERY_NIC_VPORT_CONTEXT, emu_driver_query_nic_vport),
	DRIVER(MODIFY_NIC_VPORT_CONTEXT, emu_driver_modify_nic_vport),
	DRIVER(SET_ROCE_ADDRESS, emu_driver_set_roce_address),
	DRIVER(QUERY_HCA_VPORT_PKEY, emu_driver_query_hca_vport_pkey),
	DRIVER(QUERY_VPORT_COUNTER, emu_driver_query_vport_counter),

	OWN(ALLOC_UAR, UAR, emu_driver_alloc_uar, emu_uar, emu_uar_undo),
	OWN(CREATE_UCTX, UCTX, emu_driver_create_uctx, emu_plain, NULL),
	OWN(CREATE_TIS, TIS, emu_driver_create_numbered, emu_plain, NULL),
	OWN(CREATE_TIR, TIR, emu_driver_create_numbered, emu_plain, NULL),
	OWN(CREATE_RQT, RQT, emu_driver_create_numbered, emu_plain, NULL),
	OWN(CREATE_RQ, RQ, emu_driver_create_rq, emu_rq_object, NULL),
	OWN(CREATE_SQ, SQ, emu_driver_create_sq, emu_sq_object, emu_driver_sq_undo),
	OWN(CREATE_FLOW_TABLE, FLOW_TABLE, emu_driver_create_numbered, emu_plain, NULL),
	OWN(CREATE_FLOW_GROUP, FLOW_GROUP, emu_driver_create_numbered, emu_plain, NULL),
	OWN(CREATE_EQ, EQ, emu_driver_create_eq, emu_eq_object, emu_driver_eq_undo),

	DESTROY(DEALLOC_PD, DEVX_PD),
	DESTROY(DEALLOC_UAR, UAR),
	DESTROY(DEALLOC_XRCD, DEVX_XRCD),
	DESTROY(DEALLOC_TRANSPORT_DOMAIN, TRANSPORT_DOMAIN),
	DESTROY(DEALLOC_Q_COUNTER, Q_COUNTER),
	DESTROY(DESTROY_UCTX, UCTX),
	DESTROY_GENERAL(EMU_OBJ_TYPE_MKEY, DEVX_ALIAS, EMU_QUERY_ALIAS_IN_OBJ_ID),
	DESTROY_GENERAL(EMU_OBJ_TYPE_DEK, DEVX_DEK, EMU_QUERY_DEK_IN_OBJ_ID),
	DESTROY(DESTROY_TIS, TIS),
	DESTROY(DESTROY_TIR, TIR),
	DESTROY(DESTROY_RQT, RQT),
	DESTROY(DESTROY_RQ, RQ),
	DESTROY(DESTROY_SQ, SQ),
	DESTROY_BY(DESTROY_FLOW_TABLE, FLOW_TABLE, EMU_FLOW_IN_TABLE_ID),
	DESTROY_BY(DESTROY_FLOW_GROUP, FLOW_GROUP, EMU_FLOW_IN_GROUP_ID),
	DESTROY(DEALLOC_FLOW_COUNTER, DEVX_COUNTER),
	DESTROY(DESTROY_EQ, EQ),
	DESTROY(DESTROY_CQ, DEVX_CQ),
	DESTROY(DESTROY_QP, DEVX_QP),
	DESTROY(DESTROY_DCT, DEVX_DCT),
	DESTROY(DESTROY_RMP, DEVX_RMP),
	DESTROY(DESTROY_XRC_SRQ, XRC_SRQ),
	DESTROY(DESTROY_MKEY, DEVX_MKEY),
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

const struct emu_firmware_command *emu_firmware_by_type(enum emu_devx_carrier carrier,
							uint16_t opcode, uint16_t type)
{
	const struct emu_firmware_command *f = emu_firmware_commands;

	while (f->handler && (f->carrier != carrier || f->opcode != opcode ||
			      (f->object_type && f->object_type != type)))
		f++;
	return f->handler ? f : NULL;
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

/* --- commands of a function's driver ---------------------------------------------------------- */

static bool creates(const struct emu_firmware_command *f)
{
	return f->size;
}

static int create(struct emu_cmd *c, struct emu_mbox *m, const struct emu_firmware_command *f)
{
	struct emu_driver *d = c->file->driver;
	struct emu_uobj *o;
	int err;

	if (d->state != EMU_DRIVER_INITIALIZED)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_STATE);
	err = emu_driver_pages_reserve(d, m);
	if (err)
		return err;
	o = emu_uobj_new(c->file, f->type, f->size, f->undo);
	if (!o)
		return emu_refuse(m, EMU_CMD_SYN_DRIVER_LIMIT);
	err = f->handler(c, m, o);
	if (err) {
		emu_uobj_free(o);
		return err;
	}
	o->number = (uint32_t)emu_prm_get(m->out, EMU_CMD_OUT_NUMBER);
	d->objects++;
	return 0;
}

static struct emu_uobj *find_object(const struct emu_file *f, enum emu_type type,
				    const struct emu_mbox *m, int field)
{
	const uint64_t number = (size_t)EMU_PRM_BIT(field) + EMU_PRM_WIDTH(field) > m->in_len * 8
					? UINT64_MAX
					: emu_prm_get(m->in, field);
	struct emu_uobj *o = NULL;

	while ((o = emu_uobj_next(f, type, o)) && o->number != number)
		;
	return o && emu_uobj_is_reachable(o) ? o : NULL;
}

static int execute_row(struct emu_cmd *c, struct emu_mbox *m, const struct emu_firmware_command *f)
{
	struct emu_uobj *o = NULL;

	if (creates(f))
		return create(c, m, f);
	if (f->type != EMU_T_NONE) {
		o = find_object(c->file, f->type, m, f->number ? f->number : EMU_OBJECT_IN_NUMBER);
		if (!o)
			return emu_refuse(m, EMU_CMD_SYN_DRIVER_OBJECT);
	}
	return f->handler(c, m, o);
}

/* A row for any opcode is for the transitions of a queue pair, which have their own numbers. */
static bool is_row_of(const struct emu_firmware_command *f, const struct emu_mbox *m)
{
	if (f->object_type && f->object_type != m->op_mod)
		return false;
	return f->opcode ? f->opcode == m->opcode
			 : f->type == EMU_T_DEVX_QP && emu_qp_is_transition(m->opcode);
}

static int execute(struct emu_cmd *c, struct emu_mbox *m)
{
	for (const struct emu_firmware_command *f = emu_firmware_commands; f->handler; f++)
		if (is_row_of(f, m) && f->type != EMU_T_QP)
			return execute_row(c, m, f);
	return emu_refuse(m, EMU_CMD_SYN_DRIVER_OPCODE);
}

int emu_firmware_execute(struct emu_cmd *c, struct emu_mbox *m)
{
	int err;

	c->file->devx_uid = (uint16_t)emu_prm_get(m->in, EMU_CMD_IN_UID);
	err = execute(c, m);
	c->file->devx_uid = 0;
	return err;
}

void emu_firmware_reset(struct emu_file *f)
{
	emu_uobj_destroy_all(f);
}
