/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/mkey.h"

#include <errno.h>
#include <string.h>

#include "emu/prm/prm_alias.h"
#include "emu/prm/prm_mkey.h"
#include "emu/server/card/mkey_table.h"
#include "emu/server/card/segments.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/uverbs/dm.h"
#include "emu/server/uverbs/pd.h"

#define MAX_KLM_ENTRIES 4096u
#define ATOMIC_BYTES	8u	    /* as announced: atomic_size_qp */
#define NO_QPN		0x1000000u  /* mkc.qpn 0: for QP 0, which no program has */
#define MAX_KLM_BYTES	0x80000000u /* DPDK's mlx5_prm.h: MLX5_MAX_KLM_BYTE_COUNT */

_Static_assert((int)EMU_MKC_BYTES >= (int)EMU_ALIAS_CTX_BYTES,
	       "struct emu_devx_mkey holds either context");
_Static_assert(sizeof(emu_private->alias_rights[0].access_key) == EMU_ACCESS_KEY_BYTES,
	       "an alias right holds the access key of the command");

/* --- cross-VHCA ------------------------------------------------------------------------------- */

static bool live_mkey(uint64_t index, const struct emu_func *f)
{
	return index < EMU_MAX_MKEYS && atomic_load(&emu_tables->mkey[index].serial) &&
	       emu_tables->mkey[index].func == f->index;
}

int emu_devx_allow_access(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_ALLOW_ACCESS_IN);
	uint64_t type, index;

	(void)o;
	if (m->in_len < EMU_ALLOW_ACCESS_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_ALLOW_IN_LEN);
	if (m->op_mod)
		return emu_refuse(m, EMU_CMD_SYN_ALLOW_OP_MOD);
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_ALLOW_RESERVED);
	type = emu_prm_get(m->in, EMU_ALLOW_ACCESS_IN_OBJECT_TYPE_TO_BE_ACCESSED);
	index = emu_prm_get(m->in, EMU_ALLOW_ACCESS_IN_OBJECT_ID_TO_BE_ACCESSED);
	if (!c->file->func->card->profile->crossing)
		return emu_refuse(m, EMU_CMD_SYN_ALLOW_UNSUPPORTED);
	if (type != EMU_OBJ_TYPE_MKEY)
		return emu_refuse(m, EMU_CMD_SYN_ALLOW_OBJECT_TYPE);
	/*
	 * Only an object of the same user context (uid): not one that the kernel or another
	 * context created.
	 */
	if (!live_mkey(index, c->file->func) ||
	    emu_private->alias_rights[index].owner_uid != c->file->devx_uid)
		return emu_refuse(m, EMU_CMD_SYN_ALLOW_OBJECT);
	if (!c->file->func->card->profile->crossing_indirect &&
	    emu_tables->mkey[index].mode != EMU_MKEY_MEM)
		return emu_refuse(m, EMU_CMD_SYN_ALLOW_INDIRECT);
	memcpy(emu_private->alias_rights[index].access_key,
	       emu_prm_at_const(m->in, EMU_ALLOW_ACCESS_IN_ACCESS_KEY), EMU_ACCESS_KEY_BYTES);
	emu_tables->mkey[index].shared = 1;
	return 0;
}

static bool same_key(const uint8_t *a, const uint8_t *b)
{
	unsigned int diff = 0, i;

	for (i = 0; i < EMU_ACCESS_KEY_BYTES; i++)
		diff |= (unsigned int)(a[i] ^ b[i]);
	return !diff;
}

static bool target_is_gone(const struct emu_mkey *alias)
{
	const struct emu_mkey *target = &emu_tables->mkey[alias->u.alias.index];

	return !atomic_load(&target->serial) || target->first_serial != alias->u.alias.serial ||
	       !target->shared;
}

