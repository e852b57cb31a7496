/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/commands.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "emu/server/card/segments.h"
#include "emu/server/card/topology.h"
#include "emu/server/devx/events.h"
#include "emu/server/devx/methods.h"
#include "emu/server/firmware/dct.h"
#include "emu/server/firmware/firmware.h"
#include "emu/server/firmware/mkey.h"
#include "emu/server/firmware/queue.h"
#include "emu/server/firmware/rmp.h"
#include "emu/server/firmware/umem.h"
#include "emu/server/mm/user_copy.h"
#include "emu/server/uverbs/qp.h"

#define A(n) MLX5_IB_ATTR_DEVX_##n

/* The name of the command in a mailbox, before the method is executed. */
static const struct emu_command *name_payload(const struct emu_cmd *c,
					      enum emu_devx_carrier carrier, uint16_t mailbox)
{
	const struct ib_uverbs_attr *a = emu_attr(c, mailbox);
	const struct emu_firmware_command *f;
	uint8_t raw[8]; /* up to op_mod */
	uint16_t opcode;

	if (!a || emu_copy_from(c->chan->pid, raw, a->data, sizeof(raw)))
		return NULL;
	opcode = (uint16_t)emu_prm_get(raw, EMU_CMD_IN_OPCODE);
	f = emu_firmware_by_type(carrier, opcode, (uint16_t)emu_prm_get(raw, EMU_CMD_IN_OP_MOD));
	if (!f)
		f = emu_firmware_by_opcode(carrier, opcode);
	return f && f->command.name ? &f->command : NULL;
}

static const struct emu_command *devx_other_payload(const struct emu_cmd *c)
{
	return name_payload(c, EMU_DEVX_OTHER, A(OTHER_CMD_IN));
}

static const struct emu_command *devx_create_payload(const struct emu_cmd *c)
{
	return name_payload(c, EMU_DEVX_CREATE, A(OBJ_CREATE_CMD_IN));
}

static int open_mailbox(struct emu_cmd *c, uint16_t in, uint16_t out, struct emu_mbox *m)
{
	return emu_mbox_read(c, in, emu_attr_len(c, out), m);
}

/* Opcodes that the kernel passes on (devx.c: devx_is_general_cmd), beside those executed here. */
static bool general_command(uint16_t op)
{
	static const uint16_t known[] = {
		EMU_CMD_QUERY_ADAPTER,		 EMU_CMD_QUERY_ISSI,
		EMU_CMD_QUERY_ESW_FUNCTIONS,	 EMU_CMD_QUERY_VPORT_STATE,
		EMU_CMD_QUERY_ESW_VPORT_CONTEXT, EMU_CMD_QUERY_NIC_VPORT_CONTEXT,
		EMU_CMD_QUERY_ROCE_ADDRESS,	 EMU_CMD_QUERY_HCA_VPORT_CONTEXT,
		EMU_CMD_QUERY_VNIC_ENV,		 EMU_CMD_QUERY_VPORT_COUNTER,
		EMU_CMD_GET_DROPPED_PACKET_LOG,	 EMU_CMD_NOP,
		EMU_CMD_QUERY_CONG_STATUS,	 EMU_CMD_QUERY_CONG_PARAMS,
		EMU_CMD_QUERY_CONG_STATISTICS,	 EMU_CMD_QUERY_LAG,
	};

	if (op >= EMU_CMD_GENERAL_BEGIN && op < EMU_CMD_GENERAL_END)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i] == op)
			return true;
	return false;
}

/*
 * Commands for another function: the kernel passes none on, and the firmware offers none
 * (vhca_tunnel_commands).
 */
static bool is_tunnelled(const struct emu_mbox *m)
{
	return emu_prm_get(m->in, EMU_CMD_IN_VHCA_TUNNEL_ID);
}

static int general(struct emu_cmd *c, struct emu_mbox *m)
{
	const struct emu_firmware_command *f = emu_firmware_by_opcode(EMU_DEVX_OTHER, m->opcode);

	if (m->opcode == EMU_CMD_QUERY_HCA_CAP)
		return f->handler(c, m, NULL);
	if (!c->file->devx_uid || !general_command(m->opcode))
		return -EINVAL;
	if (is_tunnelled(m))
		return emu_refuse(m, EMU_CMD_SYN_TUNNELLED);
	if (!f) /* one that drivers send too */
		f = emu_firmware_by_opcode(EMU_DEVX_DRIVER, m->opcode);
	return f ? f->handler(c, m, NULL) : emu_refuse(m, EMU_CMD_SYN_GENERAL_OPCODE);
}

