/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What work requests may do to mkeys: UMR (which is also how a memory window is bound and a key is
 * invalidated at home) and a peer's invalidation. Layouts: rdma-core's providers/mlx5/mlx5dv.h and
 * wqe.h. Syndromes: 0x06 (memory window bind error) for a UMR that the mkey's state, PD or size
 * forbids, 0x02 (local QP operation error) for one that asks for what nobody offers.
 */
#include <string.h>

#include "prm.h"
#include "uobj.h"

#define SYN_QP_OP      0x02u
#define SYN_MW_BIND    0x06u
#define SYN_REM_ACCESS 0x13u

/* umr control segment: flags */
#define F_INLINE     0x80u
#define F_CHECK_FREE 0x20u
#define F_OFFSET     0x10u
#define F_CHECK_QPN  0x08u

/* umr control segment: mkey_mask */
#define M_LEN	      ((uint64_t)1 << 0)
#define M_START	      ((uint64_t)1 << 6)
#define M_KEY	      ((uint64_t)1 << 13)
#define M_QPN	      ((uint64_t)1 << 14)
#define M_LW	      ((uint64_t)1 << 18)
#define M_RR	      ((uint64_t)1 << 19)
#define M_RW	      ((uint64_t)1 << 20)
#define M_RA	      ((uint64_t)1 << 21)
#define M_FREE	      ((uint64_t)1 << 29)
#define M_KNOWN	      (M_LEN | M_START | M_KEY | M_QPN | M_LW | M_RR | M_RW | M_RA | M_FREE)

#define ANY_QPN	      0xffffffu
#define KLM_BYTES     16u
#define KLMS_PER_LINE 4u

static struct emu_mkey *find_in(const struct emu_qp *q, uint32_t pdn, uint32_t key)
{
	struct emu_mkey *m;

	if (key >> 8 >= EMU_MAX_MKEYS)
		return NULL;
	m = &emu.tables->mkey[key >> 8];
	if (!atomic_load(&m->serial) || m->func != q->func || m->pdn != pdn)
		return NULL;
	return m;
}

static struct emu_mkey *find(const struct emu_qp *q, uint32_t key)
{
	return find_in(q, q->pdn, key);
}

static uint64_t mask_of(const struct emu_umr *u)
{
	return emu_prm_get(u->ctrl, EMU_PRM_BYTE(8), 64);
}

/* --- the list ------------------------------------------------------------------------------------
 */

static struct emu_klm entry(const struct emu_umr *u, uint32_t i)
{
	const uint8_t *p = u->klm + (size_t)i * KLM_BYTES;
	struct emu_klm k = {
		.bytes = (uint32_t)emu_prm_get(p, 0, 32),
		.key = (uint32_t)emu_prm_get(p, 32, 32),
		.addr = emu_prm_get(p, 64, 64),
	};

	return k;
}

/* Lists come padded to 64 bytes with entries of no length. */
static uint32_t used_entries(const struct emu_umr *u)
{
	uint32_t n = u->nklm;

	while (n && !entry(u, n - 1).bytes && !entry(u, n - 1).key)
		n--;
	return n;
}

/* A block that is gone through `repeat` times: its head says how many entries follow. */
static uint32_t set_strided(struct emu_mkey *m, const struct emu_umr *u, struct emu_klm *out)
{
	uint32_t count = (uint32_t)emu_prm_get(u->klm, EMU_PRM_BYTE(14), 16), i;
	uint64_t sum = 0;

	if (!count || count >= u->nklm)
		return SYN_MW_BIND;
	for (i = 0; i < count; i++) {
		out[i] = entry(u, i + 1);
		sum += out[i].bytes & 0xffff;
	}
	if (sum != emu_prm_get(u->klm, 0, 32))
		return SYN_MW_BIND;
	m->mode = EMU_MKEY_STRIDED;
	m->u.klm.count = count;
	m->u.klm.repeat = (uint32_t)emu_prm_get(u->klm, EMU_PRM_BYTE(8), 32);
	return 0;
}

