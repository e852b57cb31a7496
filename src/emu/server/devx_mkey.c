/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Mkeys made by PRM commands: direct, indirect, and aliases of other functions' mkeys. */
#include <errno.h>
#include <string.h>

#include "devx.h"

#define MKEY_IN_BYTES	0x110u
#define MAX_KLM_ENTRIES 4096u
#define ALIAS_IN_BYTES	0x50u
#define KLM_BYTES	16u
#define ATOMIC_BYTES	8u /* as announced: atomic_size_qp */
#define ANY_QPN		0xffffffu
#define NO_QPN		0x1000000u  /* mkc.qpn 0: of QP 0, which no program has */
#define MAX_KLM_BYTES	0x80000000u /* DPDK's mlx5_prm.h: MLX5_MAX_KLM_BYTE_COUNT, and */
#define MIN_LOG_ENTITY	12u	    /* MLX5_MIN_KLM_FIXED_BUFFER_SIZE */
#define ALIAS_KEY	0x10u
#define ALIAS_GONE	1u /* alias_context.status: anything but 0 is a bad state */

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

int emu_devx_allow_access(const struct emu_cmd *c, struct emu_mbox *m)
{
	static const struct emu_prm_range reserved[] = {{0x40, 64}, {0x80, 16}, {0xc0, 64}};
	uint64_t type, index;

	if (m->in_len < 0x40)
		return emu_refuse(m, EMU_STATUS_BAD_INP_LEN, 0x2);
	if (m->op_mod)
		return emu_refuse(m, EMU_STATUS_BAD_OP, 0x7);
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x8);
	type = emu_prm_get(m->in, EMU_PRM_BYTE(0x12), 16);
	index = emu_prm_get(m->in, EMU_PRM_BYTE(0x14), 32);
	if (!c->file->func->card->profile->crossing)
		return emu_refuse(m, EMU_STATUS_BAD_OP, 0x3);
	if (type != EMU_OBJ_TYPE_MKEY)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x4);
	/* Only an object of the same user (uid): kernel-made mkeys and those of others are not
	 * theirs. */
	if (!live_mkey(index, c->file->func) || grants[index].owner_uid != c->file->devx_uid)
		return emu_refuse(m, EMU_STATUS_BAD_RES, 0x5);
	if (!c->file->func->card->profile->crossing_indirect &&
	    emu.tables->mkey[index].mode != EMU_MKEY_MEM)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x6);
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

struct emu_pd *emu_pd_by_number(const struct emu_file *f, uint32_t pdn)
{
	unsigned int i;

	for (i = 0; i < f->nobjs; i++)
		if (f->objs[i] && f->objs[i]->type == EMU_T_PD &&
		    ((struct emu_pd *)f->objs[i])->pdn == pdn)
			return (struct emu_pd *)f->objs[i];
	return NULL;
}

static bool target_is_gone(const struct emu_mkey *alias)
{
	const struct emu_mkey *target = &emu.tables->mkey[alias->u.alias.index];

	return !atomic_load(&target->serial) || target->birth != alias->u.alias.serial ||
	       !target->shared;
}

/* The context comes back, the access key does not. */
static void answer_alias(const struct emu_devx *d, struct emu_mbox *m)
{
	uint8_t *ctx = m->out + EMU_MBOX_HDR;

	emu_prm_set(m->out, EMU_PRM_BYTE(8), 32, d->index);
	memcpy(ctx, d->context, sizeof(d->context));
	if (target_is_gone(&emu.tables->mkey[d->index]))
		emu_prm_set(ctx, 0x1d, 3, ALIAS_GONE);
}

/*
 * What is wrong with an alias request is not told apart: a peer that guesses learns nothing from
 * the answer. (Real firmware's answer to a wrong key is not documented; it may also be an alias
 * in a bad state, which a careful importer checks for too.)
 */
