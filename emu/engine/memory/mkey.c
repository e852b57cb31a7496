/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory keys: translate (key, address, length) to pieces of memory that the engine can access. */
#include "emu/engine/memory/mkey.h"

#include "emu/engine/memory/memory.h"

#define MAX_DEPTH 4

static const struct emu_mkey *lookup(const struct emu_memory *mem, uint32_t key, uint32_t func)
{
	uint32_t index = key >> 8;
	const struct emu_mkey *m;

	if (index >= EMU_MAX_MKEYS)
		return NULL;
	m = &mem->tables->mkey[index];
	if (!atomic_load(&m->serial) || m->tag != (key & 0xff) || m->func != func)
		return NULL;
	return m->flags & EMU_MK_FREE ? NULL : m;
}

/* The mkey that was granted to the alias, if it still exists. */
static const struct emu_mkey *target(const struct emu_memory *mem, const struct emu_mkey *alias)
{
	const struct emu_mkey *m;

	if (alias->u.alias.index >= EMU_MAX_MKEYS || !alias->u.alias.serial)
		return NULL;
	m = &mem->tables->mkey[alias->u.alias.index];
	if (!atomic_load(&m->serial) || m->first_serial != alias->u.alias.serial || !m->shared ||
	    m->flags & EMU_MK_FREE)
		return NULL;
	return m->mode == EMU_MKEY_ALIAS ? NULL : m;
}

/* No peer may name it: it grants no remote rights. */
static const struct emu_mkey null_mkey = {
	.mode = EMU_MKEY_NULL,
	.rights = EMU_LR | EMU_LW,
	.len = UINT64_MAX,
};

const struct emu_mkey *emu_mkey_find(const struct emu_memory *mem, const struct emu_domain *dom,
				     uint32_t key)
{
	const struct emu_mkey *m;

	if (key == EMU_NULL_LKEY)
		return &null_mkey;
	m = lookup(mem, key, dom->func);

	if (!m || (m->pdn != dom->pdn && dom->pdn != EMU_ANY_PD) || (m->qpn && m->qpn != dom->qpn))
		return NULL;
	return m->mode == EMU_MKEY_ALIAS ? target(mem, m) : m;
}

const struct emu_mkey *emu_mkey_of_entry(const struct emu_memory *mem, const struct emu_mkey *list,
					 uint32_t key)
{
	const struct emu_mkey *m = lookup(mem, key, list->func);

	return m && m->pdn == list->pdn ? m : NULL;
}

static bool allows(const struct emu_mkey *m, uint32_t need, uint64_t addr, uint64_t len)
{
	return (m->rights & need) == need && addr >= m->start && len <= m->len &&
	       addr - m->start <= m->len - len;
}

static const struct emu_mkey *admit(const struct emu_memory *mem, const struct emu_domain *dom,
				    uint32_t key, uint64_t addr, uint64_t len)
{
	const struct emu_mkey *m = emu_mkey_find(mem, dom, key);

	return m && allows(m, dom->need, addr, len) ? m : NULL;
}

bool emu_mkey_check(const struct emu_memory *mem, const struct emu_domain *dom, uint32_t key,
		    uint64_t addr, uint64_t len)
{
	return admit(mem, dom, key, addr, len) != NULL;
}

static void append(struct emu_seg_list *out, int32_t pid, uint64_t addr, uint64_t len)
{
	struct emu_seg *s = &out->seg[out->n++];

	s->pid = pid;
	s->mkey = 0;
	s->addr = addr;
	s->len = len;
	out->len += len;
}

static bool translate_key(const struct emu_memory *mem, const struct emu_domain *dom,
			  unsigned int depth, uint32_t key, uint64_t addr, uint64_t len,
			  struct emu_seg_list *out);

static bool klm_valid(const struct emu_mkey *m)
{
	return m->u.klm.first <= EMU_MAX_KLMS && m->u.klm.count <= EMU_MAX_KLMS - m->u.klm.first;
}

/* The key of an entry. 0: a driver has to give what it stands for. */
static uint32_t entry_key(const struct emu_memory *mem, const struct emu_mkey *m,
			  const struct emu_klm *k)
{
	const uint32_t key = __atomic_load_n(&k->key, __ATOMIC_ACQUIRE); /* before the address */

	if (key != EMU_NULL_LKEY || !(m->flags & EMU_MK_PAGED))
		return key;
	*mem->lacks_page = true;
	return 0;
}

static bool translate_ksm(const struct emu_memory *mem, const struct emu_domain *dom,
			  unsigned int depth, const struct emu_mkey *m, uint64_t off, uint64_t len,
			  struct emu_seg_list *out)
{
	if (!klm_valid(m) || m->log_entity > 63)
		return false;
	while (len && out->n < ENGINE_SEGS) {
		uint64_t entity = 1ull << m->log_entity;
		uint64_t index = off >> m->log_entity;
		uint64_t inner = off & (entity - 1);
		uint64_t n = len < entity - inner ? len : entity - inner;
		const struct emu_klm *k;
		uint32_t key;

		if (index >= m->u.klm.count)
			return false;
		k = &mem->tables->klm[m->u.klm.first + index];
		key = entry_key(mem, m, k);
		if (!key || !translate_key(mem, dom, depth + 1, key, k->addr + inner, n, out))
			return false;
		off += n;
		len -= n;
	}
	return true;
}