static int devx_other(struct emu_cmd *c)
{
	struct emu_mbox m;
	int err;

	err = open_mailbox(c, A(OTHER_CMD_IN), A(OTHER_CMD_OUT), &m);
	return err ? err : emu_mbox_answer(c, A(OTHER_CMD_OUT), &m, general(c, &m));
}

/*
 * Commands that create an object (devx.c: devx_is_obj_create_cmd); the firmware refuses those that
 * it does not support.
 */
static bool creates_object(const struct emu_mbox *m)
{
	static const uint16_t known[] = {
		EMU_CMD_CREATE_MKEY,
		EMU_CMD_CREATE_CQ,
		EMU_CMD_CREATE_QP,
		EMU_CMD_CREATE_PSV,
		EMU_CMD_CREATE_SRQ,
		EMU_CMD_CREATE_XRC_SRQ,
		EMU_CMD_CREATE_DCT,
		EMU_CMD_CREATE_XRQ,
		EMU_CMD_ALLOC_Q_COUNTER,
		EMU_CMD_CREATE_SCHEDULING_ELEMENT,
		EMU_CMD_ALLOC_PD,
		EMU_CMD_ATTACH_TO_MCG,
		EMU_CMD_ALLOC_XRCD,
		EMU_CMD_ALLOC_TRANSPORT_DOMAIN,
		EMU_CMD_ADD_VXLAN_UDP_DPORT,
		EMU_CMD_SET_L2_TABLE_ENTRY,
		EMU_CMD_CREATE_TIR,
		EMU_CMD_CREATE_SQ,
		EMU_CMD_CREATE_RQ,
		EMU_CMD_CREATE_RMP,
		EMU_CMD_CREATE_TIS,
		EMU_CMD_CREATE_RQT,
		EMU_CMD_CREATE_FLOW_TABLE,
		EMU_CMD_CREATE_FLOW_GROUP,
		EMU_CMD_SET_FLOW_TABLE_ENTRY,
		EMU_CMD_ALLOC_FLOW_COUNTER,
		EMU_CMD_ALLOC_PACKET_REFORMAT,
		EMU_CMD_ALLOC_MODIFY_HEADER_CONTEXT,
		EMU_CMD_CREATE_GENERAL_OBJECT,
	};

	if (m->opcode == EMU_CMD_SET_FLOW_TABLE_ENTRY && m->op_mod)
		return false; /* it changes an entry */
	if (m->opcode == EMU_CMD_CREATE_PSV && emu_prm_get(m->in, EMU_CREATE_PSV_IN_NUM_PSV) != 1)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i] == m->opcode)
			return true;
	return false;
}

/*
 * The umems of a program's command are valid: devx_set_umem_valid(). Those of mkeys, which need not have one, are not
 * here.
 */
