/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Mkeys made by PRM commands: direct, indirect, and aliases of other functions' mkeys. */
#include <errno.h>
#include <string.h>

#include "devx.h"

#define MKC_BYTES	64u
#define MKEY_IN_BYTES	0x110u
#define MAX_KLM_ENTRIES 4096u
#define ALIAS_IN_BYTES	0x50u
#define ANY_QPN		0xffffffu

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
	uint64_t type, index;

	if (m->in_len < 0x40)
		return emu_refuse(m, EMU_STATUS_BAD_INP_LEN, 0x2);
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

/*
 * What is wrong with an alias request is not told apart: a peer that guesses learns nothing from
 * the answer. (Real firmware's answer to a wrong key is not documented; it may also be an alias
 * in a bad state, which a careful importer checks for too.)
 */
int emu_devx_create_alias(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
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
	emu_prm_set(m->out, EMU_PRM_BYTE(8), 32, d->index);
	memcpy(m->out + EMU_MBOX_HDR, ctx,
	       16); /* the context comes back, the access key does not */
	emu_prm_set(m->out + EMU_MBOX_HDR, 29, 3, 0); /* alias status: good */
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

static int fill_klm(struct emu_mbox *m, struct emu_mkey *k)
{
	uint64_t count = emu_prm_get(m->in, EMU_PRM_BYTE(0x60), 32), i, space = 0;
	const uint8_t *e = m->in + MKEY_IN_BYTES;
	struct emu_klm *klm;

	if (!count || count > MAX_KLM_ENTRIES || m->in_len < MKEY_IN_BYTES + count * 16)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x20);
	k->u.klm.count = k->u.klm.room = (uint32_t)count;
	k->u.klm.first = emu_klm_alloc(k->u.klm.room);
	if (k->u.klm.first == UINT32_MAX)
		return emu_refuse(m, EMU_STATUS_LIM, 0x21);
	for (i = 0; i < count; i++, e += 16) {
		klm = &emu.tables->klm[k->u.klm.first + i];
		klm->bytes = (uint32_t)emu_prm_get(e, 0, 32);
		klm->key = (uint32_t)emu_prm_get(e, 32, 32);
		klm->addr = emu_prm_get(e, 64, 64);
		space += k->mode == EMU_MKEY_KSM ? 1ull << k->log_entity : klm->bytes;
	}
	if (space >= k->len)
		return 0;
	emu_klm_free(k->u.klm.first, k->u.klm.room);
	return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x22);
}

/* An mkey without a meaning yet: UMR gives it one, of at most so many entries. */
static int fill_free(struct emu_mbox *m, struct emu_mkey *k)
{
	uint64_t room = emu_prm_get(m->in + EMU_MBOX_HDR, 0x1a0, 32);

	if (!(k->flags & EMU_MK_UMR) || !room || room > MAX_KLM_ENTRIES)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x2a);
	k->mode = EMU_MKEY_KLM;
	k->u.klm.room = (uint32_t)room;
	k->u.klm.first = emu_klm_alloc(k->u.klm.room);
	return k->u.klm.first == UINT32_MAX ? emu_refuse(m, EMU_STATUS_LIM, 0x2b) : 0;
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

/* No unlimited length, no block signatures, no encryption: the profile has none of them. */
static bool check_mkc(const uint8_t *mkc)
{
	return emu_prm_get(mkc, 0x60, 1) || emu_prm_get(mkc, 0x61, 1) ||
	       emu_prm_get(mkc, 0x100, 32);
}

static int fill_mkey(struct emu_cmd *c, struct emu_mbox *m, struct emu_mkey *k, struct emu_devx *d)
{
	const uint8_t *mkc = m->in + EMU_MBOX_HDR;
	uint64_t mode = emu_prm_get(mkc, 0x3, 3) << 2 | emu_prm_get(mkc, 0x16, 2);

	k->func = c->file->func->index;
	k->rights = mkc_rights(mkc);
	k->pdn = (uint32_t)emu_prm_get(mkc, 0x68, 24);
	k->tag = (uint8_t)emu_prm_get(mkc, 0x38, 8);
	k->start = emu_prm_get(mkc, 0x80, 64);
	k->len = emu_prm_get(mkc, 0xc0, 64);
	k->log_entity = (uint32_t)emu_prm_get(mkc, 0x1db, 5);
	if (mode == MODE_KLM && emu_prm_get(mkc, 0x10, 1)) /* umr_en */
		k->flags |= EMU_MK_UMR;
	if (emu_prm_get(mkc, 0x67, 1)) /* en_rinval */
		k->flags |= EMU_MK_RINVAL;
	if (emu_prm_get(mkc, 0x20, 24) != ANY_QPN)
		k->qpn = (uint32_t)emu_prm_get(mkc, 0x20, 24);
	if (!emu_pd_by_number(c->file, k->pdn))
		return emu_refuse(m, EMU_STATUS_BAD_RES, 0x25);
	if (check_mkc(mkc))
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x2c);
	if (emu_prm_get(mkc, 0x1, 1)) {
		k->flags |= EMU_MK_FREE;
		return mode == MODE_KLM ? fill_free(m, k)
					: emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x27);
	}
	if (!k->len || k->start + k->len - 1 < k->start)
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x26);
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
		return emu_refuse(m, EMU_STATUS_BAD_PARAM, 0x27);
	}
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

	if (m->in_len < EMU_MBOX_HDR + MKC_BYTES)
		return -EINVAL; /* the kernel looks at the context */
	if (m->in_len < MKEY_IN_BYTES)
		return emu_refuse(m, EMU_STATUS_BAD_INP_LEN, 0x28);
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

int emu_devx_query_mkey(const struct emu_devx *d, struct emu_mbox *m)
{
	const struct emu_mkey *k = &emu.tables->mkey[d->index];
	const struct emu_prm_field fields[] = {
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
	if (m->out_len < EMU_MBOX_HDR + MKC_BYTES)
		return emu_refuse(m, EMU_STATUS_BAD_OUTP_LEN, 0x60);
	EMU_PRM_FILL(m->out + EMU_MBOX_HDR, fields);
	return 0;
}