/* Pages that follow each other are one piece. */
static void append_page(struct emu_seg_list *out, int32_t pid, uint64_t addr, uint64_t len)
{
	struct emu_seg *last = out->n ? &out->seg[out->n - 1] : NULL;

	if (!last || last->pid != pid || last->mkey || last->addr + last->len != addr) {
		append(out, pid, addr, len);
		return;
	}
	last->len += len;
	out->len += len;
}

/* NULL: the page is missing for now, or is one that the machine does not have. */
static const struct emu_klm *find_page(const struct emu_memory *mem, const struct emu_mkey *m,
				       uint64_t index, uint32_t need)
{
	const uint32_t want = need & (EMU_LW | EMU_RW | EMU_RA) ? EMU_LW : EMU_LR;
	const struct emu_klm *page = NULL;
	uint32_t key = 0;

	if (klm_valid(m) && index < m->u.klm.count) {
		page = &mem->tables->klm[m->u.klm.first + index];
		key = __atomic_load_n(&page->key, __ATOMIC_ACQUIRE); /* before the address */
	}
	if (key & want)
		return page;
	if (!(key & EMU_PAGE_NOWHERE) && (page || !m->u.klm.count))
		*mem->lacks_page = true;
	return NULL;
}

/* Addresses have the place in the page that their pages have. */
static bool translate_pages(const struct emu_memory *mem, const struct emu_mkey *m, uint32_t need,
			    uint64_t off, uint64_t len, struct emu_seg_list *out)
{
	const uint64_t size = 1ull << m->log_entity;

	off += m->start & (size - 1);
	while (len && out->n < ENGINE_SEGS) {
		const struct emu_klm *page = find_page(mem, m, off >> m->log_entity, need);
		uint64_t inner = off & (size - 1);
		uint64_t n = len < size - inner ? len : size - inner;

		if (!page)
			return false;
		append_page(out, m->u.klm.pid, m->u.klm.base + page->addr + inner, n);
		off += n;
		len -= n;
	}
	return true;
}

static bool translate_klm(const struct emu_memory *mem, const struct emu_domain *dom,
			  unsigned int depth, const struct emu_mkey *m, uint64_t off, uint64_t len,
			  struct emu_seg_list *out)
{
	const struct emu_klm *k;

	if (!klm_valid(m))
		return false;
	k = &mem->tables->klm[m->u.klm.first];
	for (uint32_t i = 0; i < m->u.klm.count && len && out->n < ENGINE_SEGS; i++, k++) {
		uint64_t n;

		if (off >= k->bytes) {
			off -= k->bytes;
			continue;
		}
		n = len < k->bytes - off ? len : k->bytes - off;
		if (!translate_key(mem, dom, depth + 1, k->key, k->addr + off, n, out))
			return false;
		off = 0;
		len -= n;
	}
	return !len || out->n == ENGINE_SEGS;
}

/* The bytes of one turn of a strided mkey. */
static uint64_t turn_bytes(const struct emu_klm *k, uint32_t count)
{
	uint64_t sum = 0;

	while (count--)
		sum += k++->bytes & 0xffff;
	return sum;
}

static bool translate_strided(const struct emu_memory *mem, const struct emu_domain *dom,
			      unsigned int depth, const struct emu_mkey *m, uint64_t off,
			      uint64_t len, struct emu_seg_list *out)
{
	const struct emu_klm *k = &mem->tables->klm[m->u.klm.first];
	uint64_t turn = klm_valid(m) ? turn_bytes(k, m->u.klm.count) : 0;

	while (turn && len && out->n < ENGINE_SEGS && off / turn < m->u.klm.repeat) {
		uint64_t nth = off / turn;
		uint64_t inner = off % turn;
		uint32_t i = 0;
		uint64_t n;

		while (inner >= (k[i].bytes & 0xffff))
			inner -= k[i++].bytes & 0xffff;
		n = (k[i].bytes & 0xffff) - inner;
		n = n < len ? n : len;
		if (!translate_key(mem, dom, depth + 1, k[i].key,
				   k[i].addr + nth * (k[i].bytes >> 16) + inner, n, out))
			return false;
		off += n;
		len -= n;
	}
	return !len || out->n == ENGINE_SEGS;
}

static bool translate_dm(const struct emu_mkey *m, uint64_t off, uint64_t len,
			 struct emu_seg_list *out)
{
	const uint64_t size = EMU_DM_BYTES;

	if (m->u.dm.offset > size || off > size - m->u.dm.offset ||
	    len > size - m->u.dm.offset - off)
		return false;
	append(out, 0, m->u.dm.offset + off, len);
	return true;
}

