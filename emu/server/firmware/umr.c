/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A UMR that the mkey's state, PD or size forbids completes with the syndrome MW_BIND, one that asks
 * for something that no device offers with LOC_QP_OP.
 */
#include "emu/server/firmware/mkey.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emu/ipc/bytes.h"
#include "emu/ipc/codes.h"
#include "emu/ipc/firmware.h"
#include "emu/prm/prm_mkey.h"
#include "emu/prm/prm_umr.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/mkey_table.h"
#include "emu/server/card/segments.h"
#include "emu/server/firmware/queue.h"
#include "emu/server/mm/user_copy.h"
#include "emu/server/uverbs/file.h"
#include "emu/server/uverbs/pd.h"

/* A queue pair's request, and its list of `u->nklm` entries. */
struct request {
	const struct emu_qp *q;
	uint32_t qpn;
	const struct emu_umr *u;
	const uint8_t *list;
};

static struct emu_mkey *find_in(const struct emu_qp *q, uint32_t pdn, uint32_t key)
{
	struct emu_mkey *m;

	if (key >> 8 >= EMU_MAX_MKEYS)
		return NULL;
	m = &emu_tables->mkey[key >> 8];
	if (!atomic_load(&m->serial) || m->func != q->func || (m->pdn != pdn && pdn != EMU_ANY_PD))
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

/* The entries of a list that a request writes: those from `skip` on become the mkey's from `first` on. */
struct edit {
	uint32_t first;
	uint32_t skip;
	uint32_t n;
};

/* --- the list --------------------------------------------------------------------------------- */

static struct emu_klm entry(const struct request *r, uint32_t i)
{
	const uint8_t *p = r->list + (size_t)i * EMU_KLM_BYTES;
	struct emu_klm k = {
		.bytes = (uint32_t)emu_prm_get(p, EMU_KLM_BYTE_COUNT),
		.key = (uint32_t)emu_prm_get(p, EMU_KLM_MKEY),
		.addr = emu_prm_get(p, EMU_KLM_ADDRESS),
	};

	return k;
}

static struct emu_klm page(const struct request *r, uint32_t i)
{
	const uint64_t tag = emu_get64(r->list + (size_t)i * EMU_MTT_BYTES);
	struct emu_klm k = {.addr = tag & ~(uint64_t)(EMU_PAGE - 1)};

