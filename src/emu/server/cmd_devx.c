/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DEVX: PRM commands in mailboxes. What the kernel driver filters is refused with EINVAL; what the
 * firmware would refuse fails with EREMOTEIO and a status in the out mailbox.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "prm.h"

#define UID_BYTE	2
#define HDR_BYTES	16
#define OUT_MAX		0x1010u
#define MKC_BYTES	64u
#define MKEY_IN_BYTES	0x110u
#define MAX_KLM_ENTRIES 4096u
#define ALIAS_IN_BYTES	0x50u

/* An in and an out mailbox while a command runs. */
struct mailbox {
	uint8_t *in;
	size_t in_len;
	uint8_t out[OUT_MAX];
	size_t out_len;
	uint16_t opcode, op_mod;
};

static int open_mailbox(struct emu_cmd *c, uint16_t in, uint16_t out, struct mailbox *m)
{
	int err;

	memset(m, 0, sizeof(*m));
	err = emu_attr_in_dup(c, in, &m->in, &m->in_len);
	if (err)
		return err;
	m->out_len = emu_attr_len(c, out);
	if (m->in_len < HDR_BYTES || m->out_len < HDR_BYTES) {
		free(m->in);
		return -EINVAL;
	}
	m->opcode = (uint16_t)emu_prm_get(m->in, 0, 16);
	m->op_mod = (uint16_t)emu_prm_get(m->in, EMU_PRM_BYTE(6), 16);
	return 0;
}

/* The mailbox may carry an access key: it does not stay behind in freed memory. */
static int close_mailbox(struct emu_cmd *c, uint16_t out, struct mailbox *m, int err)
{
	int e = 0;

	if (!err || err == -EREMOTEIO)
		e = emu_attr_out(c, out, m->out, m->out_len < OUT_MAX ? m->out_len : OUT_MAX);
	explicit_bzero(m->in, m->in_len);
	free(m->in);
	return err ? err : e;
}

static int refuse(struct mailbox *m, uint8_t status, uint32_t syndrome)
{
	memset(m->out, 0, sizeof(m->out));
	m->out[0] = status;
	emu_prm_set(m->out, EMU_PRM_BYTE(4), 32, syndrome);
	return -EREMOTEIO;
}

/* --- capabilities --------------------------------------------------------------------------------
 */

struct field {
	uint16_t bit, width;
	uint64_t value;
};

static void set_fields(uint8_t *page, const struct field *f, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		emu_prm_set(page, f[i].bit, f[i].width, f[i].value);
}

#define SET(page, fields) set_fields(page, fields, sizeof(fields) / sizeof((fields)[0]))

static void general_caps(const struct emu_func *f, uint8_t *page)
{
	const struct emu_profile *p = f->card->profile;
	const struct field fields[] = {
		{0x20, 1, p->crossing}, /* hca_cap_2 */
		{0x30, 16, f->vhca_id}, /* vhca_id */
		{0x6b, 5, p->log_max_dma_mmo},
		{0x88, 8, 15},			     /* log_max_qp_sz */
		{0x9b, 5, 13},			     /* log_max_qp */
		{0xc8, 8, 22},			     /* log_max_cq_sz */
		{0xdb, 5, 13},			     /* log_max_cq */
		{0xea, 6, 16},			     /* log_max_mkey */
		{0x100, 8, 4},			     /* max_indirection */
		{0x108, 1, 1},			     /* fixed_buffer_size: KSM */
		{0x11a, 6, 12},			     /* log_max_klm_list_size */
		{0x122, 1, p->log_max_dma_mmo != 0}, /* qpc_extension */
		{0x14a, 6, 4},			     /* log_max_ra_req_qp */
		{0x15a, 6, 4},			     /* log_max_ra_res_qp */
		{0x170, 16, EMU_GIDS},		     /* gid_table_size */
		{0x1a8, 1, p->max_dm_size != 0},     /* device_memory */
		{0x1b6, 2, 1},			     /* port_type: Ethernet */
		{0x1b8, 8, EMU_PORTS},		     /* num_ports */
		{0x1c3, 5, 30},			     /* log_max_msg */
		{0x1fc, 4, 1},			     /* cqe_version */
		{0x208, 1, 1},			     /* umr_modify_atomic_disabled */
		{0x209, 1, 1},			     /* umr_indirect_mkey_disabled */
		{0x21e, 1, 1},			     /* atomic */
		{0x240, 1, 1},			     /* uar_4k */
		{0x26b, 5, 9},			     /* log_bf_reg_size */
		{0x290, 16, 1024},		     /* max_wqe_sz_sq */
		{0x2b0, 16, 512},		     /* max_wqe_sz_rq */
		{0x5b2, 1, p->crossing},	     /* crossing_vhca_mkey */
		{0x748, 1, p->log_max_dma_mmo != 0}, /* dma_mmo_qp */
	};

	SET(page, fields);
}

