/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DEVX: PRM commands in mailboxes. What the kernel driver filters is refused with EINVAL; what the
 * firmware would refuse fails with EREMOTEIO and a status in the out mailbox.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "devx.h"

static int read_mailbox(struct emu_cmd *c, uint16_t in, size_t out_len, struct emu_mbox *m)
{
	int err;

	memset(m, 0, sizeof(*m));
	err = emu_attr_in_dup(c, in, &m->in, &m->in_len);
	if (err)
		return err;
	m->out_len = out_len;
	if (m->in_len < EMU_MBOX_HDR || m->out_len < EMU_MBOX_HDR) {
		free(m->in);
		return -EINVAL;
	}
	m->opcode = (uint16_t)emu_prm_get(m->in, 0, 16);
	m->op_mod = (uint16_t)emu_prm_get(m->in, EMU_PRM_BYTE(6), 16);
	return 0;
}

static int open_mailbox(struct emu_cmd *c, uint16_t in, uint16_t out, struct emu_mbox *m)
{
	return read_mailbox(c, in, emu_attr_len(c, out), m);
}

/* The mailbox may carry an access key: it does not stay behind in freed memory. */
static int close_mailbox(struct emu_cmd *c, uint16_t out, struct emu_mbox *m, int err)
{
	int e = 0;

	if (!err || err == -EREMOTEIO)
		e = emu_attr_out(c, out, m->out,
				 m->out_len < EMU_MBOX_OUT ? m->out_len : EMU_MBOX_OUT);
	explicit_bzero(m->in, m->in_len);
	free(m->in);
	return err ? err : e;
}

int emu_refuse(struct emu_mbox *m, uint8_t status, uint32_t syndrome)
{
	memset(m->out, 0, sizeof(m->out));
	m->out[0] = status;
	emu_prm_set(m->out, EMU_PRM_BYTE(4), 32, syndrome);
	return -EREMOTEIO;
}

/* --- the uverbs methods --------------------------------------------------------------------------
 */

#define A(n) MLX5_IB_ATTR_DEVX_##n

/* Opcodes that the kernel lets through (devx.c: devx_is_general_cmd), beside those we execute. */
static bool general_command(uint16_t op)
{
	static const uint16_t known[] = {0x101, 0x10a, 0x73a, 0x740, 0x750, 0x754, 0x762,
					 0x76a, 0x770, 0x824, 0x842, 0x83d, 0x80d, 0x752};
	size_t i;

	if (op >= 0xb00 && op < 0xd00)
		return true;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] == op)
			return true;
	return false;
}

/* Commands for another function: the kernel lets none through, and the firmware offers none
 * (vhca_tunnel_commands). */
static bool is_tunnelled(const struct emu_mbox *m)
{
	return emu_prm_get(m->in, EMU_PRM_BYTE(4), 16);
}

static int devx_other(struct emu_cmd *c)
{
	struct emu_mbox m;
	int err;

	err = open_mailbox(c, A(OTHER_CMD_IN), A(OTHER_CMD_OUT), &m);
	if (err)
		return err;
	if (m.opcode == EMU_CMD_QUERY_HCA_CAP)
		err = emu_devx_query_hca_cap(c->file->func, &m);
	else if (!c->file->devx_uid || !general_command(m.opcode))
		err = -EINVAL;
	else if (is_tunnelled(&m))
		err = emu_refuse(&m, EMU_STATUS_BAD_PARAM, 0x43);
	else if (m.opcode == EMU_CMD_ALLOW_OTHER_VHCA_ACCESS)
		err = emu_devx_allow_access(c, &m);
	else if (m.opcode == EMU_CMD_QUERY_ESW_FUNCTIONS)
		err = emu_devx_query_esw_functions(c->file->func, &m);
	else
		err = emu_refuse(&m, EMU_STATUS_BAD_OP, 0x40);
	return close_mailbox(c, A(OTHER_CMD_OUT), &m, err);
}

/* Of which the firmware refuses what it does not know (devx.c: devx_is_obj_create_cmd). */
static bool creates_object(const struct emu_mbox *m)
{
	static const uint16_t known[] = {
		0x200, 0x400, 0x500, 0x600, 0x700, 0x705, 0x710, 0x717, 0x771, 0x782,
		0x800, 0x806, 0x80e, 0x816, 0x827, 0x829, 0x900, 0x904, 0x908, 0x90c,
		0x912, 0x916, 0x930, 0x933, 0x936, 0x939, 0x93d, 0x940, 0xa00,
	};
	size_t i;

	if (m->opcode == 0x936 && emu_prm_get(m->in, EMU_PRM_BYTE(6), 16))
		return false; /* SET_FLOW_TABLE_ENTRY that changes one */
	if (m->opcode == 0x600 && emu_prm_get(m->in, 0x48, 4) != 1)
		return false; /* CREATE_PSV of more than one */
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] == m->opcode)
			return true;
	return false;
}