static void mark_umems(struct emu_mbox *m)
{
	static const struct {
		uint16_t opcode;
		int fields[2];
	} marks[] = {
		{EMU_CMD_CREATE_CQ,
		 {EMU_CREATE_CQ_IN_CQ_UMEM_VALID,
		  EMU_PRM_IN(EMU_CREATE_CQ_IN_CQC, EMU_CQC_DBR_UMEM_VALID)}},
		{EMU_CMD_CREATE_QP,
		 {EMU_CREATE_QP_IN_WQ_UMEM_VALID,
		  EMU_PRM_IN(EMU_CREATE_QP_IN_QPC, EMU_QPC_DBR_UMEM_VALID)}},
		{EMU_CMD_CREATE_RMP,
		 {EMU_PRM_IN(EMU_CREATE_RMP_IN_RMPC, EMU_PRM_IN(EMU_RMPC_WQ, EMU_WQ_UMEM_VALID)),
		  EMU_PRM_IN(EMU_CREATE_RMP_IN_RMPC,
			     EMU_PRM_IN(EMU_RMPC_WQ, EMU_WQ_DBR_UMEM_VALID))}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		for (size_t k = 0; m->opcode == marks[i].opcode && k < 2; k++)
			if (EMU_PRM_BIT(marks[i].fields[k]) / 8 < m->in_len)
				emu_prm_set(m->in, marks[i].fields[k], 1);
}

static int create(struct emu_cmd *c, struct emu_mbox *m)
{
	const struct emu_firmware_command *f =
		emu_firmware_by_type(EMU_DEVX_CREATE, m->opcode, m->op_mod);
	struct emu_uobj *o;
	int err;

	if (!c->file->devx_uid || !creates_object(m) || is_tunnelled(m))
		return -EINVAL;
	if (!f)
		return emu_refuse(m, EMU_CMD_SYN_CREATE_OPCODE);
	o = emu_uobj_new(c->file, f->type, f->size, f->undo);
	if (!o)
		return -ENOMEM;
	mark_umems(m);
	err = f->handler(c, m, o);
	if (err)
		emu_uobj_free(o);
	else
		emu_attr_new(c, A(OBJ_CREATE_HANDLE), o);
	return err;
}

static int devx_create(struct emu_cmd *c)
{
	struct emu_mbox m;
	int err;

	err = open_mailbox(c, A(OBJ_CREATE_CMD_IN), A(OBJ_CREATE_CMD_OUT), &m);
	if (err)
		return err;
	return emu_mbox_answer(c, A(OBJ_CREATE_CMD_OUT), &m, create(c, &m));
}

static int devx_destroy(struct emu_cmd *c)
{
	struct emu_uobj *o = emu_attr_obj(c, A(OBJ_DESTROY_HANDLE));

	if (o->type == EMU_T_DEVX_QP && !o->users &&
	    emu_let_send(c, ((struct emu_devx_qp *)o)->qpn))
		return -EAGAIN;
	if (o->type == EMU_T_DEVX_DCT && emu_let_send(c, ((struct emu_devx_dct *)o)->dctn))
		return -EAGAIN;
	return emu_firmware_created(o) ? emu_uobj_destroy(o) : -EINVAL;
}

/* MODIFY or QUERY of an object. */
static int act_on(struct emu_cmd *c, enum emu_devx_carrier carrier, struct emu_mbox *m,
		  struct emu_uobj *o)
{
	const struct emu_firmware_command *f = emu_firmware_on_object(carrier, m, o);

	if (!f || is_tunnelled(m) || (emu_is_verbs_dct(o) && m->opcode != EMU_CMD_QUERY_DCT))
		return -EINVAL;
	return f->handler(c, m, o);
}

static int devx_modify(struct emu_cmd *c)
{
	struct emu_uobj *o = emu_attr_obj(c, A(OBJ_MODIFY_HANDLE));
	struct emu_mbox m;
	int err;

	if (!c->file->devx_uid)
		return -EINVAL;
	err = open_mailbox(c, A(OBJ_MODIFY_CMD_IN), A(OBJ_MODIFY_CMD_OUT), &m);
	if (err)
		return err;
	return emu_mbox_answer(c, A(OBJ_MODIFY_CMD_OUT), &m, act_on(c, EMU_DEVX_MODIFY, &m, o));
}

static int devx_query(struct emu_cmd *c)
{
	struct emu_uobj *o = emu_attr_obj(c, A(OBJ_QUERY_HANDLE));
	struct emu_mbox m;
	int err;

	if (!c->file->devx_uid)
		return -EINVAL;
	err = open_mailbox(c, A(OBJ_QUERY_CMD_IN), A(OBJ_QUERY_CMD_OUT), &m);
	if (err)
		return err;
	return emu_mbox_answer(c, A(OBJ_QUERY_CMD_OUT), &m, act_on(c, EMU_DEVX_QUERY, &m, o));
}

/* The answer is ready at once, for the client to read later. */
static int devx_query_async(struct emu_cmd *c)
{
	struct emu_uobj *o = emu_attr_obj(c, A(OBJ_QUERY_ASYNC_HANDLE));
	struct emu_events *to = emu_events_find(c, emu_attr(c, A(OBJ_QUERY_ASYNC_FD))->data_s64,
						EMU_EVENTS_COMMANDS);
	struct emu_mbox m;
	int err;

	if (!to)
		return -EBADF;
	if (!c->file->devx_uid)
		return -EINVAL;
	err = emu_mbox_read(c, A(OBJ_QUERY_ASYNC_CMD_IN),
			    emu_attr_u64(c, A(OBJ_QUERY_ASYNC_OUT_LEN), 0), &m);
	if (err)
		return err;
	err = act_on(c, EMU_DEVX_QUERY, &m, o);
	if (!err || err == -EREMOTEIO)
		err = emu_devx_answer(to, emu_attr_u64(c, A(OBJ_QUERY_ASYNC_WR_ID), 0), &m);
	emu_mbox_release(&m);
	return err;
}

/*
 * The command is about the driver's doorbell pages, which a context with its own pages does not
 * have.
 */
static int query_uar(struct emu_cmd *c)
{
	(void)c;
	return -EINVAL; /* bfregn_to_uar_index() */
}

static int query_eqn(struct emu_cmd *c)
{
	uint64_t vector = emu_attr_u64(c, A(QUERY_EQN_USER_VEC), 0);

	if (vector >= EMU_COMP_VECTORS)
		return -ENOENT;
	return emu_attr_out_u32(c, A(QUERY_EQN_DEV_EQN), (uint32_t)vector + 1);
}

static const struct emu_field umem_fields[] = {
	EMU_IN("addr", A(UMEM_REG_ADDR), 8, EMU_ADDRESS),
	EMU_IN("length", A(UMEM_REG_LEN), 8, EMU_DECIMAL),
	EMU_IN("access", A(UMEM_REG_ACCESS), 4, EMU_ACCESS),
	EMU_OUT("id", A(UMEM_REG_OUT_ID), 4, EMU_DECIMAL),
	EMU_FIELDS_END,
};

static const struct emu_field other_fields[] = {
	EMU_MBOX_FIELD("opcode", A(OTHER_CMD_IN), EMU_CMD_IN_OPCODE, EMU_HEX),
	EMU_FIELDS_END,
};

static const struct emu_field create_fields[] = {
	EMU_MBOX_FIELD("opcode", A(OBJ_CREATE_CMD_IN), EMU_CMD_IN_OPCODE, EMU_HEX),
	EMU_FIELDS_END,
};

static const struct emu_field modify_fields[] = {
	EMU_MBOX_FIELD("opcode", A(OBJ_MODIFY_CMD_IN), EMU_CMD_IN_OPCODE, EMU_HEX),
	EMU_FIELDS_END,
};

static const struct emu_field query_fields[] = {
	EMU_MBOX_FIELD("opcode", A(OBJ_QUERY_CMD_IN), EMU_CMD_IN_OPCODE, EMU_HEX),
	EMU_FIELDS_END,
};

const struct emu_method emu_methods_devx[] = {
	{
		.command.name = "devx.other",
		.command.fields = other_fields,
		.object = MLX5_IB_OBJECT_DEVX,
		.method = MLX5_IB_METHOD_DEVX_OTHER,
		.handler = devx_other,
		.payload = devx_other_payload,
		.out_mailbox = A(OTHER_CMD_OUT),
		.attr = {{A(OTHER_CMD_IN), EMU_A_IN, true, EMU_MBOX_HDR},
			 {A(OTHER_CMD_OUT), EMU_A_OUT, true, EMU_MBOX_HDR}},
	},
	{
		.command.name = "devx.query-uar",
		.object = MLX5_IB_OBJECT_DEVX,
		.method = MLX5_IB_METHOD_DEVX_QUERY_UAR,
		.handler = query_uar,
		.attr = {{A(QUERY_UAR_USER_IDX), EMU_A_VALUE, true, 4},
			 {A(QUERY_UAR_DEV_IDX), EMU_A_RESULT, true, 4}},
	},
	{
		.command.name = "devx.query-eqn",
		.object = MLX5_IB_OBJECT_DEVX,
		.method = MLX5_IB_METHOD_DEVX_QUERY_EQN,
		.handler = query_eqn,
		.attr = {{A(QUERY_EQN_USER_VEC), EMU_A_VALUE, true, 4},
			 {A(QUERY_EQN_DEV_EQN), EMU_A_RESULT, true, 4}},
	},
	{
		.command.name = "devx.create",
		.command.fields = create_fields,
		.object = MLX5_IB_OBJECT_DEVX_OBJ,
		.method = MLX5_IB_METHOD_DEVX_OBJ_CREATE,
		.handler = devx_create,
		.payload = devx_create_payload,
		.out_mailbox = A(OBJ_CREATE_CMD_OUT),
		.attr = {{A(OBJ_CREATE_HANDLE), EMU_A_NEW, true, 0},
			 {A(OBJ_CREATE_CMD_IN), EMU_A_IN, true, EMU_MBOX_HDR},
			 {A(OBJ_CREATE_CMD_OUT), EMU_A_OUT, true, EMU_MBOX_HDR}},
	},
	{
		.command.name = "devx.destroy",
		.object = MLX5_IB_OBJECT_DEVX_OBJ,
		.method = MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
		.handler = devx_destroy,
		.attr = {{A(OBJ_DESTROY_HANDLE), EMU_A_OBJ, true, EMU_T_NONE}},
	},
	{
		.command.name = "devx.modify",
		.command.fields = modify_fields,
		.object = MLX5_IB_OBJECT_DEVX_OBJ,
		.method = MLX5_IB_METHOD_DEVX_OBJ_MODIFY,
		.handler = devx_modify,
		.out_mailbox = A(OBJ_MODIFY_CMD_OUT),
		.attr = {{A(OBJ_MODIFY_HANDLE), EMU_A_OBJ, true, EMU_T_NONE},
			 {A(OBJ_MODIFY_CMD_IN), EMU_A_IN, true, EMU_MBOX_HDR},
			 {A(OBJ_MODIFY_CMD_OUT), EMU_A_OUT, true, EMU_MBOX_HDR}},
	},
	{
		.command.name = "devx.query",
		.command.fields = query_fields,
		.object = MLX5_IB_OBJECT_DEVX_OBJ,
		.method = MLX5_IB_METHOD_DEVX_OBJ_QUERY,
		.handler = devx_query,
		.out_mailbox = A(OBJ_QUERY_CMD_OUT),
		.attr = {{A(OBJ_QUERY_HANDLE), EMU_A_OBJ, true, EMU_T_NONE},
			 {A(OBJ_QUERY_CMD_IN), EMU_A_IN, true, EMU_MBOX_HDR},
			 {A(OBJ_QUERY_CMD_OUT), EMU_A_OUT, true, EMU_MBOX_HDR}},
	},
	{
		.command.name = "devx.query-async",
		.object = MLX5_IB_OBJECT_DEVX_OBJ,
		.method = MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY,
		.handler = devx_query_async,
		.attr = {{A(OBJ_QUERY_ASYNC_HANDLE), EMU_A_OBJ, true, EMU_T_NONE},
			 {A(OBJ_QUERY_ASYNC_CMD_IN), EMU_A_IN, true, EMU_MBOX_HDR},
			 {A(OBJ_QUERY_ASYNC_FD), EMU_A_FD, true, 0},
			 {A(OBJ_QUERY_ASYNC_WR_ID), EMU_A_VALUE, true, 8},
			 {A(OBJ_QUERY_ASYNC_OUT_LEN), EMU_A_VALUE, true, 8}},
	},
	{
		.command.name = "devx.subscribe",
		.object = MLX5_IB_OBJECT_DEVX,
		.method = MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT,
		.handler = emu_devx_subscribe,
		.attr = {{A(SUBSCRIBE_EVENT_FD_HANDLE), EMU_A_FD, true, 0},
			 {A(SUBSCRIBE_EVENT_OBJ_HANDLE), EMU_A_OBJ, false, EMU_T_NONE},
			 {A(SUBSCRIBE_EVENT_TYPE_NUM_LIST), EMU_A_IN, true, 2},
			 {A(SUBSCRIBE_EVENT_FD_NUM), EMU_A_VALUE, false, 4},
			 {A(SUBSCRIBE_EVENT_COOKIE), EMU_A_VALUE, false, 8}},
	},
	{
		.command.name = "devx.create-events",
		.object = MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
		.method = MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
		.handler = emu_devx_event_file,
		.attr = {{A(ASYNC_EVENT_FD_ALLOC_HANDLE), EMU_A_NEWFD, true, 0},
			 {A(ASYNC_EVENT_FD_ALLOC_FLAGS), EMU_A_FLAGS, true, 0}},
	},
	{
		.command.name = "devx.create-answers",
		.object = MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
		.method = MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC,
		.handler = emu_devx_command_file,
		.attr = {{A(ASYNC_CMD_FD_ALLOC_HANDLE), EMU_A_NEWFD, true, 0}},
	},
	{
		.command.name = "umem.create",
		.command.fields = umem_fields,
		.object = MLX5_IB_OBJECT_DEVX_UMEM,
		.method = MLX5_IB_METHOD_DEVX_UMEM_REG,
		.handler = emu_devx_umem_reg,
		.attr = {{A(UMEM_REG_HANDLE), EMU_A_NEW, true, 0},
			 {A(UMEM_REG_ADDR), EMU_A_VALUE, true, 8},
			 {A(UMEM_REG_LEN), EMU_A_VALUE, true, 8},
			 {A(UMEM_REG_ACCESS), EMU_A_FLAGS, false, 0},
			 {A(UMEM_REG_OUT_ID), EMU_A_RESULT, true, 4},
			 {A(UMEM_REG_PGSZ_BITMAP), EMU_A_VALUE, false, 8},
			 {A(UMEM_REG_DMABUF_FD), EMU_A_VALUE, false, 0}},
	},
	{
		.command.name = "umem.destroy",
		.object = MLX5_IB_OBJECT_DEVX_UMEM,
		.method = MLX5_IB_METHOD_DEVX_UMEM_DEREG,
		.handler = emu_devx_umem_dereg,
		.attr = {{A(UMEM_DEREG_HANDLE), EMU_A_OBJ, true, EMU_T_UMEM}},
	},
	{.handler = NULL},
};