static void general_2_caps(const struct emu_func *f, uint8_t *page)
{
	const struct field fields[] = {
		{EMU_PRM_BYTE(0x1c), 32, 0x100}, /* LOCAL_MKEY_TO_REMOTE_MKEY */
		{EMU_PRM_BYTE(0x20), 64, 0x4},	 /* others may be given access to: MKEY */
	};

	if (f->card->profile->crossing)
		SET(page, fields);
}

static void atomic_caps(const struct emu_func *f, uint8_t *page)
{
	static const struct field fields[] = {
		{0x40, 2, 1},  /* atomic_req_8B_endianness_mode: host order */
		{0x46, 1, 1},  /* supported_mode_1 */
		{0x90, 16, 3}, /* compare and swap, fetch and add */
		{0xb0, 16, 8}, /* atomic_size_qp */
	};

	(void)f;
	SET(page, fields);
}

static void dm_caps(const struct emu_func *f, uint8_t *page)
{
	const struct emu_card *card = f->card;
	const struct field fields[] = {
		{0x0, 1, 1},  /* memic */
		{0x2b, 5, 6}, /* log_min_memic_alloc_size */
		{0x38, 8, EMU_LOG_MAX_DM_ALIGN},
		{0x80, 32, card->dm_npages * EMU_PAGE}, /* memic_bar_size */
		{0xa0, 32, card->profile->max_dm_size},
	};

	if (card->profile->max_dm_size)
		SET(page, fields);
}

static int query_hca_cap(const struct emu_func *f, struct mailbox *m)
{
	static const struct {
		uint16_t cap;
		void (*fill)(const struct emu_func *f, uint8_t *page);
	} pages[] = {
		{EMU_CAP_GENERAL, general_caps},
		{EMU_CAP_GENERAL_2, general_2_caps},
		{EMU_CAP_ATOMIC, atomic_caps},
		{EMU_CAP_DEVICE_MEMORY, dm_caps},
	};
	size_t i;

	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		if (pages[i].cap != m->op_mod >> 1)
			continue;
		pages[i].fill(f, m->out + HDR_BYTES);
		return 0;
	}
	return refuse(m, EMU_STATUS_BAD_PARAM, 0x1);
}

/* --- cross-VHCA ----------------------------------------------------------------------------------
 */

/* Access keys of granted mkeys: the firmware's own memory, never shared with an engine. */
static struct {
	uint8_t key[EMU_ACCESS_KEY_BYTES];
	uint16_t owner_uid;
} grants[EMU_MAX_MKEYS];

static bool live_mkey(uint64_t index, const struct emu_func *f)
{
	return index < EMU_MAX_MKEYS && atomic_load(&emu.tables->mkey[index].serial) &&
	       emu.tables->mkey[index].func == f->index;
}