int emu_devx_create_alias(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	/* obj_id, log_obj_range; in the context all but the two numbers, key and metadata_1 */
	static const struct emu_prm_range reserved[] = {
		{0x40, 32}, {0x61, 31}, {0x90, 16}, {0xc0, 64}, {0x220, 96},
	};
	struct emu_devx *d = (struct emu_devx *)o;
	const uint8_t *ctx = m->in + EMU_MBOX_HDR;
	const struct emu_func *owner;
	struct emu_mkey alias = {0};
	uint32_t pdn, key;
	uint64_t index;

	if (m->in_len < ALIAS_IN_BYTES)
		return emu_refuse(m, EMU_STATUS_BAD_INP_LEN, 0x10);
	if (m->out_len < EMU_MBOX_HDR + 64)
		return emu_refuse(m, EMU_STATUS_BAD_OUTP_LEN, 0x11);
	if (!emu_prm_get(m->in, EMU_PRM_BYTE(0xc), 1) || !c->file->func->card->profile->crossing)
		return emu_refuse(m, EMU_STATUS_BAD_OP, 0x12);
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x16);
	owner = emu_func_by_vhca(c->file->func->card, (uint16_t)emu_prm_get(ctx, 0, 16));
	index = emu_prm_get(ctx, EMU_PRM_BYTE(4), 32);
	pdn = (uint32_t)emu_prm_get(ctx, EMU_PRM_BYTE(0x30), 32);
	if (!owner || !live_mkey(index, owner) || !emu.tables->mkey[index].shared ||
	    !same_key(grants[index].key, ctx + 0x10))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x13);
	if (!emu_pd_by_number(c->file, pdn))
		return emu_refuse(m, EMU_STATUS_BAD_RES, 0x14);
	alias.mode = EMU_MKEY_ALIAS;
	alias.func = c->file->func->index;
	alias.pdn = pdn;
	alias.start = emu.tables->mkey[index].start;
	alias.len = emu.tables->mkey[index].len;
	alias.u.alias.index = (uint32_t)index;
	alias.u.alias.serial = emu.tables->mkey[index].birth;
	key = emu_mkey_create(&alias, false);
	if (!key)
		return emu_refuse(m, EMU_STATUS_LIM, 0x15);
	d->index = key >> 8;
	memcpy(d->context, ctx, sizeof(d->context));
	memset(d->context + ALIAS_KEY, 0, EMU_ACCESS_KEY_BYTES);
	answer_alias(d, m);
	return 0;
}

int emu_devx_query_alias(const struct emu_devx *d, struct emu_mbox *m)
{
	static const struct emu_prm_range reserved[] = {{0x61, 31}};

	if (m->op_mod != EMU_OBJ_TYPE_MKEY || emu_prm_get(m->in, EMU_PRM_BYTE(8), 32) != d->index)
		return -EINVAL; /* the kernel compares them with the handle's */
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x17);
	if (m->out_len < ALIAS_IN_BYTES)
		return emu_refuse(m, EMU_STATUS_BAD_OUTP_LEN, 0x18);
	answer_alias(d, m);
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

/*
 * Of fixed-size entries the range's first page counts whole: UCX makes one entry more where it is
 * not the same in both spaces ("CREATE_MKEY range check issue", ib_mlx5dv_md.c).
 */
static bool covers(const struct emu_mkey *k, uint64_t space)
{
	uint64_t before = k->mode == EMU_MKEY_KSM ? k->start % EMU_PAGE : 0;

	return k->len <= space && before <= space - k->len;
}

/* The bytes that they stand for; 0 if one of them can stand for none. */
static uint64_t read_entries(const struct emu_mbox *m, const struct emu_mkey *k)
{
	const uint8_t *e = m->in + MKEY_IN_BYTES;
	uint64_t space = 0;
	uint32_t i;

	for (i = 0; i < k->u.klm.count; i++, e += KLM_BYTES) {
		struct emu_klm *klm = &emu.tables->klm[k->u.klm.first + i];

		klm->bytes = (uint32_t)emu_prm_get(e, 0, 32);
		klm->key = (uint32_t)emu_prm_get(e, 32, 32);
		klm->addr = emu_prm_get(e, 64, 64);
		if (k->mode == EMU_MKEY_KLM && klm->bytes > MAX_KLM_BYTES)
			return 0;
		space += k->mode == EMU_MKEY_KSM ? 1ull << k->log_entity : klm->bytes;
	}
	return space;
}

