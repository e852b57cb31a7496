/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/pkey.h"

#include "emu/ipc/pkey.h"
#include "emu/server/card/segments.h"

#define PARTITION 0x7fffu
#define FULL	  0x8000u

bool emu_pkey_is_index(const struct emu_func *f, unsigned int index)
{
	return index < f->card->profile->max_pkeys;
}

void emu_pkey_set(struct emu_func *f, unsigned int index, uint16_t pkey)
{
	uint32_t high = atomic_load(&emu_queues->qp_high), i;

	f->pkey[index] = pkey;
	for (i = EMU_FIRST_QPN; i < high && i < EMU_MAX_QPS; i++) {
		struct emu_qp *q = &emu_queues->qp[i];

		if (atomic_load(&q->serial) && q->func == f->index && q->pkey_index == index)
			atomic_store(&q->pkey, pkey);
	}
}

void emu_pkey_use(const struct emu_func *f, struct emu_qp *q, unsigned int index)
{
	q->pkey_index = (uint16_t)index;
	atomic_store(&q->pkey, f->pkey[index]);
}

int emu_pkey_find(const struct emu_func *f, uint16_t pkey)
{
	int found = -1;

	for (unsigned int i = 0; emu_pkey_is_index(f, i); i++) {
		if ((f->pkey[i] ^ pkey) & PARTITION)
			continue;
		if (f->pkey[i] & FULL)
			return (int)i;
		if (found < 0)
			found = (int)i;
	}
	return found;
}

bool emu_pkey_admits(const struct emu_func *f, uint16_t pkey)
{
	for (unsigned int i = 0; emu_pkey_is_index(f, i); i++)
		if (emu_pkey_matches(f->pkey[i], pkey))
			return true;
	return false;
}