static uint32_t set_list(struct emu_mkey *m, const struct emu_umr *u, struct emu_klm *out,
			 uint32_t first)
{
	uint32_t n = used_entries(u), i;

	for (i = 0; i < n; i++)
		out[first + i] = entry(u, i);
	if (m->mode != EMU_MKEY_KSM) /* whose entries stay of one size */
		m->mode = EMU_MKEY_KLM;
	m->u.klm.count = first + n;
	return 0;
}

/* `out` begins as the mkey's list and becomes the new one. */
static uint32_t set_translation(struct emu_mkey *m, const struct emu_umr *u, struct emu_klm *out)
{
	uint32_t first =
		u->ctrl[0] & F_OFFSET ? (uint32_t)emu_prm_get(u->ctrl, EMU_PRM_BYTE(6), 16) : 0;

	if (!u->nklm)
		return 0;
	if (first > m->u.klm.count || used_entries(u) + first > m->u.klm.room)
		return SYN_MW_BIND;
	if (entry(u, 0).key != EMU_KLM_REPEAT)
		return set_list(m, u, out, first);
	return first || m->mode == EMU_MKEY_KSM ? SYN_MW_BIND : set_strided(m, u, out);
}

/* --- the context ---------------------------------------------------------------------------------
 */

static const struct {
	uint64_t mask;
	uint8_t bit; /* in the third byte of the context */
	uint8_t right;
} rights[] = {
	{M_LW, 1u << 3, EMU_LW},
	{M_RR, 1u << 4, EMU_RR},
	{M_RW, 1u << 5, EMU_RW},
	{M_RA, 1u << 6, EMU_RA},
};

static void set_rights(struct emu_mkey *m, const struct emu_umr *u)
{
	uint64_t mask = mask_of(u);
	size_t i;

	for (i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		if (!(mask & rights[i].mask))
			continue;
		m->rights &= ~(uint32_t)rights[i].right;
		if (u->mkc[2] & rights[i].bit)
			m->rights |= rights[i].right;
	}
}

static uint32_t set_context(struct emu_mkey *m, const struct emu_umr *u, uint32_t qpn)
{
	uint64_t mask = mask_of(u), owner = emu_prm_get(u->mkc, 0x20, 24);

	if (mask & M_KEY)
		m->tag = u->mkc[7];
	if (mask & M_QPN) {
		if (owner != ANY_QPN && owner != qpn)
			return SYN_MW_BIND;
		m->qpn = owner == ANY_QPN ? 0 : qpn;
	}
	if (mask & M_START)
		m->start = emu_prm_get(u->mkc, 0x80, 64);
	if (mask & M_LEN)
		m->len = emu_prm_get(u->mkc, 0xc0, 64);
	if (mask & M_FREE)
		m->flags = (m->flags & ~(uint32_t)EMU_MK_FREE) |
			   (emu_prm_get(u->mkc, 0x1, 1) ? EMU_MK_FREE : 0u);
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
		return SYN_MW_BIND;
	region = find(q, k->key);
	if (!region || region->tag != (k->key & 0xff) || region->mw || region->flags & EMU_MK_FREE)
		return SYN_MW_BIND;
	if (!(region->rights & EMU_MB) ||
	    (w->rights & (EMU_RW | EMU_RA) && !(region->rights & EMU_LW)))
		return SYN_MW_BIND;
	return k->addr < region->start || k->bytes > region->len ||
			       k->addr - region->start > region->len - k->bytes
		       ? SYN_MW_BIND
		       : 0;
}

/* May this WQE touch the mkey at all, as it is now? */
static uint32_t check_request(const struct emu_qp *q, const struct emu_umr *u, uint32_t qpn)
{
	const struct emu_mkey *m = find(q, u->key);

	if (u->ctrl[0] & ~(F_INLINE | F_CHECK_FREE | F_OFFSET | F_CHECK_QPN) ||
	    mask_of(u) & ~M_KNOWN)
		return SYN_QP_OP;
	if (!m || !(m->flags & EMU_MK_UMR))
		return SYN_MW_BIND;
	if (m->mw && !(m->flags & EMU_MK_FREE) && m->tag != (u->key & 0xff))
		return SYN_MW_BIND;
	if (u->ctrl[0] & F_CHECK_FREE && !(m->flags & EMU_MK_FREE))
		return SYN_MW_BIND;
	if (!(u->ctrl[0] & F_CHECK_QPN))
		return 0;
	/* An invalidation: windows of type 1 are bound anew instead; a free key is invalid as is.
	 */
	return m->mw == 1 || m->flags & EMU_MK_FREE || (m->qpn && m->qpn != qpn) ? SYN_MW_BIND : 0;
}