static int allow_access(const struct emu_cmd *c, struct mailbox *m)
{
	uint64_t type, index;

	if (m->in_len < 0x40)
		return refuse(m, EMU_STATUS_BAD_INP_LEN, 0x2);
	type = emu_prm_get(m->in, EMU_PRM_BYTE(0x12), 16);
	index = emu_prm_get(m->in, EMU_PRM_BYTE(0x14), 32);
	if (!c->file->func->card->profile->crossing)
		return refuse(m, EMU_STATUS_BAD_OP, 0x3);
	if (type != EMU_OBJ_TYPE_MKEY)
		return refuse(m, EMU_STATUS_BAD_PARAM, 0x4);
	/* Only an object of the same user (uid): kernel-made mkeys and those of others are not
	 * theirs. */
	if (!live_mkey(index, c->file->func) || grants[index].owner_uid != c->file->devx_uid)
		return refuse(m, EMU_STATUS_BAD_RES, 0x5);
	memcpy(grants[index].key, m->in + 0x20, EMU_ACCESS_KEY_BYTES);
	emu.tables->mkey[index].shared = 1;
	return 0;
}

static bool same_key(const uint8_t *a, const uint8_t *b)
{
	unsigned int diff = 0, i;

	for (i = 0; i < EMU_ACCESS_KEY_BYTES; i++)
		diff |= (unsigned int)(a[i] ^ b[i]);
	return !diff;
}

static const struct emu_pd *pd_by_number(const struct emu_file *f, uint32_t pdn)
{
	unsigned int i;

	for (i = 0; i < f->nobjs; i++)
		if (f->objs[i] && f->objs[i]->type == EMU_T_PD &&
		    ((const struct emu_pd *)f->objs[i])->pdn == pdn)
			return (const struct emu_pd *)f->objs[i];
	return NULL;
}

/*
 * What is wrong with an alias request is not told apart: a peer that guesses learns nothing from
 * the answer. (Real firmware's answer to a wrong key is not documented; it may also be an alias
 * in a bad state, which a careful importer checks for too.)
 */
static int create_alias(struct emu_cmd *c, struct mailbox *m, struct emu_devx *d)
{
	const uint8_t *ctx = m->in + HDR_BYTES;
	const struct emu_func *owner;
	struct emu_mkey alias = {0};
	uint32_t pdn, key;
	uint64_t index;

	if (m->in_len < ALIAS_IN_BYTES)
		return refuse(m, EMU_STATUS_BAD_INP_LEN, 0x10);
	if (m->out_len < HDR_BYTES + 64)
		return refuse(m, EMU_STATUS_BAD_OUTP_LEN, 0x11);
	if (!emu_prm_get(m->in, EMU_PRM_BYTE(0xc), 1) || !c->file->func->card->profile->crossing)
		return refuse(m, EMU_STATUS_BAD_OP, 0x12);
	owner = emu_func_by_vhca(c->file->func->card, (uint16_t)emu_prm_get(ctx, 0, 16));
	index = emu_prm_get(ctx, EMU_PRM_BYTE(4), 32);
	pdn = (uint32_t)emu_prm_get(ctx, EMU_PRM_BYTE(0x30), 32);
	if (!owner || !live_mkey(index, owner) || !emu.tables->mkey[index].shared ||
	    !same_key(grants[index].key, ctx + 0x10))
		return refuse(m, EMU_STATUS_BAD_PARAM, 0x13);
	if (!pd_by_number(c->file, pdn))
		return refuse(m, EMU_STATUS_BAD_RES, 0x14);
	alias.mode = EMU_MKEY_ALIAS;
	alias.func = c->file->func->index;
	alias.pdn = pdn;
	alias.start = emu.tables->mkey[index].start;
	alias.len = emu.tables->mkey[index].len;
	alias.u.alias.index = (uint32_t)index;
	alias.u.alias.serial = atomic_load(&emu.tables->mkey[index].serial);
	key = emu_mkey_create(&alias, false);
	if (!key)
		return refuse(m, EMU_STATUS_LIM, 0x15);
	d->index = key >> 8;
	emu_prm_set(m->out, EMU_PRM_BYTE(8), 32, d->index);
	memcpy(m->out + HDR_BYTES, ctx, 16); /* the context comes back, the access key does not */
	emu_prm_set(m->out + HDR_BYTES, 29, 3, 0); /* alias status: good */
	return 0;
}

