/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/mkey_table.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <string.h>

#include "emu/server/card/engines.h"
#include "emu/server/card/segments.h"

static uint32_t find_index(void)
{
	static uint32_t next = EMU_FIRST_MKEY;

	for (uint32_t n = 0; n < EMU_MAX_MKEYS; n++) {
		if (++next >= EMU_MAX_MKEYS)
			next = EMU_FIRST_MKEY;
		if (!atomic_load(&emu_tables->mkey[next].serial))
			return next;
	}
	return 0;
}

static void publish(struct emu_mkey *e, const struct emu_mkey *m, uint32_t serial)
{
	memcpy((char *)e + sizeof(e->serial), (const char *)m + sizeof(m->serial),
	       sizeof(*m) - sizeof(m->serial));
	/* unmap.pml: mkey_publish */
	atomic_store_explicit(&e->serial, serial, memory_order_release);
}

uint32_t emu_mkey_create(struct emu_mkey *m, bool new_tag)
{
	uint32_t index = find_index(), serial = emu_new_serial();

	if (!index)
		return 0;
	m->first_serial = serial;
	if (new_tag)
		m->tag = (uint8_t)serial;
	publish(&emu_tables->mkey[index], m, serial);
	return index << 8 | m->tag;
}

void emu_mkey_update(uint32_t key, struct emu_mkey *m)
{
	emu_mkey_retire(key >> 8);
	m->first_serial = emu_tables->mkey[key >> 8].first_serial;
	m->tag = (uint8_t)key;
	publish(&emu_tables->mkey[key >> 8], m, emu_new_serial());
}

void emu_mkey_retire(uint32_t index)
{
	atomic_store(&emu_tables->mkey[index].serial, 0); /* unmap.pml: mkey_retire */
	emu_grace();
	if (!atomic_load(&emu_queues->mapped[index]))
		return;
	emu_unmap();
	/* unmap.pml: mkey_clear */
	atomic_store(&emu_queues->mapped[index], 0);
	/* unmap.pml: mkey_retired */
}

/* First fit from the end of the last search: lists are short and live long. */
uint32_t emu_klm_alloc(uint32_t count)
{
	static uint32_t next;
	uint32_t first = next, run = 0, seen;

	if (!count || count > EMU_MAX_KLMS)
		return UINT32_MAX;
	for (seen = 0; seen < 2 * EMU_MAX_KLMS && run < count; seen++) {
		if (first + run >= EMU_MAX_KLMS) {
			first = 0;
			run = 0;
		} else if (emu_private->klm_used[first + run]) {
			first += run + 1;
			run = 0;
		} else {
			run++;
		}
	}
	if (run < count)
		return UINT32_MAX;
	memset(emu_private->klm_used + first, 1, count);
	next = first + count;
	return first;
}

void emu_klm_free(uint32_t first, uint32_t count)
{
	memset(emu_private->klm_used + first, 0, count);
}

/* Local read is always granted (InfiniBand architecture). */
uint32_t emu_rights_of_access(uint32_t access)
{
	uint32_t r = EMU_LR;

	if (access & IB_UVERBS_ACCESS_LOCAL_WRITE)
		r |= EMU_LW;
	if (access & IB_UVERBS_ACCESS_REMOTE_WRITE)
		r |= EMU_RW;
	if (access & IB_UVERBS_ACCESS_REMOTE_READ)
		r |= EMU_RR;
	if (access & IB_UVERBS_ACCESS_REMOTE_ATOMIC)
		r |= EMU_RA;
	if (access & IB_UVERBS_ACCESS_MW_BIND)
		r |= EMU_MB;
	return r;
}