/* Answer with the context but without the access key. */
static void answer_alias(const struct emu_devx_mkey *d, struct emu_mbox *m)
{
	uint8_t *ctx = emu_prm_at(m->out, EMU_ALIAS_OUT_CONTEXT);

	emu_prm_set(m->out, EMU_ALIAS_OUT_OBJ_ID, d->index);
	memcpy(ctx, d->context, sizeof(d->context));
	if (target_is_gone(&emu_tables->mkey[d->index]))
		emu_prm_set(ctx, EMU_ALIAS_CTX_OUT_STATUS, EMU_ALIAS_STATUS_GONE);
}

/*
 * All errors of an alias request look the same, so a peer that guesses learns nothing. (The answer
 * of real firmware to a wrong key is not documented; it may also be an alias in a bad state, which
 * a careful importer checks.)
 */
int emu_devx_create_alias(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_ALIAS_IN);
	static const struct emu_prm_range reserved_in_ctx[] = EMU_PRM_RESERVED(EMU_ALIAS_CTX);
	struct emu_devx_mkey *d = (struct emu_devx_mkey *)o;
	const uint8_t *ctx = emu_prm_at_const(m->in, EMU_ALIAS_IN_CONTEXT);
	const struct emu_func *owner;
	struct emu_mkey alias = {0};
	uint32_t pdn, key;
	uint64_t index;

	if (m->in_len < EMU_ALIAS_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_ALIAS_IN_LEN);
	if (m->out_len < EMU_ALIAS_OUT_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_ALIAS_OUT_LEN);
	if (!emu_prm_get(m->in, EMU_ALIAS_IN_ALIAS_OBJECT) ||
	    !c->file->func->card->profile->crossing)
		return emu_refuse(m, EMU_CMD_SYN_ALIAS_UNSUPPORTED);
	if (!EMU_PRM_IS_ZERO(m->in, reserved) || !EMU_PRM_IS_ZERO(ctx, reserved_in_ctx))
		return emu_refuse(m, EMU_CMD_SYN_ALIAS_RESERVED);
	owner = emu_func_by_vhca(c->file->func->card,
				 (uint16_t)emu_prm_get(ctx, EMU_ALIAS_CTX_VHCA_ID_TO_BE_ACCESSED));
	index = emu_prm_get(ctx, EMU_ALIAS_CTX_OBJECT_ID_TO_BE_ACCESSED);
	pdn = (uint32_t)emu_prm_get(ctx, EMU_ALIAS_CTX_METADATA_1);
	if (!owner || !live_mkey(index, owner) || !emu_tables->mkey[index].shared ||
	    !same_key(emu_private->alias_rights[index].access_key,
		      emu_prm_at_const(ctx, EMU_ALIAS_CTX_ACCESS_KEY)))
		return emu_refuse(m, EMU_CMD_SYN_ALIAS_TARGET);
	if (!emu_pd_by_number(c->file, pdn))
		return emu_refuse(m, EMU_CMD_SYN_ALIAS_PD);
	alias.mode = EMU_MKEY_ALIAS;
	alias.func = c->file->func->index;
	alias.pdn = pdn;
	alias.start = emu_tables->mkey[index].start;
	alias.len = emu_tables->mkey[index].len;
	alias.u.alias.index = (uint32_t)index;
	alias.u.alias.serial = emu_tables->mkey[index].first_serial;
	key = emu_mkey_create(&alias, false);
	if (!key)
		return emu_refuse(m, EMU_CMD_SYN_ALIAS_LIMIT);
	d->index = key >> 8;
	memcpy(d->context, ctx, sizeof(d->context));
	memset(emu_prm_at(d->context, EMU_ALIAS_CTX_ACCESS_KEY), 0, EMU_ACCESS_KEY_BYTES);
	answer_alias(d, m);
	return 0;
}

int emu_devx_query_alias(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const struct emu_devx_mkey *d = (const struct emu_devx_mkey *)o;
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_QUERY_ALIAS_IN);

	(void)c;
	if (m->op_mod != EMU_OBJ_TYPE_MKEY ||
	    emu_prm_get(m->in, EMU_QUERY_ALIAS_IN_OBJ_ID) != d->index)
		return -EINVAL; /* the kernel compares them with the handle's */
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_QUERY_ALIAS_RESERVED);
	if (m->out_len < EMU_ALIAS_OUT_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_QUERY_ALIAS_OUT_LEN);
	answer_alias(d, m);
	return 0;
}