/* --- mkeys ---------------------------------------------------------------------------------------
 */

enum { MODE_MTT = 1, MODE_KLM = 2, MODE_KSM = 3 };

static uint32_t mkc_rights(const uint8_t *mkc)
{
	return (emu_prm_get(mkc, 0x11, 1) ? EMU_RA : 0) | (emu_prm_get(mkc, 0x12, 1) ? EMU_RW : 0) |
	       (emu_prm_get(mkc, 0x13, 1) ? EMU_RR : 0) | (emu_prm_get(mkc, 0x14, 1) ? EMU_LW : 0) |
	       (emu_prm_get(mkc, 0x15, 1) ? EMU_LR : 0);
}

static int fill_klm(struct mailbox *m, struct emu_mkey *k)
{
	uint64_t count = emu_prm_get(m->in, EMU_PRM_BYTE(0x60), 32), i, space = 0;
	const uint8_t *e = m->in + MKEY_IN_BYTES;
	struct emu_klm *klm;

	if (!count || count > MAX_KLM_ENTRIES || m->in_len < MKEY_IN_BYTES + count * 16)
		return refuse(m, EMU_STATUS_BAD_PARAM, 0x20);
	k->u.klm.count = (uint32_t)count;
	k->u.klm.first = emu_klm_alloc(k->u.klm.count);
	if (k->u.klm.first == UINT32_MAX)
		return refuse(m, EMU_STATUS_LIM, 0x21);
	for (i = 0; i < count; i++, e += 16) {
		klm = &emu.tables->klm[k->u.klm.first + i];
		klm->bytes = (uint32_t)emu_prm_get(e, 0, 32);
		klm->key = (uint32_t)emu_prm_get(e, 32, 32);
		klm->addr = emu_prm_get(e, 64, 64);
		space += k->mode == EMU_MKEY_KSM ? 1ull << k->log_entity : klm->bytes;
	}
	if (space >= k->len)
		return 0;
	emu_klm_free(k->u.klm.first, k->u.klm.count);
	return refuse(m, EMU_STATUS_BAD_PARAM, 0x22);
}

static struct emu_umem *umem_by_id(const struct emu_file *f, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < f->nobjs; i++)
		if (f->objs[i] && f->objs[i]->type == EMU_T_UMEM &&
		    ((struct emu_umem *)f->objs[i])->id == id)
			return (struct emu_umem *)f->objs[i];
	return NULL;
}

static int fill_mtt(struct emu_cmd *c, struct mailbox *m, struct emu_mkey *k, struct emu_devx *d)
{
	uint64_t off = emu_prm_get(m->in, EMU_PRM_BYTE(0x68), 64);
	uint32_t allowed;

	d->umem = umem_by_id(c->file, emu_prm_get(m->in, EMU_PRM_BYTE(0x64), 32));
	if (!d->umem)
		return refuse(m, EMU_STATUS_BAD_RES, 0x23);
	if (off > d->umem->len || k->len > d->umem->len - off)
		return refuse(m, EMU_STATUS_BAD_PARAM, 0x24);
	allowed = emu_rights_of_access(d->umem->access);
	k->rights &= allowed | EMU_RR |
		     (d->umem->access & IB_UVERBS_ACCESS_LOCAL_WRITE ? EMU_RW | EMU_RA : 0u);
	if (d->umem->dmabuf.id) {
		emu_dmabuf_describe(&d->umem->dmabuf, d->umem->addr + off, k);
		return 0;
	}
	k->u.mem.addr = d->umem->addr + off;
	k->u.mem.pid = d->umem->pid;
	return 0;
}