static bool translate_file(const struct emu_memory *mem, const struct emu_mkey *m, uint64_t off,
			   uint64_t len, struct emu_seg_list *out)
{
	if (m->u.file.offset > INT64_MAX || off > INT64_MAX - m->u.file.offset ||
	    len > INT64_MAX - m->u.file.offset - off)
		return false;
	append(out, 0, m->u.file.offset + off, len);
	out->seg[out->n - 1].mkey = (uint32_t)(m - mem->tables->mkey);
	return true;
}

/*
 * Peers use the rights of a window, or of a list that work requests change; what its entries name needs only the local
 * rights. Linux lays lists with remote rights on its key for all memory, which has none.
 */
static uint32_t region_need(uint32_t need)
{
	return need & (EMU_LW | EMU_RW | EMU_RA) ? EMU_LW : EMU_LR;
}

/* The keys of its entries are looked up in its function and PD, which may be an exporter's. */
static bool translate_list(const struct emu_memory *mem, const struct emu_domain *dom,
			   unsigned int depth, const struct emu_mkey *m, uint64_t off, uint64_t len,
			   struct emu_seg_list *out)
{
	struct emu_domain d = {m->func, m->pdn, dom->need, dom->pid, dom->qpn};

	if (m->mw || m->flags & EMU_MK_UMR)
		d.need = region_need(d.need);
	switch (m->mode) {
	case EMU_MKEY_KLM:
		return translate_klm(mem, &d, depth, m, off, len, out);
	case EMU_MKEY_KSM:
		return translate_ksm(mem, &d, depth, m, off, len, out);
	case EMU_MKEY_STRIDED:
		return translate_strided(mem, &d, depth, m, off, len, out);
	default:
		return false;
	}
}

/*
 * The caller continues after out->len, so no piece may be skipped: every loop above stops when the list is full.
 */
static bool translate_other(const struct emu_memory *mem, const struct emu_domain *dom,
			    unsigned int depth, const struct emu_mkey *m, uint64_t off,
			    uint64_t len, struct emu_seg_list *out)
{
	switch (m->mode) {
	case EMU_MKEY_DM:
		return translate_dm(m, off, len, out);
	case EMU_MKEY_FILE:
		return translate_file(mem, m, off, len, out);
	case EMU_MKEY_NULL:
		append(out, EMU_SEG_NULL, off, len);
		return true;
	case EMU_MKEY_PAGES:
		return m->log_entity < 64 && translate_pages(mem, m, dom->need, off, len, out);
	default:
		return translate_list(mem, dom, depth, m, off, len, out);
	}
}

static bool translate_mkey(const struct emu_memory *mem, const struct emu_domain *dom,
			   unsigned int depth, const struct emu_mkey *m, uint64_t off, uint64_t len,
			   struct emu_seg_list *out)
{
	if (m->mode != EMU_MKEY_MEM)
		return translate_other(mem, dom, depth, m, off, len, out);
	append(out, m->u.mem.pid, m->u.mem.addr + off, len);
	return true;
}

static bool translate_key(const struct emu_memory *mem, const struct emu_domain *dom,
			  unsigned int depth, uint32_t key, uint64_t addr, uint64_t len,
			  struct emu_seg_list *out)
{
	const struct emu_mkey *m;

	if (depth > MAX_DEPTH)
		return false;
	m = admit(mem, dom, key, addr, len);
	return m && translate_mkey(mem, dom, depth, m, addr - m->start, len, out);
}

bool emu_mkey_translate(const struct emu_memory *mem, const struct emu_domain *dom, uint32_t key,
			uint64_t addr, uint64_t len, struct emu_seg_list *out)
{
	if (out->n == ENGINE_SEGS)
		return true;
	return translate_key(mem, dom, 0, key, addr, len, out);
}

bool emu_sge_check(const struct emu_memory *mem, const struct emu_domain *dom,
		   const struct emu_sge *sge, uint32_t nsge)
{
	for (uint32_t i = 0; i < nsge; i++)
		if (!sge[i].inl && !emu_mkey_check(mem, dom, sge[i].lkey, sge[i].addr, sge[i].len))
			return false;
	return true;
}

bool emu_sge_translate(const struct emu_memory *mem, const struct emu_domain *dom,
		       const struct emu_sge *sge, uint32_t nsge, uint64_t off, uint64_t len,
		       struct emu_seg_list *out)
{
	out->n = 0;
	out->len = 0;
	for (uint32_t i = 0; i < nsge && len && out->n < ENGINE_SEGS; i++) {
		uint64_t n;

		if (off >= sge[i].len) {
			off -= sge[i].len;
			continue;
		}
		n = len < sge[i].len - off ? len : sge[i].len - off;
		if (sge[i].inl)
			append(out, dom->pid, sge[i].addr + off, n);
		else if (!emu_mkey_translate(mem, dom, sge[i].lkey, sge[i].addr + off, n, out))
			return false;
		off = 0;
		len -= n;
	}
	return true;
}

bool emu_mkey_translate_found(const struct emu_memory *mem, const struct emu_domain *dom,
			      const struct emu_mkey *m, uint64_t addr, uint64_t len,
			      struct emu_seg_list *out)
{
	out->n = 0;
	out->len = 0;
	return translate_mkey(mem, dom, 0, m, addr - m->start, len, out);
}
