/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A UMR that the mkey's state, PD or size forbids completes with the syndrome MW_BIND, one that asks
 * for something that no device offers with LOC_QP_OP.
 */
#include "emu/server/firmware/mkey.h"

#include <string.h>

#include "base/array.h"
#include "emu/ipc/codes.h"
#include "emu/prm/prm_mkey.h"
#include "emu/prm/prm_umr.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/mkey_table.h"
#include "emu/server/card/segments.h"

static struct emu_mkey *find_in(const struct emu_qp *q, uint32_t pdn, uint32_t key)
{
	struct emu_mkey *m;

	if (key >> 8 >= EMU_MAX_MKEYS)
		return NULL;
	m = &emu_tables->mkey[key >> 8];
	if (!atomic_load(&m->serial) || m->func != q->func || m->pdn != pdn)
		return NULL;
	return m;
}

static struct emu_mkey *find(const struct emu_qp *q, uint32_t key)
{
	return find_in(q, q->pdn, key);
}

static uint64_t flags_of(const struct emu_umr *u)
{
	return emu_prm_get(u->ctrl, EMU_UMR_CTRL_FLAGS);
}

static uint64_t mask_of(const struct emu_umr *u)
{
	return emu_prm_get(u->ctrl, EMU_UMR_CTRL_MKEY_MASK);
}

/* The entries that a request writes, from the mkey's entry `first` on. */
struct edit {
	uint32_t first;
	uint32_t n;
	struct emu_klm list[EMU_UMR_KLMS];
};

/* --- the list --------------------------------------------------------------------------------- */

static struct emu_klm entry(const struct emu_umr *u, uint32_t i)
{
	const uint8_t *p = u->klm + (size_t)i * EMU_KLM_BYTES;
	struct emu_klm k = {
		.bytes = (uint32_t)emu_prm_get(p, EMU_KLM_BYTE_COUNT),
		.key = (uint32_t)emu_prm_get(p, EMU_KLM_MKEY),
		.addr = emu_prm_get(p, EMU_KLM_ADDRESS),
	};

	return k;
}

/* Lists are padded to 64 bytes with entries of length 0. */
static uint32_t used_entries(const struct emu_umr *u)
{
	uint32_t n = u->nklm;

	while (n && !entry(u, n - 1).bytes && !entry(u, n - 1).key)
		n--;
	return n;
}

/* A block that is repeated `repeat` times: its head has the number of entries that follow. */
static uint32_t set_strided(struct emu_mkey *m, const struct emu_umr *u, struct edit *e)
{
	uint32_t count = (uint32_t)emu_prm_get(u->klm, EMU_KLM_REPEAT_NUM_ENTRIES), i;
	uint64_t sum = 0;

	if (!count || count >= u->nklm)
		return EMU_SYN_MW_BIND;
	for (i = 0; i < count; i++) {
		e->list[i] = entry(u, i + 1);
		sum += e->list[i].bytes & 0xffff;
	}
	if (sum != emu_prm_get(u->klm, EMU_KLM_REPEAT_BYTE_COUNT))
		return EMU_SYN_MW_BIND;
	e->n = count;
	m->mode = EMU_MKEY_STRIDED;
	m->u.klm.count = count;
	m->u.klm.repeat = (uint32_t)emu_prm_get(u->klm, EMU_KLM_REPEAT_REPEAT_COUNT);
	return 0;
}

/* With an offset, the entries before and behind the new ones remain. */
static uint32_t set_list(struct emu_mkey *m, const struct emu_umr *u, struct edit *e)
{
	uint32_t end;

	e->n = used_entries(u);
	for (uint32_t i = 0; i < e->n; i++)
		e->list[i] = entry(u, i);
	end = e->first + e->n;
	if (m->mode != EMU_MKEY_KSM) /* whose entries stay of one size */
		m->mode = EMU_MKEY_KLM;
	if (!(flags_of(u) & EMU_UMR_FLAG_TRANSLATION_OFFSET) || end > m->u.klm.count)
		m->u.klm.count = end;
	return 0;
}

static bool has_list(const struct emu_mkey *m)
{
	return m->mode == EMU_MKEY_KLM || m->mode == EMU_MKEY_KSM || m->mode == EMU_MKEY_STRIDED;
}

/* The offset counts entries; its upper part is umr_extended_translation_offset. */
static uint64_t offset_of(const struct emu_umr *u)
{
	return emu_prm_get(u->ctrl, EMU_UMR_CTRL_TRANSLATION_OFFSET) |
	       emu_prm_get(u->ctrl, EMU_UMR_CTRL_TRANSLATION_OFFSET_47_16) << 16;
}