static int fill_mkey(struct emu_cmd *c, struct mailbox *m, struct emu_mkey *k, struct emu_devx *d)
{
	const uint8_t *mkc = m->in + HDR_BYTES;
	uint64_t mode = emu_prm_get(mkc, 0x3, 3) << 2 | emu_prm_get(mkc, 0x16, 2);

	k->func = c->file->func->index;
	k->rights = mkc_rights(mkc);
	k->pdn = (uint32_t)emu_prm_get(mkc, 0x68, 24);
	k->tag = (uint8_t)emu_prm_get(mkc, 0x38, 8);
	k->start = emu_prm_get(mkc, 0x80, 64);
	k->len = emu_prm_get(mkc, 0xc0, 64);
	k->log_entity = (uint32_t)emu_prm_get(mkc, 0x1db, 5);
	if (!pd_by_number(c->file, k->pdn))
		return refuse(m, EMU_STATUS_BAD_RES, 0x25);
	if (emu_prm_get(mkc, 0x1, 1) || emu_prm_get(mkc, 0x60, 1) || !k->len ||
	    k->start + k->len - 1 < k->start)
		return refuse(m, EMU_STATUS_BAD_PARAM, 0x26);
	switch (mode) {
	case MODE_MTT:
		k->mode = EMU_MKEY_MEM;
		return fill_mtt(c, m, k, d);
	case MODE_KLM:
		k->mode = EMU_MKEY_KLM;
		return fill_klm(m, k);
	case MODE_KSM:
		k->mode = EMU_MKEY_KSM;
		return fill_klm(m, k);
	default:
		return refuse(m, EMU_STATUS_BAD_PARAM, 0x27);
	}
}

static void free_klm(const struct emu_mkey *k)
{
	if (k->mode == EMU_MKEY_KLM || k->mode == EMU_MKEY_KSM)
		emu_klm_free(k->u.klm.first, k->u.klm.count);
}

static int create_mkey(struct emu_cmd *c, struct mailbox *m, struct emu_devx *d)
{
	struct emu_mkey k = {0};
	uint32_t key;
	int err;

	if (m->in_len < HDR_BYTES + MKC_BYTES)
		return -EINVAL; /* the kernel looks at the context */
	if (m->in_len < MKEY_IN_BYTES)
		return refuse(m, EMU_STATUS_BAD_INP_LEN, 0x28);
	err = fill_mkey(c, m, &k, d);
	if (err)
		return err;
	key = emu_mkey_create(&k, false);
	if (!key) {
		free_klm(&k);
		return refuse(m, EMU_STATUS_LIM, 0x29);
	}
	d->index = key >> 8;
	if (d->umem)
		d->umem->obj.users++;
	grants[d->index].owner_uid = c->file->devx_uid;
	emu_prm_set(m->out, EMU_PRM_BYTE(9), 24, d->index);
	return 0;
}

