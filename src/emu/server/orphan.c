/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Objects in a file that others hold on, made by a process that ended or executed another program.
 * A kernel has the pages of its regions pinned and they stay; here the memory is gone with the
 * process, and its number may soon be another's: access to such a region fails from now on.
 */
#include "uobj.h"

#define NOBODY (-1) /* no process has this number */

static bool is_present(const struct emu_file *f, pid_t pid)
{
	const struct emu_chan *c = f->chans;

	while (c && c->pid != pid)
		c = c->next;
	return c;
}

/* Index of the mkey that may translate to memory of a process; 0: none. */
static uint32_t mkey_of(const struct emu_uobj *o)
{
	switch (o->type) {
	case EMU_T_MR:
		return ((const struct emu_mr *)o)->key >> 8;
	case EMU_T_DEVX_MKEY:
		return ((const struct emu_devx *)o)->index;
	default:
		return 0;
	}
}

static void disown(struct emu_uobj *o, pid_t pid)
{
	uint32_t index = mkey_of(o);
	struct emu_mkey m;

	if (o->type == EMU_T_UMEM && ((struct emu_umem *)o)->pid == pid)
		((struct emu_umem *)o)->pid = NOBODY;
	if (!index)
		return;
	m = emu.tables->mkey[index];
	if (!atomic_load(&m.serial) || m.mode != EMU_MKEY_MEM || m.u.mem.pid != pid)
		return;
	m.u.mem.pid = NOBODY;
	emu_mkey_update(index << 8 | m.tag, &m);
}

void emu_orphan(struct emu_file *f, pid_t pid)
{
	unsigned int i;

	if (is_present(f, pid))
		return;
	for (i = 0; i < f->nobjs; i++)
		if (f->objs[i])
			disown(f->objs[i], pid);
}

void emu_inbox_drop(struct emu_msg *m)
{
	uint32_t word = atomic_load(&m->state);

	if (EMU_MSG_STATE(word) == EMU_MSG_POSTED || EMU_MSG_STATE(word) == EMU_MSG_BUSY)
		atomic_compare_exchange_strong(&m->state, &word, EMU_MSG_FREE);
}

/*
 * What one end was to do it does no more. A message that nobody has executed is posted anew; an
 * answer stays, for whoever looks after the QP to take away if nobody wants it.
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

void emu_orphan_qp(uint32_t qpn, uint32_t slot)
{
	struct emu_qp *q = &emu.queues->qp[qpn];
	bool owned = atomic_load(&q->serial) && q->engine == slot;
	uint32_t taker = slot + 1;

	if (owned)
		q->engine = q->type == EMU_QPT_XRC_TGT ? emu_xrc_heir(qpn, slot) : EMU_NO_ENGINE;
	if (owned && q->engine == EMU_NO_ENGINE)
		atomic_store(&q->state, EMU_QPS_ERR);
	sweep_inbox(q, slot);
	atomic_compare_exchange_strong(&q->taker, &taker, 0);
	if (owned)
		emu_engine_kick(q->engine);
}