static uint32_t set_translation(struct emu_mkey *m, const struct emu_umr *u, struct edit *e)
{
	uint64_t first = offset_of(u);
	bool strided = entry(u, 0).key == EMU_KLM_OP_REPEAT;

	if (!u->nklm)
		return 0;
	if (!has_list(m) || first > m->u.klm.count || used_entries(u) + first > m->u.klm.room)
		return EMU_SYN_MW_BIND;
	if (first && (strided || m->mode == EMU_MKEY_STRIDED))
		return EMU_SYN_MW_BIND;
	e->first = (uint32_t)first;
	if (!strided)
		return set_list(m, u, e);
	return m->mode == EMU_MKEY_KSM ? EMU_SYN_MW_BIND : set_strided(m, u, e);
}

/* --- the context ------------------------------------------------------------------------------ */

static const struct {
	uint64_t mask;
	int field;
	uint8_t right;
} rights[] = {
	{EMU_UMR_MASK_LOCAL_WRITE, EMU_MKC_LW, EMU_LW},
	{EMU_UMR_MASK_REMOTE_READ, EMU_MKC_RR, EMU_RR},
	{EMU_UMR_MASK_REMOTE_WRITE, EMU_MKC_RW, EMU_RW},
	{EMU_UMR_MASK_ATOMIC, EMU_MKC_A, EMU_RA},
};

static void set_rights(struct emu_mkey *m, const struct emu_umr *u)
{
	uint64_t mask = mask_of(u);

	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		if (!(mask & rights[i].mask))
			continue;
		m->rights &= ~(uint32_t)rights[i].right;
		if (emu_prm_get(u->mkc, rights[i].field))
			m->rights |= rights[i].right;
	}
}

static uint32_t set_context(struct emu_mkey *m, const struct emu_umr *u, uint32_t qpn)
{
	uint64_t mask = mask_of(u), owner = emu_prm_get(u->mkc, EMU_MKC_QPN);

	if (mask & EMU_UMR_MASK_MKEY)
		m->tag = (uint8_t)emu_prm_get(u->mkc, EMU_MKC_MKEY_7_0);
	if (mask & EMU_UMR_MASK_QPN) {
		if (owner != EMU_MKC_QPN_ANY && owner != qpn)
			return EMU_SYN_MW_BIND;
		m->qpn = owner == EMU_MKC_QPN_ANY ? 0 : qpn;
	}
	if (mask & EMU_UMR_MASK_START_ADDR)
		m->start = emu_prm_get(u->mkc, EMU_MKC_START_ADDR);
	if (mask & EMU_UMR_MASK_LEN)
		m->len = emu_prm_get(u->mkc, EMU_MKC_LEN);
	if (mask & EMU_UMR_MASK_FREE)
		m->flags = (m->flags & ~(uint32_t)EMU_MK_FREE) |
			   (emu_prm_get(u->mkc, EMU_MKC_FREE) ? EMU_MK_FREE : 0u);
	set_rights(m, u);
	return 0;
}

/*
 * A window lies within one region of its PD, registered for binding, and grants no writing that
 * the region does not (IBA 10.6.7.2.2); a window of type 2 belongs to the QP that bound it.
 */
static uint32_t check_window(const struct emu_qp *q, const struct emu_mkey *w,
			     const struct emu_klm *k)
{
	const struct emu_mkey *region;

	if (w->flags & EMU_MK_FREE)
		return 0;
	if (w->mode != EMU_MKEY_KLM || w->u.klm.count != 1 || k->bytes != w->len ||
	    (w->mw == 2) != (w->qpn != 0))
		return EMU_SYN_MW_BIND;
	region = find(q, k->key);
	if (!region || region->tag != (k->key & 0xff) || region->mw || region->flags & EMU_MK_FREE)
		return EMU_SYN_MW_BIND;
	if (!(region->rights & EMU_MB) ||
	    (w->rights & (EMU_RW | EMU_RA) && !(region->rights & EMU_LW)))
		return EMU_SYN_MW_BIND;
	return k->addr < region->start || k->bytes > region->len ||
			       k->addr - region->start > region->len - k->bytes
		       ? EMU_SYN_MW_BIND
		       : 0;
}