/*
 * A free mkey need not lead anywhere yet: UMR gives it a meaning, of at most `room` entries. That
 * atomics want an aligned one is by UCX (uct_ib_mlx5_devx_reg_ksm_data_contig()).
 */
static int fill_list(struct emu_mbox *m, struct emu_mkey *k)
{
	uint64_t count = emu_prm_get(m->in, EMU_PRM_BYTE(0x60), 32);
	uint64_t room = emu_prm_get(m->in + EMU_MBOX_HDR, 0x1a0, 32);
	uint64_t space;

	if (k->rights & EMU_RA && (k->start | k->len) % ATOMIC_BYTES)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x2d);
	if (!room || room > MAX_KLM_ENTRIES || count > room ||
	    m->in_len < MKEY_IN_BYTES + count * KLM_BYTES)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x20);
	k->u.klm.count = (uint32_t)count;
	k->u.klm.room = (uint32_t)room;
	k->u.klm.first = emu_klm_alloc(k->u.klm.room);
	if (k->u.klm.first == UINT32_MAX)
		return emu_refuse(m, EMU_STATUS_LIM, 0x21);
	space = read_entries(m, k);
	if ((k->flags & EMU_MK_FREE && (space || !count)) || covers(k, space))
		return 0;
	emu_klm_free(k->u.klm.first, k->u.klm.room);
	return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x22);
}

static int fill_mtt(struct emu_cmd *c, struct emu_mbox *m, struct emu_mkey *k, struct emu_devx *d)
{
	uint64_t off = emu_prm_get(m->in, EMU_PRM_BYTE(0x68), 64);
	uint32_t allowed;

	d->umem = emu_devx_umem_by_id(c->file, emu_prm_get(m->in, EMU_PRM_BYTE(0x64), 32));
	if (!d->umem)
		return emu_refuse(m, EMU_STATUS_BAD_RES, 0x23);
	if (off > d->umem->len || k->len > d->umem->len - off)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x24);
	/* A page is translated to a page: elsewhere in it, other bytes would be meant. */
	if ((k->start ^ (d->umem->addr + off)) % EMU_PAGE)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x2f);
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

/*
 * From the start of the mailbox, by rdma-core's mlx5_ifc.h, UCX' ib_mlx5_ifc.h and Linux'
 * include/linux/mlx5/mlx5_ifc.h. What is left out beside what is honoured: the uid, which the
 * kernel writes; pg_access, as every function has paging; small_fence_on_rdma_read_response and
 * relaxed ordering, which allow an order that is never made use of.
 */
static const struct emu_prm_range reserved_in_mkey[] = {
	{0x48, 24},				/* input_mkey_index: no mkey_by_name_reserve */
	{0x62, 30},				/* data_direct or cmd_on_behalf, function_id */
	{0x80, 1},    {0x82, 1},     {0x86, 7}, /* alter_pd_to_vhca_id, crossed_side_mkey */
	{0x8e, 1},    {0x98, 8},     {0xc0, 32},
	{0xe0, 7},		  /* length64, bsf_en, sync_umr, expected_sigerr_count */
	{0x180, 160},		  /* bsf_octword_size, crossing_target_vhca_id */
	{0x240, 25},  {0x25a, 1}, /* the sixth bit of log_page_size: no umr_log_entity_size_5 */
	{0x260, 32},		  /* no crypto, no mkey_pcie_tph */
	{0x280, 128}, {0x380, 1280},
};