/* --- mkeys ------------------------------------------------------------------------------------ */

static uint32_t mkc_rights(const uint8_t *mkc)
{
	return (emu_prm_get(mkc, EMU_MKC_A) ? EMU_RA : 0) |
	       (emu_prm_get(mkc, EMU_MKC_RW) ? EMU_RW : 0) |
	       (emu_prm_get(mkc, EMU_MKC_RR) ? EMU_RR : 0) |
	       (emu_prm_get(mkc, EMU_MKC_LW) ? EMU_LW : 0) |
	       (emu_prm_get(mkc, EMU_MKC_LR) ? EMU_LR : 0);
}

/*
 * With fixed-size entries the first page of the range counts as a whole: UCX adds an entry if the
 * offset in the page differs between the spaces ("CREATE_MKEY range check issue", ib_mlx5dv_md.c).
 */
static bool covers(const struct emu_mkey *k, uint64_t space)
{
	uint64_t before = k->mode == EMU_MKEY_KSM ? k->start % EMU_PAGE : 0;

	return k->len <= space && before <= space - k->len;
}

/* The number of bytes that the entries cover; 0 if one of them is not valid. */
static uint64_t read_entries(const struct emu_mbox *m, const struct emu_mkey *k)
{
	const uint8_t *e = m->in + EMU_CREATE_MKEY_IN_BYTES;
	uint64_t space = 0;

	for (uint32_t i = 0; i < k->u.klm.count; i++, e += EMU_KLM_BYTES) {
		struct emu_klm *klm = &emu_tables->klm[k->u.klm.first + i];

		klm->bytes = (uint32_t)emu_prm_get(e, EMU_KLM_BYTE_COUNT);
		klm->key = (uint32_t)emu_prm_get(e, EMU_KLM_MKEY);
		klm->addr = emu_prm_get(e, EMU_KLM_ADDRESS);
		if (k->mode == EMU_MKEY_KLM && klm->bytes > MAX_KLM_BYTES)
			return 0;
		space += k->mode == EMU_MKEY_KSM ? 1ull << k->log_entity : klm->bytes;
	}
	return space;
}

/*
 * A free mkey has no translation yet: UMR sets one of at most `room` entries. Atomics need an
 * aligned one, as in UCX (uct_ib_mlx5_devx_reg_ksm_data_contig()).
 */
static int fill_list(struct emu_mbox *m, struct emu_mkey *k)
{
	const uint32_t most = k->flags & EMU_MK_PAGED ? EMU_MAX_KLMS : MAX_KLM_ENTRIES;
	const uint8_t *mkc = emu_prm_at_const(m->in, EMU_CREATE_MKEY_IN_MKC);
	uint64_t count = emu_prm_get(m->in, EMU_CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE);
	uint64_t room = emu_prm_get(mkc, EMU_MKC_TRANSLATIONS_OCTWORD_SIZE);
	uint64_t space;

	if (k->rights & EMU_RA && (k->start | k->len) % ATOMIC_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_ATOMIC_ALIGNMENT);
	if (!room || room > most || count > room ||
	    m->in_len < EMU_CREATE_MKEY_IN_BYTES + count * EMU_KLM_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_LIST_LEN);
	k->u.klm.count = (uint32_t)count;
	k->u.klm.room = (uint32_t)room;
	k->u.klm.first = emu_klm_alloc(k->u.klm.room);
	if (k->u.klm.first == UINT32_MAX)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_LIST_LIMIT);
	space = read_entries(m, k);
	if ((k->flags & EMU_MK_FREE && (space || !count)) || covers(k, space))
		return 0;
	emu_klm_free(k->u.klm.first, k->u.klm.room);
	return emu_refuse(m, EMU_CMD_SYN_MKEY_LIST_RANGE);
}

/*
 * Pages of the guest, which UMR names. Room for the list is taken then, as Linux keeps thousands of free mkeys. Both
 * come in blocks of 64 bytes.
 */