/* May this WQE change the mkey in its current state? */
static uint32_t check_request(const struct emu_qp *q, const struct emu_umr *u, uint32_t qpn)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_UMR_CTRL);
	const struct emu_mkey *m = find(q, u->key);

	if (flags_of(u) & ~(uint64_t)EMU_UMR_FLAG_ALL || mask_of(u) & ~(uint64_t)EMU_UMR_MASK_ALL ||
	    !EMU_PRM_IS_ZERO(u->ctrl, reserved) ||
	    (offset_of(u) && !(flags_of(u) & EMU_UMR_FLAG_TRANSLATION_OFFSET)))
		return EMU_SYN_LOC_QP_OP;
	if (!m || !(m->flags & EMU_MK_UMR))
		return EMU_SYN_MW_BIND;
	if (m->mw && !(m->flags & EMU_MK_FREE) && m->tag != (u->key & 0xff))
		return EMU_SYN_MW_BIND;
	if (flags_of(u) & EMU_UMR_FLAG_CHECK_FREE && !(m->flags & EMU_MK_FREE))
		return EMU_SYN_MW_BIND;
	if (!(flags_of(u) & EMU_UMR_FLAG_CHECK_QPN))
		return 0;
	/*
	 * An invalidation: windows of type 1 are bound again instead; a free key is not valid
	 * already.
	 */
	return m->mw == 1 || m->flags & EMU_MK_FREE || (m->qpn && m->qpn != qpn) ? EMU_SYN_MW_BIND
										 : 0;
}

static uint32_t change(const struct emu_qp *q, uint32_t qpn, const struct emu_umr *u)
{
	struct emu_mkey *old, m;
	struct edit e = {0};
	uint32_t syndrome = check_request(q, u, qpn);

	if (syndrome)
		return syndrome;
	old = &emu_tables->mkey[u->key >> 8];
	memcpy(&m, old, sizeof(m));
	if (m.mw) /* it keeps its entry if the request has no list */
		e.list[0] = emu_tables->klm[m.u.klm.first];
	syndrome = set_context(&m, u, qpn);
	if (!syndrome)
		syndrome = set_translation(&m, u, &e);
	if (!syndrome && m.mw)
		syndrome = check_window(q, &m, e.list);
	if (syndrome)
		return syndrome;
	emu_mkey_retire(u->key >> 8);
	if (e.n)
		memcpy(&emu_tables->klm[m.u.klm.first + e.first], e.list, e.n * sizeof(e.list[0]));
	emu_mkey_update((u->key & ~0xffu) | m.tag, &m);
	return 0;
}

/*
 * A peer names the key. The receiver reports an error if the key belongs to another PD or QP, or may
 * not be invalidated remotely: IBA's memory management operation error, for which verbs has no name.
 */
static uint32_t invalidate(const struct emu_qp *q, uint32_t qpn, const struct emu_umr *u)
{
	bool xrc = q->type == EMU_QPT_XRC_TGT && u->srqn < EMU_MAX_SRQS;
	const struct emu_mkey *old =
		find_in(q, xrc ? emu_queues->srq[u->srqn].pdn : q->pdn, u->key);
	struct emu_mkey m;

	if (!old || old->tag != (u->key & 0xff) || !(old->flags & EMU_MK_RINVAL) ||
	    old->flags & EMU_MK_FREE || (old->qpn && old->qpn != qpn))
		return EMU_SYN_MW_BIND;
	memcpy(&m, old, sizeof(m));
	m.flags |= EMU_MK_FREE;
	m.qpn = 0;
	emu_mkey_update(u->key, &m);
	return 0;
}

/* Copy the request first: a client can write its memory at any time. */
static void serve(const struct emu_qp *q, uint32_t qpn, struct emu_umr *u)
{
	struct emu_umr what;

	if (atomic_load(&u->state) != EMU_UMR_POSTED)
		return;
	memcpy(&what, u, sizeof(what));
	if (what.nklm > EMU_UMR_KLMS)
		u->syndrome = EMU_SYN_LOC_QP_OP;
	else if (what.resets != atomic_load(&q->resets))
		u->syndrome = 0; /* the QP was reset and does not wait for it */
	else
		u->syndrome = what.op == EMU_UMR_CHANGE ? change(q, qpn, &what)
							: invalidate(q, qpn, &what);
	atomic_store(&u->state, EMU_UMR_DONE);
}

void emu_umr_serve(uint32_t qpn)
{
	struct emu_qp *q = &emu_queues->qp[qpn];

	for (unsigned int side = 0; side < EMU_UMR_SIDES; side++)
		serve(q, qpn, &q->umr[side]);
	emu_engine_wake(q->engine);
	if (q->type == EMU_QPT_XRC_TGT) /* whose message it is */
		emu_engine_wake(EMU_MSG_SLOT(atomic_load(&q->inbox.state)));
}