/*
 * translations_octword_size and _actual_size of an mkey on a umem are not looked at: the umem knows
 * its pages. UCX says 1 (before commit a8c655658d, and no page size), DPDK more than there are.
 */
static bool check_mode(const struct emu_mbox *m, uint64_t mode, const struct emu_mkey *k)
{
	switch (mode) {
	case MODE_MTT: /* mkey_umem_valid is the kernel's; by UMR nothing of it can be changed */
		return !(k->flags & (EMU_MK_FREE | EMU_MK_UMR)) &&
		       (!k->log_entity || k->log_entity >= MIN_LOG_ENTITY);
	case MODE_KLM:
		return !k->log_entity && !emu_prm_get(m->in, 0x61, 1);
	case MODE_KSM:
		return k->log_entity >= MIN_LOG_ENTITY && !emu_prm_get(m->in, 0x61, 1);
	default:
		return false;
	}
}

static uint32_t owner(const uint8_t *mkc)
{
	uint32_t qpn = (uint32_t)emu_prm_get(mkc, 0x20, 24);

	if (qpn == ANY_QPN)
		return 0;
	return qpn ? qpn : NO_QPN;
}

static void read_mkc(const uint8_t *mkc, struct emu_mkey *k)
{
	k->rights = mkc_rights(mkc);
	k->pdn = (uint32_t)emu_prm_get(mkc, 0x68, 24);
	k->tag = (uint8_t)emu_prm_get(mkc, 0x38, 8);
	k->start = emu_prm_get(mkc, 0x80, 64);
	k->len = emu_prm_get(mkc, 0xc0, 64);
	k->log_entity = (uint32_t)emu_prm_get(mkc, 0x1db, 5);
	k->qpn = owner(mkc);
	k->flags = (emu_prm_get(mkc, 0x1, 1) ? EMU_MK_FREE : 0u) |
		   (emu_prm_get(mkc, 0x10, 1) ? EMU_MK_UMR : 0u) |
		   (emu_prm_get(mkc, 0x67, 1) ? EMU_MK_RINVAL : 0u);
}

static int fill_mkey(struct emu_cmd *c, struct emu_mbox *m, struct emu_mkey *k, struct emu_devx *d)
{
	const uint8_t *mkc = m->in + EMU_MBOX_HDR;
	uint64_t mode = emu_prm_get(mkc, 0x3, 3) << 2 | emu_prm_get(mkc, 0x16, 2);

	k->func = c->file->func->index;
	read_mkc(mkc, k);
	if (!emu_pd_by_number(c->file, k->pdn))
		return emu_refuse(m, EMU_STATUS_BAD_RES, 0x25);
	if (!EMU_PRM_IS_ZERO(m->in, reserved_in_mkey))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x2c);
	if (!check_mode(m, mode, k))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x27);
	if (k->flags & EMU_MK_FREE && !(k->flags & EMU_MK_UMR))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x2a);
	if (!(k->flags & EMU_MK_FREE) && (!k->len || k->start + k->len - 1 < k->start))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x26);
	if (mode == MODE_MTT) {
		k->mode = EMU_MKEY_MEM;
		return fill_mtt(c, m, k, d);
	}
	k->mode = mode == MODE_KSM ? EMU_MKEY_KSM : EMU_MKEY_KLM;
	return fill_list(m, k);
}

static void free_klm(const struct emu_mkey *k)
{
	if (k->mode == EMU_MKEY_KLM || k->mode == EMU_MKEY_KSM || k->mode == EMU_MKEY_STRIDED)
		emu_klm_free(k->u.klm.first, k->u.klm.room);
}