	if (k.addr >= EMU_FW_SPACE)
		k.key = EMU_PAGE_NOWHERE;
	else
		k.key = (tag & EMU_MTT_READ ? EMU_LR : 0u) | (tag & EMU_MTT_WRITE ? EMU_LW : 0u);
	return k;
}

/* Lists are padded to 64 bytes with entries of length 0. */
static uint32_t used_entries(const struct request *r)
{
	uint32_t n = r->u->nklm;

	while (n && !entry(r, n - 1).bytes && !entry(r, n - 1).key)
		n--;
	return n;
}

/* A block that is repeated `repeat` times: its head has the number of entries that follow. */
static uint32_t set_strided(struct emu_mkey *m, const struct request *r, struct edit *e)
{
	uint32_t count = (uint32_t)emu_prm_get(r->list, EMU_KLM_REPEAT_NUM_ENTRIES), i;
	uint64_t sum = 0;

	if (!count || count >= r->u->nklm)
		return EMU_SYN_MW_BIND;
	for (i = 1; i <= count; i++)
		sum += entry(r, i).bytes & 0xffff;
	if (sum != emu_prm_get(r->list, EMU_KLM_REPEAT_BYTE_COUNT))
		return EMU_SYN_MW_BIND;
	e->skip = 1;
	e->n = count;
	m->mode = EMU_MKEY_STRIDED;
	m->u.klm.count = count;
	m->u.klm.repeat = (uint32_t)emu_prm_get(r->list, EMU_KLM_REPEAT_REPEAT_COUNT);
	return 0;
}

/* With an offset, the entries before and behind the new ones remain. */
static uint32_t set_list(struct emu_mkey *m, const struct request *r, struct edit *e)
{
	uint32_t end;

	e->n = used_entries(r);
	end = e->first + e->n;
	if (m->mode != EMU_MKEY_KSM) /* whose entries stay of one size */
		m->mode = EMU_MKEY_KLM;
	if (!(flags_of(r->u) & EMU_UMR_FLAG_TRANSLATION_OFFSET) || end > m->u.klm.count)
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

static uint32_t set_klms(struct emu_mkey *m, const struct request *r, struct edit *e)
{
	const uint64_t first = offset_of(r->u);
	const bool strided = entry(r, 0).key == EMU_KLM_OP_REPEAT;

	if (first > m->u.klm.count || used_entries(r) + first > m->u.klm.room)
		return EMU_SYN_MW_BIND;
	if (first && (strided || m->mode == EMU_MKEY_STRIDED))
		return EMU_SYN_MW_BIND;
	e->first = (uint32_t)first;
	if (!strided)
		return set_list(m, r, e);
	return m->mode == EMU_MKEY_KSM ? EMU_SYN_MW_BIND : set_strided(m, r, e);
}

/* Pages are the guest's: its kernel names them, and not a program for which it creates queue pairs. */
static bool is_kernel(const struct request *r)
{
	struct emu_file *f = emu_file_by_ino(r->q->file);
	const struct emu_devx_qp *qp = f ? emu_uobj_get(f, r->q->handle, EMU_T_DEVX_QP) : NULL;

	return qp && !qp->obj.uid;
}

/* Pages that no list has named are not present. */
static uint32_t set_pages(struct emu_mkey *m, const struct request *r, struct edit *e)
{
	const uint64_t first = offset_of(r->u);

	if (!is_kernel(r) || first % EMU_UMR_LINE || r->u->nklm % EMU_UMR_LINE)
		return EMU_SYN_LOC_QP_OP;
	if (first + r->u->nklm > m->u.klm.room / EMU_MTT_PER_OCTWORD)
		return EMU_SYN_MW_BIND;
	if (m->u.klm.first == EMU_NO_ROOM) {
		m->u.klm.first = emu_klm_alloc(m->u.klm.room);
		if (m->u.klm.first == EMU_NO_ROOM)
			return EMU_SYN_MW_BIND;
		memset(&emu_tables->klm[m->u.klm.first], 0,
		       m->u.klm.room * sizeof(emu_tables->klm[0]));
	}
	e->first = (uint32_t)first * EMU_MTT_PER_OCTWORD;
	e->n = r->u->nklm * EMU_MTT_PER_OCTWORD;
	m->u.klm.count = m->u.klm.room;
	return 0;
}

/* What can be refused comes first: room for pages is not taken for nothing. */
static uint32_t set_translation(struct emu_mkey *m, const struct request *r, struct edit *e)
{
	if (!r->u->nklm)
		return 0;
	if (m->mode == EMU_MKEY_PAGES)
		return set_pages(m, r, e);
	return has_list(m) ? set_klms(m, r, e) : EMU_SYN_MW_BIND;
}

static struct emu_klm next_entry(const struct emu_mkey *m, const struct request *r,
				 const struct edit *e, uint32_t i)
{
	return m->mode == EMU_MKEY_PAGES ? page(r, i) : entry(r, e->skip + i);
}

static void write_list(const struct emu_mkey *m, const struct request *r, const struct edit *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		emu_tables->klm[m->u.klm.first + e->first + i] = next_entry(m, r, e, i);
}

void emu_umr_drop_list(const struct emu_mkey *m)
{
	if (m->u.klm.first != EMU_NO_ROOM)
		emu_klm_free(m->u.klm.first, m->u.klm.room);
}

/* The driver frees an mkey to keep it for another region; it names all pages again then. */
static bool forget_pages(struct emu_mkey *m, const struct request *r)
{
	if (m->mode != EMU_MKEY_PAGES || !(mask_of(r->u) & EMU_UMR_MASK_FREE) ||
	    !(m->flags & EMU_MK_FREE) || r->u->nklm)
		return false;
	m->u.klm.first = EMU_NO_ROOM;
	m->u.klm.count = 0;
	return true;
}

/* --- the context ------------------------------------------------------------------------------ */

static const struct {
	uint64_t mask;
	int field;
	uint8_t right;
} rights[] = {
	{EMU_UMR_MASK_LOCAL_READ, EMU_MKC_LR, EMU_LR},
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

/* Only the driver moves mkeys between protection domains. */
static uint32_t set_domain(struct emu_mkey *m, const struct request *r)
{
	const uint32_t pdn = (uint32_t)emu_prm_get(r->u->mkc, EMU_MKC_PD);
	const struct emu_file *f = emu_file_by_ino(r->q->file);

	if (!(mask_of(r->u) & EMU_UMR_MASK_PD))
		return 0;
	if (r->q->pdn != EMU_ANY_PD)
		return EMU_SYN_LOC_QP_OP;
	if (!f || !emu_pd_by_number(f, pdn))
		return EMU_SYN_MW_BIND;
	m->pdn = pdn;
	return 0;
}

/*
 * Only the driver makes a key for all memory. In requests of programs the field has no meaning: when it binds a window,
 * libmlx5 leaves there what was in the ring (set_umr_mkey_seg()).
 */
static bool is_whole(const struct request *r)
{
	return r->q->pdn == EMU_ANY_PD && emu_prm_get(r->u->mkc, EMU_MKC_LENGTH64);
}

/* Only entries of one size have it. The pages that CREATE_MKEY named stay as they are, and so does their range. */
static uint32_t set_range(struct emu_mkey *m, const struct request *r)
{
	const bool whole = is_whole(r);
	const uint64_t mask = mask_of(r->u);
	const uint64_t len = whole ? UINT64_MAX : emu_prm_get(r->u->mkc, EMU_MKC_LEN);
	const uint64_t start = emu_prm_get(r->u->mkc, EMU_MKC_START_ADDR);
	const uint32_t log = (uint32_t)emu_prm_get(r->u->mkc, EMU_MKC_LOG_PAGE_SIZE);
	const bool sized = m->mode == EMU_MKEY_PAGES || m->mode == EMU_MKEY_KSM;

	if (mask & EMU_UMR_MASK_LEN && whole && m->mode != EMU_MKEY_PAGES &&
	    !(m->flags & EMU_MK_PAGED))
		return EMU_SYN_LOC_QP_OP; /* a key for all memory has pages, or gets them on demand */
	if (!has_list(m) && m->mode != EMU_MKEY_PAGES)
		return ((mask & EMU_UMR_MASK_LEN && len != m->len) ||
			(mask & EMU_UMR_MASK_START_ADDR && start != m->start) ||
			(mask & EMU_UMR_MASK_PAGE_SIZE && log != m->log_entity))
			       ? EMU_SYN_MW_BIND
			       : 0;
	if (mask & EMU_UMR_MASK_PAGE_SIZE) {
		if (sized ? log < EMU_MIN_LOG_ENTITY : log)
			return EMU_SYN_MW_BIND;
		m->log_entity = log;
	}
	if (mask & EMU_UMR_MASK_START_ADDR)
		m->start = start;
	if (mask & EMU_UMR_MASK_LEN)
		m->len = len;
	return 0;
}

static void set_flag(struct emu_mkey *m, const struct request *r, uint64_t mask, int field,
		     uint32_t flag)
{
	if (!(mask_of(r->u) & mask))
		return;
	m->flags &= ~flag;
	if (emu_prm_get(r->u->mkc, field))
		m->flags |= flag;
}

static uint32_t set_context(struct emu_mkey *m, const struct request *r)
{
	uint64_t mask = mask_of(r->u), owner = emu_prm_get(r->u->mkc, EMU_MKC_QPN);
	uint32_t syndrome;

	if (mask & EMU_UMR_MASK_MKEY)
		m->tag = (uint8_t)emu_prm_get(r->u->mkc, EMU_MKC_MKEY_7_0);
	if (mask & EMU_UMR_MASK_QPN) {
		if (owner != EMU_MKC_QPN_ANY && owner != r->qpn)
			return EMU_SYN_MW_BIND;
		m->qpn = owner == EMU_MKC_QPN_ANY ? 0 : r->qpn;
	}
	set_flag(m, r, EMU_UMR_MASK_FREE, EMU_MKC_FREE, EMU_MK_FREE);
	set_flag(m, r, EMU_UMR_MASK_EN_RINVAL, EMU_MKC_EN_RINVAL, EMU_MK_RINVAL);
	set_rights(m, r->u);
	syndrome = set_domain(m, r);
	return syndrome ? syndrome : set_range(m, r);
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

/* Does the request ask for something that no device offers? */
static bool is_malformed(const struct emu_umr *u)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_UMR_CTRL);
	const uint64_t checks = EMU_UMR_FLAG_CHECK_FREE | EMU_UMR_FLAG_CHECK_VALID;

	return flags_of(u) & ~(uint64_t)EMU_UMR_FLAG_ALL ||
	       mask_of(u) & ~(uint64_t)EMU_UMR_MASK_ALL || !EMU_PRM_IS_ZERO(u->ctrl, reserved) ||
	       (flags_of(u) & checks) == checks ||
	       (offset_of(u) && !(flags_of(u) & EMU_UMR_FLAG_TRANSLATION_OFFSET));
}

/* May this WQE change the mkey in its current state? */
static uint32_t check_request(const struct request *r)
{
	const struct emu_umr *u = r->u;
	const struct emu_mkey *m = find(r->q, u->key);

	if (is_malformed(u))
		return EMU_SYN_LOC_QP_OP;
	if (!m || !(m->flags & EMU_MK_UMR))
		return EMU_SYN_MW_BIND;
	if (m->mw && !(m->flags & EMU_MK_FREE) && m->tag != (u->key & 0xff))
		return EMU_SYN_MW_BIND;
	if (flags_of(u) & EMU_UMR_FLAG_CHECK_FREE && !(m->flags & EMU_MK_FREE))
		return EMU_SYN_MW_BIND;
	if (flags_of(u) & EMU_UMR_FLAG_CHECK_VALID && m->flags & EMU_MK_FREE)
		return EMU_SYN_MW_BIND;
	if (!(flags_of(u) & EMU_UMR_FLAG_CHECK_QPN))
		return 0;
	/*
	 * An invalidation: windows of type 1 are bound again instead; a free key is not valid
	 * already.
	 */
	return m->mw == 1 || m->flags & EMU_MK_FREE || (m->qpn && m->qpn != r->qpn)
		       ? EMU_SYN_MW_BIND
		       : 0;
}

/* A window keeps its entry if the request has no list. */
static uint32_t check_bound(const struct request *r, const struct emu_mkey *m, const struct edit *e)
{
	const struct emu_klm bound =
		m->mw ? (e->n ? entry(r, e->skip) : emu_tables->klm[m->u.klm.first])
		      : (struct emu_klm){0};

	return m->mw ? check_window(r->q, m, &bound) : 0;
}

/* What stands for an entry that a driver gives on demand. */
static uint32_t missing_key(const struct emu_mkey *m)
{
	return m->mode == EMU_MKEY_PAGES ? 0 : EMU_NULL_LKEY;
}

/*
 * Nothing but entries of a list that is there change, which are given on demand: the key stays valid meanwhile, as
 * queues may use others.
 */
static bool is_paging(const struct emu_mkey *m, const struct request *r, const struct edit *e)
{
	const uint32_t end = e->first + e->n;

	if (!r->u->nklm || mask_of(r->u) || m->u.klm.first == EMU_NO_ROOM || end > m->u.klm.count)
		return false;
	return m->mode == EMU_MKEY_PAGES ||
	       (m->flags & EMU_MK_PAGED &&
		(end == m->u.klm.count || flags_of(r->u) & EMU_UMR_FLAG_TRANSLATION_OFFSET));
}

static bool is_same(const struct emu_klm *a, const struct emu_klm *b)
{
	return a->key == b->key && a->addr == b->addr;
}

/* What was there is missing first, until no engine uses it any more. */
static void page_entries(const struct emu_mkey *m, const struct request *r, const struct edit *e)
{
	struct emu_klm *list = &emu_tables->klm[m->u.klm.first + e->first];
	bool was_there = false;

	for (uint32_t i = 0; i < e->n; i++) {
		const struct emu_klm next = next_entry(m, r, e, i);

		if (list[i].key == missing_key(m) || is_same(&list[i], &next))
			continue;
		__atomic_store_n(&list[i].key, missing_key(m), __ATOMIC_SEQ_CST);
		was_there = true;
	}
	if (was_there)
		emu_grace();
	for (uint32_t i = 0; i < e->n; i++) {
		const struct emu_klm next = next_entry(m, r, e, i);

		if (is_same(&list[i], &next))
			continue;
		list[i].bytes = next.bytes;
		list[i].addr = next.addr;
		__atomic_store_n(&list[i].key, next.key, __ATOMIC_SEQ_CST);
	}
}

static uint32_t change(const struct request *r)
{
	const uint32_t key = r->u->key;
	struct emu_mkey old, m;
	struct edit e = {0};
	bool forgets;
	uint32_t syndrome = check_request(r);

	if (syndrome)
		return syndrome;
	memcpy(&old, &emu_tables->mkey[key >> 8], sizeof(old));
	memcpy(&m, &old, sizeof(m));
	syndrome = set_context(&m, r);
	if (!syndrome)
		syndrome = set_translation(&m, r, &e);
	if (!syndrome)
		syndrome = check_bound(r, &m, &e);
	if (syndrome)
		return syndrome;
	if (is_paging(&old, r, &e)) {
		page_entries(&old, r, &e);
		return 0;
	}
	forgets = forget_pages(&m, r);
	emu_mkey_retire(key >> 8);
	if (forgets)
		emu_umr_drop_list(&old);
	write_list(&m, r, &e);
	emu_mkey_update((key & ~0xffu) | m.tag, &m);
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

/* The list that a request points to is memory of its own process. */
static bool read_list(const struct emu_qp *q, const struct emu_umr *u, uint8_t *list)
{
	const size_t len = (size_t)u->nklm * EMU_KLM_BYTES;
	size_t at = 0;

	for (uint32_t i = 0; i < u->nseg; i++) {
		const struct emu_seg *s = &u->seg[i];

		if (s->pid != emu_queues->engine[q->engine].pid || s->len > len - at ||
		    emu_copy_from(s->pid, list + at, s->addr, s->len))
			return false;
		at += s->len;
	}
	return at == len;
}

static uint32_t change_by_pointer(struct request *r)
{
	uint8_t *list;
	uint32_t syndrome = EMU_SYN_LOC_PROT;

	if (r->u->nseg > EMU_UMR_SEGS || r->u->nklm > UINT16_MAX)
		return EMU_SYN_LOC_QP_OP;
	list = malloc((size_t)r->u->nklm * EMU_KLM_BYTES + 1);
	if (list && read_list(r->q, r->u, list)) {
		r->list = list;
		syndrome = change(r);
	}
	free(list);
	return syndrome;
}

static uint32_t execute(const struct emu_qp *q, uint32_t qpn, const struct emu_umr *u)
{
	struct request r = {q, qpn, u, u->klm};

	if (u->resets != atomic_load(&q->resets))
		return 0; /* the QP was reset and does not wait for it */
	if (u->op != EMU_UMR_CHANGE)
		return invalidate(q, qpn, u);
	if (u->nseg)
		return change_by_pointer(&r);
	return u->nklm > EMU_UMR_KLMS ? (uint32_t)EMU_SYN_LOC_QP_OP : change(&r);
}

/* Copy the request first: a client can write its memory at any time. */
static void serve(const struct emu_qp *q, uint32_t qpn, struct emu_umr *u)
{
	struct emu_umr what;

	if (atomic_load(&u->state) != EMU_UMR_POSTED)
		return;
	memcpy(&what, u, sizeof(what));
	u->syndrome = execute(q, qpn, &what);
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