static const struct creation {
	uint16_t opcode;
	uint16_t general; /* CREATE_GENERAL_OBJECT: of this type */
	enum emu_type type;
	size_t size;
	int (*create)(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o);
} creations[] = {
	{EMU_CMD_CREATE_MKEY, 0, EMU_T_DEVX_MKEY, sizeof(struct emu_devx), emu_devx_create_mkey},
	{EMU_CMD_CREATE_GENERAL_OBJECT, EMU_OBJ_TYPE_MKEY, EMU_T_DEVX_ALIAS,
	 sizeof(struct emu_devx), emu_devx_create_alias},
	{EMU_CMD_CREATE_CQ, 0, EMU_T_DEVX_CQ, sizeof(struct emu_devx_cq), emu_devx_create_cq},
	{EMU_CMD_CREATE_QP, 0, EMU_T_DEVX_QP, sizeof(struct emu_devx_qp), emu_devx_create_qp},
	{EMU_CMD_CREATE_RMP, 0, EMU_T_DEVX_RMP, sizeof(struct emu_devx_rmp), emu_devx_create_rmp},
	{EMU_CMD_ALLOC_FLOW_COUNTER, 0, EMU_T_DEVX_COUNTER, sizeof(struct emu_devx),
	 emu_devx_alloc_counter},
};

#define NCREATIONS (sizeof(creations) / sizeof(creations[0]))

static const struct creation *find_creation(const struct emu_mbox *m)
{
	size_t i;

	for (i = 0; i < NCREATIONS; i++)
		if (creations[i].opcode == m->opcode &&
		    (!creations[i].general ||
		     creations[i].general == emu_prm_get(m->in, EMU_PRM_BYTE(6), 16)))
			return &creations[i];
	return NULL;
}

static int create(struct emu_cmd *c, struct emu_mbox *m)
{
	const struct creation *how = find_creation(m);
	struct emu_uobj *o;
	int err;

	if (!c->file->devx_uid || !creates_object(m) || is_tunnelled(m))
		return -EINVAL;
	if (!how)
		return emu_refuse(m, EMU_STATUS_BAD_OP, 0x41);
	o = emu_uobj_new(c->file, how->type, how->size);
	if (!o)
		return -ENOMEM;
	err = how->create(c, m, o);
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
	return close_mailbox(c, A(OBJ_CREATE_CMD_OUT), &m, create(c, &m));
}

static int devx_destroy(struct emu_cmd *c)
{
	struct emu_uobj *o = emu_attr_obj(c, A(OBJ_DESTROY_HANDLE));
	size_t i;

	if (o->type == EMU_T_DEVX_QP && !o->users)
		emu_let_send(c, &emu.queues->qp[((struct emu_devx_qp *)o)->qpn]);
	for (i = 0; i < NCREATIONS; i++)
		if (creations[i].type == o->type)
			return emu_uobj_destroy(o);
	return -EINVAL;
}

/* libmlx5 switches MMO on for a verbs QP this way (INIT2INIT with the QP context extension). */
static int init2init(const struct emu_func *f, uint32_t qpn, struct emu_mbox *m)
{
	struct emu_qp *q = &emu.queues->qp[qpn];
	uint64_t mask;

	if (emu_prm_get(m->in, EMU_PRM_BYTE(9), 24) != qpn)
		return -EINVAL; /* the kernel compares it with the handle's */
	if (m->in_len < 0x114)
		return emu_refuse(m, EMU_STATUS_BAD_INP_LEN, 0x50);
	if (atomic_load(&q->state) != EMU_QPS_INIT)
		return emu_refuse(m, EMU_STATUS_BAD_QP_STATE, 0x51);
	mask = emu_prm_get(m->in, EMU_PRM_BYTE(0x108), 64);
	if (!emu_prm_get(m->in, 0x40, 1) || mask & ~(uint64_t)8)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x52);
	if (mask & 8) {
		if (!f->card->profile->log_max_dma_mmo)
			return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x53);
		q->mmo = (uint8_t)emu_prm_get(m->in, EMU_PRM_BYTE(0x110) + 2, 1);
	}
	return 0;
}

