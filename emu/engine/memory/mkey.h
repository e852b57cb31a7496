/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The translation of keys and addresses to pieces of memory. */
#ifndef EMU_ENGINE_MEMORY_MKEY_H
#define EMU_ENGINE_MEMORY_MKEY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"

/* The most pieces of one copy. */
#define ENGINE_SEGS 128

struct emu_memory;

/* Physical pieces in order; `len` is their sum. */
struct emu_seg_list {
	uint32_t n;
	uint64_t len;
	struct emu_seg seg[ENGINE_SEGS];
};

/* The domain in which keys are looked up, and the rights (enum emu_right) that the access needs. */
struct emu_domain {
	uint32_t func;
	uint32_t pdn;
	uint32_t need;
	int32_t pid;  /* of the QP's process, which has the inline data */
	uint32_t qpn; /* the QP that uses the keys */
};

/* Is the whole access allowed? */
bool emu_mkey_check(const struct emu_memory *mem, const struct emu_domain *dom, uint32_t key,
		    uint64_t addr, uint64_t len);
/*
 * Append the pieces of [addr, addr + len); only the first ones if the list fills up. False: the
 * access is refused.
 */
bool emu_mkey_translate(const struct emu_memory *mem, const struct emu_domain *dom, uint32_t key,
			uint64_t addr, uint64_t len, struct emu_seg_list *out);
/* Are all entries of a scatter/gather list allowed? */
bool emu_sge_check(const struct emu_memory *mem, const struct emu_domain *dom,
		   const struct emu_sge *sge, uint32_t nsge);
/* Translate bytes [off, off + len) of a scatter/gather list, as emu_mkey_translate(). */
bool emu_sge_translate(const struct emu_memory *mem, const struct emu_domain *dom,
		       const struct emu_sge *sge, uint32_t nsge, uint64_t off, uint64_t len,
		       struct emu_seg_list *out);
/* The mkey of `key`, behind its alias if it is one; NULL if the domain may not use it. */
const struct emu_mkey *emu_mkey_find(const struct emu_memory *mem, const struct emu_domain *dom,
				     uint32_t key);
/* The mkey that an entry of a list names; NULL if it does not exist. */
const struct emu_mkey *emu_mkey_of_entry(const struct emu_memory *mem, const struct emu_mkey *list,
					 uint32_t key);
/* Translate with an mkey that emu_mkey_find() returned. */
bool emu_mkey_translate_found(const struct emu_memory *mem, const struct emu_domain *dom,
			      const struct emu_mkey *m, uint64_t addr, uint64_t len,
			      struct emu_seg_list *out);

static inline bool emu_mkey_is_list(const struct emu_mkey *m)
{
	return m->mode == EMU_MKEY_KLM || m->mode == EMU_MKEY_KSM || m->mode == EMU_MKEY_STRIDED ||
	       m->mode == EMU_MKEY_PAGES;
}

#endif