static int fill_free_mtt(struct emu_cmd *c, struct emu_mbox *m, struct emu_mkey *k)
{
	const uint8_t *mkc = emu_prm_at_const(m->in, EMU_CREATE_MKEY_IN_MKC);
	const struct emu_umem *space =
		emu_devx_umem_by_id(c->file, emu_prm_get(m->in, EMU_CREATE_MKEY_IN_MKEY_UMEM_ID));
	uint64_t octwords = emu_prm_get(mkc, EMU_MKC_TRANSLATIONS_OCTWORD_SIZE);

	if (!space)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_UMEM);
	if (!octwords || emu_prm_get(m->in, EMU_CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE))
		return emu_refuse(m, EMU_CMD_SYN_MKEY_LIST_LEN);
	octwords = (octwords + EMU_UMR_LINE - 1) / EMU_UMR_LINE * EMU_UMR_LINE;
	if (octwords > EMU_MAX_KLMS / EMU_MTT_PER_OCTWORD)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_LIST_LIMIT);
	k->mode = EMU_MKEY_PAGES;
	k->u.klm.room = (uint32_t)octwords * EMU_MTT_PER_OCTWORD;
	k->u.klm.first = EMU_NO_ROOM;
	k->u.klm.base = space->addr;
	k->u.klm.pid = space->pid;
	return 0;
}

static int fill_mtt(struct emu_cmd *c, struct emu_mbox *m, struct emu_mkey *k,
		    struct emu_devx_mkey *d)
{
	uint64_t off = emu_prm_get(m->in, EMU_CREATE_MKEY_IN_MKEY_UMEM_OFFSET);
	uint32_t allowed;

	d->umem = emu_devx_umem_by_id(c->file, emu_prm_get(m->in, EMU_CREATE_MKEY_IN_MKEY_UMEM_ID));
	if (!d->umem)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_UMEM);
	if (off > d->umem->len || k->len > d->umem->len - off)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_UMEM_RANGE);
	/* Pages translate to pages, so the offsets in the page must be equal. */
	if ((k->start ^ (d->umem->addr + off)) % EMU_PAGE)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_UMEM_ALIGNMENT);
	allowed = emu_rights_of_access(d->umem->access);
	k->rights &= allowed | EMU_RR |
		     (d->umem->access & IB_UVERBS_ACCESS_LOCAL_WRITE ? EMU_RW | EMU_RA : 0u);
	if (d->umem->dmabuf.id) {
		emu_dmabuf_describe(&d->umem->dmabuf, d->umem->addr + off, k);
		return 0;
	}
	k->u.mem.addr = d->umem->addr + off;
	k->u.mem.pid = d->umem->pid;
	k->u.mem.shared = d->umem->pin.shared;
	k->u.mem.offset = d->umem->pin.offset + off;
	return 0;
}

/* Physical addresses of the guest, which are those of one umem. */
static int fill_pa(struct emu_cmd *c, struct emu_mbox *m, struct emu_mkey *k,
		   struct emu_devx_mkey *d)
{
	const uint8_t *mkc = emu_prm_at_const(m->in, EMU_CREATE_MKEY_IN_MKC);

	d->umem = emu_devx_umem_by_id(c->file, emu_prm_get(m->in, EMU_CREATE_MKEY_IN_MKEY_UMEM_ID));
	if (!d->umem)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_UMEM);
	if (emu_prm_get(mkc, EMU_MKC_LENGTH64)) {
		k->start = 0;
		k->len = d->umem->len;
	}
	if (k->start > d->umem->len || k->len > d->umem->len - k->start)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_UMEM_RANGE);
	k->mode = EMU_MKEY_MEM;
	k->u.mem.addr = d->umem->addr + k->start;
	k->u.mem.pid = d->umem->pid;
	return 0;
}

/* Device memory: start_addr is its place in the BAR, and addresses of the key count from there. */
static int fill_memic(struct emu_cmd *c, struct emu_mbox *m, struct emu_mkey *k,
		      struct emu_devx_mkey *d)
{
	struct emu_dm *dm = emu_driver_memic_at(c->file, k->start, k->len);

