/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Changes of mkeys by work requests (UMR, memory windows, invalidation). The engine posts them to
 * the server, which alone writes the tables. Meanwhile the queue waits, and the engine serves
 * others.
 */
#include "emu/engine/umr.h"

#include <string.h>

#include "emu/engine/notes.h"
#include "emu/engine/state.h"

static bool post(struct engine *e, uint32_t qpn, struct emu_umr *u, const struct emu_umr *what)
{
	const struct emu_qp_run *r = &e->qp_run[qpn];
	struct emu_note note = {.type = EMU_NOTE_UMR, .number = qpn, .serial = r->serial};

	if (atomic_load(&u->state) == EMU_UMR_POSTED)
		return false; /* from before the QP was reset */
	u->resets = r->resets;
	u->op = what->op;
	u->key = what->key;
	u->srqn = what->srqn;
	u->nklm = what->nklm;
	u->nseg = what->nseg;
	u->syndrome = 0;
	if (what->op == EMU_UMR_CHANGE) {
		memcpy(u->ctrl, what->ctrl, sizeof(u->ctrl));
		memcpy(u->mkc, what->mkc, sizeof(u->mkc));
		if (what->nseg)
			memcpy(u->seg, what->seg, what->nseg * sizeof(u->seg[0]));
		else
			memcpy(u->klm, what->klm, (size_t)what->nklm * 16);
	}
	atomic_store(&u->state, EMU_UMR_POSTED);
	if (emu_engine_note(e, &note))
		return true;
	atomic_store(&u->state, EMU_UMR_IDLE);
	return false;
}

uint32_t emu_umr_step(struct engine *e, uint32_t qpn, enum emu_umr_side side,
		      const struct emu_umr *what)
{
	struct emu_umr *u = &e->cfg.queues->qp[qpn].umr[side];
	bool *posted = &e->qp_run[qpn].umr[side];

	if (!*posted) {
		*posted = post(e, qpn, u, what);
		return ENGINE_UMR_WAIT;
	}
	if (atomic_load(&u->state) != EMU_UMR_DONE)
		return ENGINE_UMR_WAIT;
	*posted = false;
	e->pass.worked = true;
	atomic_store(&u->state, EMU_UMR_IDLE);
	return u->syndrome;
}
