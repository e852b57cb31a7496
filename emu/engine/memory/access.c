/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/memory/access.h"

#include "emu/engine/memory/copy.h"
#include "emu/engine/memory/memory.h"

/* Bytes of a scatter/gather list from `at` on, or, if `sge` is NULL, of a key. */
struct access {
	const struct emu_domain *dom;
	const struct emu_sge *sge;
	uint32_t nsge;
	uint32_t key;
	uint64_t at;
};

/* Some of the bytes, the first ones: as many as the list has room for. */
static bool translate(const struct emu_memory *mem, const struct access *p, uint64_t done,
		      uint64_t len, struct emu_seg_list *out)
{
	out->n = 0;
	out->len = 0;
	if (p->sge)
		return emu_sge_translate(mem, p->dom, p->sge, p->nsge, p->at + done, len, out);
	return emu_mkey_translate(mem, p->dom, p->key, p->at + done, len, out);
}

enum way { READ, WRITE };

static bool move(struct emu_memory *mem, const struct access *p, const uint8_t *bytes, uint32_t len,
		 enum way way)
{
	struct emu_seg_list there;
	struct emu_seg_list here = {.n = 1};

	for (uint64_t done = 0; done < len; done += there.len) {
		if (!translate(mem, p, done, len - done, &there) || !there.len)
			return false;
		here.len = there.len;
		here.seg[0] = (struct emu_seg){(uintptr_t)bytes + done, there.len, mem->pid, 0};
		if (emu_memory_copy(mem, way == READ ? &here : &there, way == READ ? &there : &here,
				    there.len) != EMU_COPY_OK)
			return false;
	}
	return true;
}

bool emu_sge_read(struct emu_memory *mem, const struct emu_domain *dom, const struct emu_sge *sge,
		  uint32_t nsge, uint64_t off, uint8_t *out, uint32_t len)
{
	const struct access p = {.dom = dom, .sge = sge, .nsge = nsge, .at = off};

	return emu_sge_check(mem, dom, sge, nsge) && move(mem, &p, out, len, READ);
}

bool emu_sge_write(struct emu_memory *mem, const struct emu_domain *dom, const struct emu_sge *sge,
		   uint32_t nsge, uint64_t off, const uint8_t *in, uint32_t len)
{
	const struct access p = {.dom = dom, .sge = sge, .nsge = nsge, .at = off};

	return emu_sge_check(mem, dom, sge, nsge) && move(mem, &p, in, len, WRITE);
}

bool emu_key_read(struct emu_memory *mem, const struct emu_domain *dom, uint32_t key, uint64_t addr,
		  uint8_t *out, uint32_t len)
{
	const struct access p = {.dom = dom, .key = key, .at = addr};

	return move(mem, &p, out, len, READ);
}

bool emu_key_write(struct emu_memory *mem, const struct emu_domain *dom, uint32_t key,
		   uint64_t addr, const uint8_t *in, uint32_t len)
{
	const struct access p = {.dom = dom, .key = key, .at = addr};

	return move(mem, &p, in, len, WRITE);
}