	if (!dm)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_MEMIC);
	d->dm = &dm->obj;
	k->mode = EMU_MKEY_DM;
	k->u.dm.offset = dm->offset + (k->start - emu_driver_memic_address(dm));
	k->start = 0;
	return 0;
}

/*
 * translations_octword_size and _actual_size of an mkey on a umem are ignored: the umem knows its
 * pages. UCX sends 1 (before commit a8c655658d, and no page size), DPDK more than there are.
 */
static bool check_mode(const struct emu_cmd *c, const struct emu_mbox *m, uint64_t mode,
		       const struct emu_mkey *k)
{
	switch (mode) {
	case EMU_ACCESS_MODE_MTT: /* for programs, the kernel sets mkey_umem_valid */
		return (!(k->flags & (EMU_MK_FREE | EMU_MK_UMR)) || c->file->driver) &&
		       (!k->log_entity || k->log_entity >= EMU_MIN_LOG_ENTITY) &&
		       !(k->flags & EMU_MK_FREE &&
			 emu_prm_get(m->in, EMU_CREATE_MKEY_IN_MKEY_UMEM_VALID));
	case EMU_ACCESS_MODE_KLM:
		return !k->log_entity && !emu_prm_get(m->in, EMU_CREATE_MKEY_IN_MKEY_UMEM_VALID);
	case EMU_ACCESS_MODE_KSM:
		return k->log_entity >= EMU_MIN_LOG_ENTITY &&
		       !emu_prm_get(m->in, EMU_CREATE_MKEY_IN_MKEY_UMEM_VALID);
	default:
		return false;
	}
}

static uint32_t owner(const uint8_t *mkc)
{
	uint32_t qpn = (uint32_t)emu_prm_get(mkc, EMU_MKC_QPN);

	if (qpn == EMU_MKC_QPN_ANY)
		return 0;
	return qpn ? qpn : NO_QPN;
}

static void read_mkc(const uint8_t *mkc, struct emu_mkey *k)
{
	k->rights = mkc_rights(mkc);
	k->pdn = (uint32_t)emu_prm_get(mkc, EMU_MKC_PD);
	k->tag = (uint8_t)emu_prm_get(mkc, EMU_MKC_MKEY_7_0);
	k->start = emu_prm_get(mkc, EMU_MKC_START_ADDR);
	k->len = emu_prm_get(mkc, EMU_MKC_LEN);
	k->log_entity = (uint32_t)emu_prm_get(mkc, EMU_MKC_LOG_PAGE_SIZE);
	k->qpn = owner(mkc);
	k->flags = (emu_prm_get(mkc, EMU_MKC_FREE) ? EMU_MK_FREE : 0u) |
		   (emu_prm_get(mkc, EMU_MKC_UMR_EN) ? EMU_MK_UMR : 0u) |
		   (emu_prm_get(mkc, EMU_MKC_EN_RINVAL) ? EMU_MK_RINVAL : 0u);
}

/* A list that UMR will set may be empty, as DPDK creates it. */
static bool is_range(const struct emu_mkey *k, uint64_t mode)
{
	if (!k->len)
		return mode == EMU_ACCESS_MODE_KLM && k->flags & EMU_MK_UMR;
	return k->start + k->len - 1 >= k->start;
}