static int modify(struct emu_cmd *c, struct emu_uobj *o, struct emu_mbox *m)
{
	struct emu_devx_qp *qp = (struct emu_devx_qp *)o;

	if (is_tunnelled(m))
		return -EINVAL;
	if (o->type == EMU_T_DEVX_QP && m->opcode == EMU_CMD_INIT2INIT_QP)
		return init2init(c->file->func, qp->qpn, m);
	if (o->type == EMU_T_DEVX_QP)
		return emu_devx_modify_qp(c->file->func, qp, m);
	if (o->type == EMU_T_QP && m->opcode == EMU_CMD_INIT2INIT_QP)
		return init2init(c->file->func, ((struct emu_qp_obj *)o)->qpn, m);
	if (o->type == EMU_T_QP)
		return emu_devx_modify_verbs_qp(c->file->func, (struct emu_qp_obj *)o, m);
	return -EINVAL;
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
	return close_mailbox(c, A(OBJ_MODIFY_CMD_OUT), &m, modify(c, o, &m));
}

static int query(struct emu_uobj *o, struct emu_mbox *m)
{
	const struct emu_devx_qp *qp = (struct emu_devx_qp *)o;

	if (is_tunnelled(m))
		return -EINVAL;
	if (m->opcode == EMU_CMD_QUERY_MKEY && o->type == EMU_T_DEVX_MKEY)
		return emu_devx_query_mkey((struct emu_devx *)o, m);
	if (m->opcode == EMU_CMD_QUERY_GENERAL_OBJECT && o->type == EMU_T_DEVX_ALIAS)
		return emu_devx_query_alias((struct emu_devx *)o, m);
	if (m->opcode == EMU_CMD_QUERY_FLOW_COUNTER && o->type == EMU_T_DEVX_COUNTER)
		return emu_devx_query_counter((struct emu_devx *)o, m);
	if (m->opcode == EMU_CMD_QUERY_CQ && o->type == EMU_T_DEVX_CQ)
		return emu_devx_query_cq((struct emu_devx_cq *)o, m);
	if (m->opcode == EMU_CMD_QUERY_QP && o->type == EMU_T_DEVX_QP)
		return emu_devx_query_qp(qp->qpn, qp->qpc, m);
	if (m->opcode == EMU_CMD_QUERY_QP && o->type == EMU_T_QP)
		return emu_devx_query_verbs_qp((struct emu_qp_obj *)o, m);
	return -EINVAL;
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
	return close_mailbox(c, A(OBJ_QUERY_CMD_OUT), &m, query(o, &m));
}

/* The answer is there at once; the client reads it when it likes. */
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
	err = read_mailbox(c, A(OBJ_QUERY_ASYNC_CMD_IN),
			   emu_attr_u64(c, A(OBJ_QUERY_ASYNC_OUT_LEN), 0), &m);
	if (err)
		return err;
	err = query(o, &m);
	if (!err || err == -EREMOTEIO)
		err = emu_devx_answer(to, emu_attr_u64(c, A(OBJ_QUERY_ASYNC_WR_ID), 0), &m);
	free(m.in);
	return err;
}

