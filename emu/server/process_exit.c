/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/process_exit.h"

#include "emu/server/admin/status.h"
#include "emu/server/card/counters.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/mkey_table.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"
#include "emu/server/firmware/mkey.h"
#include "emu/server/firmware/umem.h"
#include "emu/server/uverbs/mr.h"
#include "emu/server/uverbs/xrc.h"
#include "emu/server/wire/endpoints.h"

/* The index of an object's mkey that may translate to memory of a process; 0: none. */
static uint32_t mkey_of(const struct emu_uobj *o)
{
	switch (o->type) {
	case EMU_T_MR:
		return ((const struct emu_mr *)o)->key >> 8;
	case EMU_T_DEVX_MKEY:
		return ((const struct emu_devx_mkey *)o)->index;
	default:
		return 0;
	}
}

static void clear_owner(struct emu_uobj *o, pid_t pid)
{
	uint32_t index = mkey_of(o);
	struct emu_mkey m;

	if (o->type == EMU_T_UMEM && ((struct emu_umem *)o)->pid == pid)
		((struct emu_umem *)o)->pid = EMU_SEG_DEAD;
	if (!index)
		return;
	m = emu_tables->mkey[index];
	if (!atomic_load(&m.serial) || m.mode != EMU_MKEY_MEM || m.u.mem.pid != pid)
		return;
	m.u.mem.pid = EMU_SEG_DEAD;
	emu_mkey_update(index << 8 | m.tag, &m);
}

void emu_process_left(struct emu_file *f, pid_t pid)
{
	if (emu_file_has_process(f, pid))
		return;
	for (unsigned int i = 0; i < f->nobjs; i++)
		if (f->objs[i])
			clear_owner(f->objs[i], pid);
}

/* --- engines ---------------------------------------------------------------------------------- */

/*
 * The engine in `slot` was the responder or the requester of the message. A message that was not
 * executed is posted again; an answer stays, and the engine that has the QP now removes it if its
 * requester has ended.
 */
static void sweep_inbox(struct emu_qp *q, uint32_t slot)
{
	uint32_t word = atomic_load(&q->inbox.state), state = EMU_MSG_STATE(word);
	uint32_t to = EMU_MSG_FREE;

	if (state >= EMU_MSG_POSTED && EMU_MSG_SLOT(word) == slot) {
		if (state == EMU_MSG_DONE && q->inbox.src_engine != slot)
			to = EMU_MSG_FOR(q->engine, state);
	} else if (q->inbox.src_engine != slot || state == EMU_MSG_FREE || state == EMU_MSG_BUSY) {
		return;
	}
	atomic_compare_exchange_strong(&q->inbox.state, &word, to);
}

static void orphan_qp(uint32_t qpn, uint32_t slot)
{
	struct emu_qp *q = &emu_queues->qp[qpn];
	bool owned = atomic_load(&q->serial) && q->engine == slot;
	uint32_t taker = slot + 1;

	if (owned)
		q->engine = q->type == EMU_QPT_XRC_TGT ? emu_xrc_other_engine(qpn, slot)
						       : EMU_NO_ENGINE;
	if (owned && q->engine == EMU_NO_ENGINE)
		atomic_store(&q->state, EMU_QPS_ERR);
	else if (owned)
		emu_wire_admit(&emu_topology.func[q->func], q->engine);
	sweep_inbox(q, slot);
	atomic_compare_exchange_strong(&q->taker, &taker, 0);
	if (owned)
		emu_engine_wake(q->engine);
}

/* Queues may live on in a file that other processes share, but no engine executes them any more. */
static void orphan_queues(uint32_t slot)
{
	struct emu_queues *q = emu_queues;

	for (uint32_t i = 0; i < atomic_load(&q->qp_high); i++)
		orphan_qp(i, slot);
	for (uint32_t i = 0; i < atomic_load(&q->cq_high); i++)
		if (atomic_load(&q->cq[i].serial) && q->cq[i].engine == slot)
			q->cq[i].engine = EMU_NO_ENGINE;
	for (uint32_t i = 0; i < atomic_load(&q->srq_high); i++)
		if (atomic_load(&q->srq[i].serial) && q->srq[i].engine == slot)
			q->srq[i].engine = EMU_NO_ENGINE;
}

void emu_notes_hang_up(struct emu_watch *w)
{
	struct emu_proc *p = (struct emu_proc *)w;
	struct emu_engine *e = &emu_queues->engine[p->slot];

	emu_proc_drain_notes(p); /* notes.pml: notes_drain */
	/* In this order: to an engine whose slot is still its own, a hang-up is the server's end. */
	atomic_store(&e->serial, 0); /* grace.pml: hang_up; server_exit.pml: slot_free */
	emu_watch_del(w);	     /* server_exit.pml: slot_close */
	emu_status_keep_ended(e);
	emu_counters_keep_ended(p->slot);
	orphan_queues(p->slot);
	emu_wire_leave(p->slot);
	emu_proc_remove(p);
}