static int fill_mkey(struct emu_cmd *c, struct emu_mbox *m, struct emu_mkey *k,
		     struct emu_devx_mkey *d)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_CREATE_MKEY_IN);
	static const struct emu_prm_range reserved_in_mkc[] = EMU_PRM_RESERVED(EMU_MKC);
	const uint8_t *mkc = emu_prm_at_const(m->in, EMU_CREATE_MKEY_IN_MKC);
	uint64_t mode = emu_prm_get(mkc, EMU_MKC_ACCESS_MODE_4_2) << 2 |
			emu_prm_get(mkc, EMU_MKC_ACCESS_MODE_1_0);

	k->func = c->file->func->index;
	read_mkc(mkc, k);
	if (c->file->driver && !c->file->devx_uid && mode == EMU_ACCESS_MODE_KSM)
		k->flags |= EMU_MK_PAGED;
	if (!emu_pd_by_number(c->file, k->pdn))
		return emu_refuse(m, EMU_CMD_SYN_MKEY_PD);
	if (!EMU_PRM_IS_ZERO(m->in, reserved) || !EMU_PRM_IS_ZERO(mkc, reserved_in_mkc) ||
	    (emu_prm_get(mkc, EMU_MKC_LENGTH64) && mode != EMU_ACCESS_MODE_PA))
		return emu_refuse(m, EMU_CMD_SYN_MKEY_RESERVED);
	if (mode == EMU_ACCESS_MODE_PA && c->file->driver)
		return fill_pa(c, m, k, d);
	if (mode == EMU_ACCESS_MODE_MEMIC && c->file->driver && !k->flags)
		return fill_memic(c, m, k, d);
	if (!check_mode(c, m, mode, k))
		return emu_refuse(m, EMU_CMD_SYN_MKEY_MODE);
	if (k->flags & EMU_MK_FREE && !(k->flags & EMU_MK_UMR))
		return emu_refuse(m, EMU_CMD_SYN_MKEY_FREE);
	if (!(k->flags & EMU_MK_FREE) && !is_range(k, mode))
		return emu_refuse(m, EMU_CMD_SYN_MKEY_RANGE);
	if (mode == EMU_ACCESS_MODE_MTT && k->flags & EMU_MK_FREE)
		return fill_free_mtt(c, m, k);
	if (mode == EMU_ACCESS_MODE_MTT) {
		k->mode = EMU_MKEY_MEM;
		return fill_mtt(c, m, k, d);
	}
	k->mode = mode == EMU_ACCESS_MODE_KSM ? EMU_MKEY_KSM : EMU_MKEY_KLM;
	return fill_list(m, k);
}

static void free_klm(const struct emu_mkey *k)
{
	if (k->mode == EMU_MKEY_PAGES)
		emu_umr_drop_list(k);
	if (k->mode == EMU_MKEY_KLM || k->mode == EMU_MKEY_KSM || k->mode == EMU_MKEY_STRIDED)
		emu_klm_free(k->u.klm.first, k->u.klm.room);
}

int emu_devx_create_mkey(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	struct emu_devx_mkey *d = (struct emu_devx_mkey *)o;
	struct emu_mkey k = {0};
	uint32_t key;
	int err;

	if (m->in_len < EMU_MBOX_HDR + EMU_MKC_BYTES)
		return -EINVAL; /* the kernel looks at the context */
	if (m->in_len < EMU_CREATE_MKEY_IN_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_IN_LEN);
	if (m->op_mod)
		return emu_refuse(m, EMU_CMD_SYN_MKEY_OP_MOD);
	err = fill_mkey(c, m, &k, d);
	if (err)
		return err;
	key = emu_mkey_create(&k, false);
	if (!key) {
		free_klm(&k);
		return emu_refuse(m, EMU_CMD_SYN_MKEY_LIMIT);
	}
	d->index = key >> 8;
	if (d->umem)
		d->umem->obj.users++;
	emu_uobj_hold(d->dm);
	emu_private->alias_rights[d->index].owner_uid = c->file->devx_uid;
	memcpy(d->context, emu_prm_at_const(m->in, EMU_CREATE_MKEY_IN_MKC), sizeof(d->context));
	emu_prm_set(m->out, EMU_CREATE_MKEY_OUT_MKEY_INDEX, d->index);
	return 0;
}

int emu_devx_mkey_undo(struct emu_uobj *o)
{
	struct emu_devx_mkey *d = (struct emu_devx_mkey *)o;
	struct emu_mkey k;

	if (!d->index)
		return 0;
	memcpy(&k, &emu_tables->mkey[d->index], sizeof(k));
	emu_mkey_retire(d->index);
	free_klm(&k);
	if (d->umem)
		d->umem->obj.users--;
	emu_uobj_release(d->dm);
	if (o->type == EMU_T_DEVX_MKEY)
		explicit_bzero(&emu_private->alias_rights[d->index],
			       sizeof(emu_private->alias_rights[0]));
	return 0;
}