/* It is about the driver's doorbell pages, and a context with pages of its own has none of those.
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
		return -EINVAL;
	return emu_attr_out_u32(c, A(QUERY_EQN_DEV_EQN), (uint32_t)vector + 1);
}

#define OBJ MLX5_IB_OBJECT_DEVX_OBJ

const struct emu_method emu_methods_devx[] = {
	{MLX5_IB_OBJECT_DEVX,
	 MLX5_IB_METHOD_DEVX_OTHER,
	 devx_other,
	 {{A(OTHER_CMD_IN), EMU_A_IN, true, EMU_MBOX_HDR},
	  {A(OTHER_CMD_OUT), EMU_A_OUT, true, EMU_MBOX_HDR}}},
	{MLX5_IB_OBJECT_DEVX,
	 MLX5_IB_METHOD_DEVX_QUERY_UAR,
	 query_uar,
	 {{A(QUERY_UAR_USER_IDX), EMU_A_IN, true, 4}, {A(QUERY_UAR_DEV_IDX), EMU_A_OUT, true, 4}}},
	{MLX5_IB_OBJECT_DEVX,
	 MLX5_IB_METHOD_DEVX_QUERY_EQN,
	 query_eqn,
	 {{A(QUERY_EQN_USER_VEC), EMU_A_IN, true, 4}, {A(QUERY_EQN_DEV_EQN), EMU_A_OUT, true, 4}}},
	{OBJ,
	 MLX5_IB_METHOD_DEVX_OBJ_CREATE,
	 devx_create,
	 {{A(OBJ_CREATE_HANDLE), EMU_A_NEW, true, 0},
	  {A(OBJ_CREATE_CMD_IN), EMU_A_IN, true, EMU_MBOX_HDR},
	  {A(OBJ_CREATE_CMD_OUT), EMU_A_OUT, true, EMU_MBOX_HDR}}},
	{OBJ,
	 MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
	 devx_destroy,
	 {{A(OBJ_DESTROY_HANDLE), EMU_A_OBJ, true, EMU_T_NONE}}},
	{OBJ,
	 MLX5_IB_METHOD_DEVX_OBJ_MODIFY,
	 devx_modify,
	 {{A(OBJ_MODIFY_HANDLE), EMU_A_OBJ, true, EMU_T_NONE},
	  {A(OBJ_MODIFY_CMD_IN), EMU_A_IN, true, EMU_MBOX_HDR},
	  {A(OBJ_MODIFY_CMD_OUT), EMU_A_OUT, true, EMU_MBOX_HDR}}},
	{OBJ,
	 MLX5_IB_METHOD_DEVX_OBJ_QUERY,
	 devx_query,
	 {{A(OBJ_QUERY_HANDLE), EMU_A_OBJ, true, EMU_T_NONE},
	  {A(OBJ_QUERY_CMD_IN), EMU_A_IN, true, EMU_MBOX_HDR},
	  {A(OBJ_QUERY_CMD_OUT), EMU_A_OUT, true, EMU_MBOX_HDR}}},
	{OBJ,
	 MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY,
	 devx_query_async,
	 {{A(OBJ_QUERY_ASYNC_HANDLE), EMU_A_OBJ, true, EMU_T_NONE},
	  {A(OBJ_QUERY_ASYNC_CMD_IN), EMU_A_IN, true, EMU_MBOX_HDR},
	  {A(OBJ_QUERY_ASYNC_FD), EMU_A_FD, true, 0},
	  {A(OBJ_QUERY_ASYNC_WR_ID), EMU_A_IN, true, 8},
	  {A(OBJ_QUERY_ASYNC_OUT_LEN), EMU_A_IN, true, 2}}},
	{MLX5_IB_OBJECT_DEVX,
	 MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT,
	 emu_devx_subscribe,
	 {{A(SUBSCRIBE_EVENT_FD_HANDLE), EMU_A_FD, true, 0},
	  {A(SUBSCRIBE_EVENT_OBJ_HANDLE), EMU_A_OBJ, false, EMU_T_NONE},
	  {A(SUBSCRIBE_EVENT_TYPE_NUM_LIST), EMU_A_IN, true, 2},
	  {A(SUBSCRIBE_EVENT_FD_NUM), EMU_A_IN, false, 4},
	  {A(SUBSCRIBE_EVENT_COOKIE), EMU_A_IN, false, 8}}},
	{MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
	 MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
	 emu_devx_event_file,
	 {{A(ASYNC_EVENT_FD_ALLOC_HANDLE), EMU_A_NEWFD, true, 0},
	  {A(ASYNC_EVENT_FD_ALLOC_FLAGS), EMU_A_IN, true, 4}}},
	{MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
	 MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC,
	 emu_devx_command_file,
	 {{A(ASYNC_CMD_FD_ALLOC_HANDLE), EMU_A_NEWFD, true, 0}}},
	{MLX5_IB_OBJECT_DEVX_UMEM,
	 MLX5_IB_METHOD_DEVX_UMEM_REG,
	 emu_devx_umem_reg,
	 {{A(UMEM_REG_HANDLE), EMU_A_NEW, true, 0},
	  {A(UMEM_REG_ADDR), EMU_A_IN, true, 8},
	  {A(UMEM_REG_LEN), EMU_A_IN, true, 8},
	  {A(UMEM_REG_ACCESS), EMU_A_IN, true, 4},
	  {A(UMEM_REG_OUT_ID), EMU_A_OUT, true, 4},
	  {A(UMEM_REG_PGSZ_BITMAP), EMU_A_IN, false, 8},
	  {A(UMEM_REG_DMABUF_FD), EMU_A_IN, false, 0}}},
	{MLX5_IB_OBJECT_DEVX_UMEM,
	 MLX5_IB_METHOD_DEVX_UMEM_DEREG,
	 emu_devx_umem_dereg,
	 {{A(UMEM_DEREG_HANDLE), EMU_A_OBJ, true, EMU_T_UMEM}}},
	{0, 0, NULL, {{0, 0, false, 0}}},
};