int emu_devx_create_mkey(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_devx *d = (struct emu_devx *)o;
	struct emu_mkey k = {0};
	uint32_t key;
	int err;

	if (m->in_len < EMU_MBOX_HDR + EMU_MKC_BYTES)
		return -EINVAL; /* the kernel looks at the context */
	if (m->in_len < MKEY_IN_BYTES)
		return emu_refuse(m, EMU_STATUS_BAD_INP_LEN, 0x28);
	if (m->op_mod)
		return emu_refuse(m, EMU_STATUS_BAD_OP, 0x2b);
	err = fill_mkey(c, m, &k, d);
	if (err)
		return err;
	key = emu_mkey_create(&k, false);
	if (!key) {
		free_klm(&k);
		return emu_refuse(m, EMU_STATUS_LIM, 0x29);
	}
	d->index = key >> 8;
	if (d->umem)
		d->umem->obj.users++;
	grants[d->index].owner_uid = c->file->devx_uid;
	memcpy(d->context, m->in + EMU_MBOX_HDR, sizeof(d->context));
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

/* What UMR changes; of other mkeys the context stays as it was made. */
static void answer_changed(const struct emu_mkey *k, uint8_t *mkc)
{
	const struct emu_prm_field fields[] = {
		{0x11, 1, !!(k->rights & EMU_RA)},
		{0x12, 1, !!(k->rights & EMU_RW)},
		{0x13, 1, !!(k->rights & EMU_RR)},
		{0x14, 1, !!(k->rights & EMU_LW)},
		{0x20, 24, k->qpn ? k->qpn % (ANY_QPN + 1) : ANY_QPN},
		{0x38, 8, k->tag},
		{0x80, 64, k->start},
		{0xc0, 64, k->len},
	};

	EMU_PRM_FILL(mkc, fields);
}

static uint8_t *answer_entry(uint8_t *p, const struct emu_klm *klm)
{
	emu_prm_set(p, 0, 32, klm->bytes);
	emu_prm_set(p, 32, 32, klm->key);
	emu_prm_set(p, 64, 64, klm->addr);
	return p + KLM_BYTES;
}

/*
 * The list follows the context (Linux' page faults read it there: odp.c), as much of it as an
 * answer has room for. An mkey on a umem shows none: its pages have no addresses that it could.
 */
static void answer_list(const struct emu_mkey *k, struct emu_mbox *m)
{
	uint8_t *p = m->out + MKEY_IN_BYTES, *end = m->out + sizeof(m->out) - KLM_BYTES;
	struct emu_klm head = {0, EMU_KLM_REPEAT, 0};
	uint32_t i;

	if (k->mode == EMU_MKEY_STRIDED) {
		for (i = 0; i < k->u.klm.count; i++)
			head.bytes += emu.tables->klm[k->u.klm.first + i].bytes & 0xffff;
		head.addr = (uint64_t)k->u.klm.repeat << 32 | k->u.klm.count;
		p = answer_entry(p, &head);
	} else if (k->mode != EMU_MKEY_KLM && k->mode != EMU_MKEY_KSM) {
		return;
	}
	for (i = 0; i < k->u.klm.count && p <= end; i++)
		p = answer_entry(p, &emu.tables->klm[k->u.klm.first + i]);
}

int emu_devx_query_mkey(const struct emu_devx *d, struct emu_mbox *m)
{
	static const struct emu_prm_range reserved[] = {{0x40, 8}, {0x61, 31}};
	const struct emu_mkey *k = &emu.tables->mkey[d->index];

	if (emu_prm_get(m->in, EMU_PRM_BYTE(9), 24) != d->index)
		return -EINVAL;
	if (m->op_mod)
		return emu_refuse(m, EMU_STATUS_BAD_OP, 0x61);
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x62);
	if (m->out_len < EMU_MBOX_HDR + EMU_MKC_BYTES)
		return emu_refuse(m, EMU_STATUS_BAD_OUTP_LEN, 0x60);
	memcpy(m->out + EMU_MBOX_HDR, d->context, sizeof(d->context));
	emu_prm_set(m->out + EMU_MBOX_HDR, 0x1, 1, !!(k->flags & EMU_MK_FREE));
	if (k->flags & EMU_MK_UMR)
		answer_changed(k, m->out + EMU_MBOX_HDR);
	answer_list(k, m);
	return 0;
}