/* The fields that UMR changes; those of other mkeys stay as created. */
static void answer_changed(const struct emu_mkey *k, uint8_t *mkc)
{
	const struct emu_prm_value fields[] = {
		{EMU_MKC_A, !!(k->rights & EMU_RA)},
		{EMU_MKC_RW, !!(k->rights & EMU_RW)},
		{EMU_MKC_RR, !!(k->rights & EMU_RR)},
		{EMU_MKC_LW, !!(k->rights & EMU_LW)},
		{EMU_MKC_QPN, k->qpn ? k->qpn % (EMU_MKC_QPN_ANY + 1) : EMU_MKC_QPN_ANY},
		{EMU_MKC_MKEY_7_0, k->tag},
		{EMU_MKC_EN_RINVAL, !!(k->flags & EMU_MK_RINVAL)},
		{EMU_MKC_PD, k->pdn},
		{EMU_MKC_LR, !!(k->rights & EMU_LR)},
		{EMU_MKC_LOG_PAGE_SIZE, k->log_entity},
		{EMU_MKC_START_ADDR, k->start},
		{EMU_MKC_LEN, k->len},
	};

	EMU_PRM_FILL(mkc, fields);
}

static uint8_t *answer_entry(uint8_t *p, const struct emu_klm *klm)
{
	emu_prm_set(p, EMU_KLM_BYTE_COUNT, klm->bytes);
	emu_prm_set(p, EMU_KLM_MKEY, klm->key);
	emu_prm_set(p, EMU_KLM_ADDRESS, klm->addr);
	return p + EMU_KLM_BYTES;
}

/*
 * The list follows the context (Linux' page faults read it there: odp.c), as far as the answer has
 * room. An mkey on a umem has no list.
 */
static void answer_list(const struct emu_mkey *k, struct emu_mbox *m)
{
	uint8_t *p = m->out + EMU_QUERY_MKEY_OUT_BYTES;
	uint8_t *end = m->out + sizeof(m->out) - EMU_KLM_BYTES;
	struct emu_klm head = {0, EMU_KLM_OP_REPEAT, 0};

	if (k->mode == EMU_MKEY_STRIDED) {
		for (uint32_t i = 0; i < k->u.klm.count; i++)
			head.bytes += emu_tables->klm[k->u.klm.first + i].bytes & 0xffff;
		head.addr = (uint64_t)k->u.klm.repeat << 32 | k->u.klm.count;
		p = answer_entry(p, &head);
	} else if (k->mode != EMU_MKEY_KLM && k->mode != EMU_MKEY_KSM) {
		return;
	}
	for (uint32_t i = 0; i < k->u.klm.count && p <= end; i++)
		p = answer_entry(p, &emu_tables->klm[k->u.klm.first + i]);
}

int emu_devx_query_mkey(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const struct emu_devx_mkey *d = (const struct emu_devx_mkey *)o;
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_QUERY_MKEY_IN);
	uint8_t *mkc = emu_prm_at(m->out, EMU_QUERY_MKEY_OUT_MKC);
	const struct emu_mkey *k = &emu_tables->mkey[d->index];

	(void)c;
	if (emu_prm_get(m->in, EMU_QUERY_MKEY_IN_MKEY_INDEX) != d->index)
		return -EINVAL;
	if (m->op_mod)
		return emu_refuse(m, EMU_CMD_SYN_QUERY_MKEY_OP_MOD);
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_QUERY_MKEY_RESERVED);
	if (m->out_len < EMU_MBOX_HDR + EMU_MKC_BYTES)
		return emu_refuse(m, EMU_CMD_SYN_QUERY_MKEY_OUT_LEN);
	memcpy(mkc, d->context, sizeof(d->context));
	emu_prm_set(mkc, EMU_MKC_FREE, !!(k->flags & EMU_MK_FREE));
	if (k->flags & EMU_MK_UMR)
		answer_changed(k, mkc);
	answer_list(k, m);
	return 0;
}