static uint32_t change(const struct emu_qp *q, uint32_t qpn, const struct emu_umr *u)
{
	struct emu_klm list[EMU_UMR_KLMS + KLMS_PER_LINE] = {{0}};
	struct emu_mkey *old, m;
	uint32_t syndrome = check_request(q, u, qpn);

	if (syndrome)
		return syndrome;
	old = &emu.tables->mkey[u->key >> 8];
	memcpy(&m, old, sizeof(m));
	if (m.u.klm.room > EMU_UMR_KLMS)
		m.u.klm.room = EMU_UMR_KLMS; /* of which the WQE can reach these */
	memcpy(list, &emu.tables->klm[m.u.klm.first], m.u.klm.room * sizeof(list[0]));
	syndrome = set_context(&m, u, qpn);
	if (!syndrome)
		syndrome = set_translation(&m, u, list);
	if (!syndrome && m.mw)
		syndrome = check_window(q, &m, list);
	if (syndrome)
		return syndrome;
	emu_mkey_retire(u->key >> 8);
	memcpy(&emu.tables->klm[m.u.klm.first], list, m.u.klm.room * sizeof(list[0]));
	m.u.klm.room = old->u.klm.room;
	emu_mkey_update((u->key & ~0xffu) | m.tag, &m);
	return 0;
}

/* The peer names the key: not its PD's, not for this QP, or not to be freed from afar is an access
 * error (IBA 9.7.5.2.8). */
static uint32_t invalidate(const struct emu_qp *q, uint32_t qpn, const struct emu_umr *u)
{
	bool xrc = q->type == EMU_QPT_XRC_TGT && u->srqn < EMU_MAX_SRQS;
	const struct emu_mkey *old =
		find_in(q, xrc ? emu.queues->srq[u->srqn].pdn : q->pdn, u->key);
	struct emu_mkey m;

	if (!old || old->tag != (u->key & 0xff) || !(old->flags & EMU_MK_RINVAL) ||
	    old->flags & EMU_MK_FREE || (old->qpn && old->qpn != qpn))
		return SYN_REM_ACCESS;
	memcpy(&m, old, sizeof(m));
	m.flags |= EMU_MK_FREE;
	m.qpn = 0;
	emu_mkey_update(u->key, &m);
	return 0;
}

/* The request is copied first: its memory is the client's too. */
static void serve(const struct emu_qp *q, uint32_t qpn, struct emu_umr *u)
{
	struct emu_umr what;

	if (atomic_load(&u->state) != EMU_UMR_POSTED)
		return;
	memcpy(&what, u, sizeof(what));
	if (what.nklm > EMU_UMR_KLMS)
		u->syndrome = SYN_QP_OP;
	else if (what.resets != atomic_load(&q->resets))
		u->syndrome = 0; /* nobody waits for it */
	else
		u->syndrome = what.op == EMU_UMR_CHANGE ? change(q, qpn, &what)
							: invalidate(q, qpn, &what);
	atomic_store(&u->state, EMU_UMR_DONE);
}

void emu_umr_serve(uint32_t qpn)
{
	struct emu_qp *q = &emu.queues->qp[qpn];
	unsigned int side;

	for (side = 0; side < EMU_UMR_SIDES; side++)
		serve(q, qpn, &q->umr[side]);
	emu_engine_kick(q->engine);
	if (q->type == EMU_QPT_XRC_TGT) /* whose message it is */
		emu_engine_kick(EMU_MSG_SLOT(atomic_load(&q->inbox.state)));
}