int emu_devx_undo(struct emu_uobj *o)
{
	struct emu_devx *d = (struct emu_devx *)o;
	struct emu_mkey k;

	if (!d->index)
		return 0;
	memcpy(&k, &emu.tables->mkey[d->index], sizeof(k));
	emu_mkey_retire(d->index);
	free_klm(&k);
	if (d->umem)
		d->umem->obj.users--;
	if (o->type == EMU_T_DEVX_MKEY)
		explicit_bzero(&grants[d->index], sizeof(grants[0]));
	return 0;
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

static int devx_other(struct emu_cmd *c)
{
	struct mailbox m;
	int err;

	err = open_mailbox(c, A(OTHER_CMD_IN), A(OTHER_CMD_OUT), &m);
	if (err)
		return err;
	if (m.opcode == EMU_CMD_QUERY_HCA_CAP)
		err = query_hca_cap(c->file->func, &m);
	else if (!c->file->devx_uid || !general_command(m.opcode))
		err = -EINVAL;
	else if (m.opcode == EMU_CMD_ALLOW_OTHER_VHCA_ACCESS)
		err = allow_access(c, &m);
	else
		err = refuse(&m, EMU_STATUS_BAD_OP, 0x40);
	return close_mailbox(c, A(OTHER_CMD_OUT), &m, err);
}

static bool creates_object(uint16_t op)
{
	/* The kernel's list, as far as objects exist here; the firmware refuses the others. */
	return op == EMU_CMD_CREATE_MKEY || (op >= 0x400 && op <= 0xa00);
}

static int devx_create(struct emu_cmd *c)
{
	struct emu_devx *d = NULL;
	bool alias;
	struct mailbox m;
	int err;

	err = open_mailbox(c, A(OBJ_CREATE_CMD_IN), A(OBJ_CREATE_CMD_OUT), &m);
	if (err)
		return err;
	if (!c->file->devx_uid || !creates_object(m.opcode)) {
		err = -EINVAL;
		goto close;
	}
	alias = m.opcode == EMU_CMD_CREATE_GENERAL_OBJECT &&
		emu_prm_get(m.in, EMU_PRM_BYTE(6), 16) == EMU_OBJ_TYPE_MKEY;
	if (!alias && m.opcode != EMU_CMD_CREATE_MKEY) {
		err = refuse(&m, EMU_STATUS_BAD_OP, 0x41);
		goto close;
	}
	d = emu_uobj_new(c->file, alias ? EMU_T_DEVX_ALIAS : EMU_T_DEVX_MKEY, sizeof(*d));
	if (!d) {
		err = -ENOMEM;
		goto close;
	}
	err = alias ? create_alias(c, &m, d) : create_mkey(c, &m, d);
	if (err) {
		d->umem = NULL;
		emu_uobj_free(&d->obj);
	} else {
		emu_attr_new(c, A(OBJ_CREATE_HANDLE), &d->obj);
	}
close:
	return close_mailbox(c, A(OBJ_CREATE_CMD_OUT), &m, err);
}

static int devx_destroy(struct emu_cmd *c)
{
	struct emu_uobj *o = emu_attr_obj(c, A(OBJ_DESTROY_HANDLE));

	if (o->type != EMU_T_DEVX_MKEY && o->type != EMU_T_DEVX_ALIAS)
		return -EINVAL;
	return emu_uobj_destroy(o);
}

/* libmlx5 switches MMO on for a verbs QP this way (INIT2INIT with the QP context extension). */
static int init2init(const struct emu_func *f, struct emu_qp_obj *qp, struct mailbox *m)
{
	struct emu_qp *q = &emu.queues->qp[qp->qpn];
	uint64_t mask;

	if (emu_prm_get(m->in, EMU_PRM_BYTE(9), 24) != qp->qpn)
		return -EINVAL; /* the kernel compares it with the handle's */
	if (m->in_len < 0x114)
		return refuse(m, EMU_STATUS_BAD_INP_LEN, 0x50);
	if (atomic_load(&q->state) != EMU_QPS_INIT)
		return refuse(m, 0x10, 0x51); /* BAD_QP_STATE */
	mask = emu_prm_get(m->in, EMU_PRM_BYTE(0x108), 64);
	if (!emu_prm_get(m->in, 0x40, 1) || mask & ~(uint64_t)8)
		return refuse(m, EMU_STATUS_BAD_PARAM, 0x52);
	if (mask & 8) {
		if (!f->card->profile->log_max_dma_mmo)
			return refuse(m, EMU_STATUS_BAD_PARAM, 0x53);
		q->mmo = (uint8_t)emu_prm_get(m->in, EMU_PRM_BYTE(0x110) + 2, 1);
	}
	return 0;
}

static int devx_modify(struct emu_cmd *c)
{
	struct emu_uobj *o = emu_attr_obj(c, A(OBJ_MODIFY_HANDLE));
	struct mailbox m;
	int err;

	if (!c->file->devx_uid)
		return -EINVAL;
	err = open_mailbox(c, A(OBJ_MODIFY_CMD_IN), A(OBJ_MODIFY_CMD_OUT), &m);
	if (err)
		return err;
	if (m.opcode != EMU_CMD_INIT2INIT_QP || o->type != EMU_T_QP)
		err = -EINVAL;
	else
		err = init2init(c->file->func, (struct emu_qp_obj *)o, &m);
	return close_mailbox(c, A(OBJ_MODIFY_CMD_OUT), &m, err);
}

static int query_mkey(const struct emu_devx *d, struct mailbox *m)
{
	const struct emu_mkey *k = &emu.tables->mkey[d->index];
	const struct field fields[] = {
		{0x12, 1, !!(k->rights & EMU_RW)},
		{0x13, 1, !!(k->rights & EMU_RR)},
		{0x14, 1, !!(k->rights & EMU_LW)},
		{0x15, 1, !!(k->rights & EMU_LR)},
		{0x38, 8, k->tag},
		{0x68, 24, k->pdn},
		{0x80, 64, k->start},
		{0xc0, 64, k->len},
	};

	if (emu_prm_get(m->in, EMU_PRM_BYTE(9), 24) != d->index)
		return -EINVAL;
	if (m->out_len < HDR_BYTES + MKC_BYTES)
		return refuse(m, EMU_STATUS_BAD_OUTP_LEN, 0x60);
	SET(m->out + HDR_BYTES, fields);
	return 0;
}

static int devx_query(struct emu_cmd *c)
{
	struct emu_uobj *o = emu_attr_obj(c, A(OBJ_QUERY_HANDLE));
	struct mailbox m;
	int err;

	if (!c->file->devx_uid)
		return -EINVAL;
	err = open_mailbox(c, A(OBJ_QUERY_CMD_IN), A(OBJ_QUERY_CMD_OUT), &m);
	if (err)
		return err;
	if (m.opcode != EMU_CMD_QUERY_MKEY || o->type != EMU_T_DEVX_MKEY)
		err = -EINVAL;
	else
		err = query_mkey((struct emu_devx *)o, &m);
	return close_mailbox(c, A(OBJ_QUERY_CMD_OUT), &m, err);
}

static int query_uar(struct emu_cmd *c)
{
	uint64_t page = emu_attr_u64(c, A(QUERY_UAR_USER_IDX), 0);

	return emu_attr_out_u32(c, A(QUERY_UAR_DEV_IDX), (uint32_t)page);
}

static int query_eqn(struct emu_cmd *c)
{
	uint64_t vector = emu_attr_u64(c, A(QUERY_EQN_USER_VEC), 0);

	if (vector >= EMU_COMP_VECTORS)
		return -EINVAL;
	return emu_attr_out_u32(c, A(QUERY_EQN_DEV_EQN), (uint32_t)vector + 1);
}

/* --- umems ---------------------------------------------------------------------------------------
 */

#define UMEM_ACCESS                                                     \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE | \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_RELAXED_ORDERING)

static int check_umem(const struct emu_cmd *c, uint64_t addr, uint64_t len, uint64_t access)
{
	uint64_t pages = emu_attr_u64(c, A(UMEM_REG_PGSZ_BITMAP), EMU_PAGE);

	if (!c->file->devx_uid || access & ~(uint64_t)UMEM_ACCESS || !len || addr + len < addr)
		return -EINVAL;
	if (access & IB_UVERBS_ACCESS_REMOTE_WRITE && !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	if (!(pages & ~(uint64_t)(EMU_PAGE - 1)))
		return -EINVAL;
	return 0;
}

/* With a dma-buf `addr` is the offset in it. */
static int umem_take(const struct emu_cmd *c, struct emu_umem *u)
{
	if (emu_attr(c, A(UMEM_REG_DMABUF_FD)))
		return emu_dmabuf_open(c, A(UMEM_REG_DMABUF_FD), u->addr, u->len, &u->dmabuf);
	return emu_check_range(c->chan->pid, u->addr, u->len,
			       u->access & IB_UVERBS_ACCESS_LOCAL_WRITE);
}

static int umem_reg(struct emu_cmd *c)
{
	static uint32_t last_id;
	uint64_t addr = emu_attr_u64(c, A(UMEM_REG_ADDR), 0);
	uint64_t len = emu_attr_u64(c, A(UMEM_REG_LEN), 0);
	uint64_t access = emu_attr_u64(c, A(UMEM_REG_ACCESS), 0);
	struct emu_umem *u;
	int err;

	err = check_umem(c, addr, len, access);
	if (err)
		return err;
	u = emu_uobj_new(c->file, EMU_T_UMEM, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->addr = addr;
	u->len = len;
	u->access = (uint32_t)access;
	u->pid = c->chan->pid;
	err = umem_take(c, u);
	if (err) {
		emu_uobj_free(&u->obj);
		return err;
	}
	u->id = ++last_id;
	emu_attr_new(c, A(UMEM_REG_HANDLE), &u->obj);
	return emu_attr_out_u32(c, A(UMEM_REG_OUT_ID), u->id);
}

int emu_umem_undo(struct emu_uobj *o)
{
	emu_dmabuf_close(&((struct emu_umem *)o)->dmabuf);
	return 0;
}

/* The firmware refuses to give up a umem that is in use (BAD_RES_STATE, EINVAL from old kernels).
 */
static int umem_dereg(struct emu_cmd *c)
{
	return emu_uobj_destroy(emu_attr_obj(c, A(UMEM_DEREG_HANDLE)));
}

#define OBJ MLX5_IB_OBJECT_DEVX_OBJ

const struct emu_method emu_methods_devx[] = {
	{MLX5_IB_OBJECT_DEVX,
	 MLX5_IB_METHOD_DEVX_OTHER,
	 devx_other,
	 {{A(OTHER_CMD_IN), EMU_A_IN, true, HDR_BYTES},
	  {A(OTHER_CMD_OUT), EMU_A_OUT, true, HDR_BYTES}}},
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
	  {A(OBJ_CREATE_CMD_IN), EMU_A_IN, true, HDR_BYTES},
	  {A(OBJ_CREATE_CMD_OUT), EMU_A_OUT, true, HDR_BYTES}}},
	{OBJ,
	 MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
	 devx_destroy,
	 {{A(OBJ_DESTROY_HANDLE), EMU_A_OBJ, true, EMU_T_NONE}}},
	{OBJ,
	 MLX5_IB_METHOD_DEVX_OBJ_MODIFY,
	 devx_modify,
	 {{A(OBJ_MODIFY_HANDLE), EMU_A_OBJ, true, EMU_T_NONE},
	  {A(OBJ_MODIFY_CMD_IN), EMU_A_IN, true, HDR_BYTES},
	  {A(OBJ_MODIFY_CMD_OUT), EMU_A_OUT, true, HDR_BYTES}}},
	{OBJ,
	 MLX5_IB_METHOD_DEVX_OBJ_QUERY,
	 devx_query,
	 {{A(OBJ_QUERY_HANDLE), EMU_A_OBJ, true, EMU_T_NONE},
	  {A(OBJ_QUERY_CMD_IN), EMU_A_IN, true, HDR_BYTES},
	  {A(OBJ_QUERY_CMD_OUT), EMU_A_OUT, true, HDR_BYTES}}},
	{MLX5_IB_OBJECT_DEVX_UMEM,
	 MLX5_IB_METHOD_DEVX_UMEM_REG,
	 umem_reg,
	 {{A(UMEM_REG_HANDLE), EMU_A_NEW, true, 0},
	  {A(UMEM_REG_ADDR), EMU_A_IN, true, 8},
	  {A(UMEM_REG_LEN), EMU_A_IN, true, 8},
	  {A(UMEM_REG_ACCESS), EMU_A_IN, true, 4},
	  {A(UMEM_REG_OUT_ID), EMU_A_OUT, true, 4},
	  {A(UMEM_REG_PGSZ_BITMAP), EMU_A_IN, false, 8},
	  {A(UMEM_REG_DMABUF_FD), EMU_A_IN, false, 0}}},
	{MLX5_IB_OBJECT_DEVX_UMEM,
	 MLX5_IB_METHOD_DEVX_UMEM_DEREG,
	 umem_dereg,
	 {{A(UMEM_DEREG_HANDLE), EMU_A_OBJ, true, EMU_T_UMEM}}},
	{0, 0, NULL, {{0, 0, false, 0}}},
};
