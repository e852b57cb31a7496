/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads no memory of the program: it is called between passes. */
#include "emu/engine/pending.h"

#include "emu/engine/state.h"

/* A message that is not yet executed, or an answer that its requester has not taken. */
static bool has_message(const struct engine *e, const struct emu_qp *q)
{
	uint32_t state = atomic_load(&q->inbox.state);

	return EMU_MSG_STATE(state) >= EMU_MSG_POSTED && EMU_MSG_SLOT(state) == e->cfg.slot;
}

/*
 * A failed QP flushes the receives that are posted to it, without a ring. It also waits for other
 * engines before it sends the event LAST_WQE_REACHED.
 */
static bool is_flushing(const struct emu_qp *q, const struct emu_qp_run *r)
{
	if (atomic_load(&q->state) != EMU_QPS_ERR)
		return false;
	if (q->srqn || q->type == EMU_QPT_XRC_TGT)
		return !r->last_wqe;
	return q->rq_wqe_count;
}

/*
 * A WQE that has begun waits for a timer, for a peer that is out of reach, or for an answer that gets
 * lost if the peer is destroyed.
 */
static bool is_qp_pending(const struct engine *e, uint32_t qpn)
{
	const struct emu_qp *q = &e->cfg.queues->qp[qpn];
	const struct emu_qp_run *r = &e->qp_run[qpn];

	if (!atomic_load(&q->serial))
		return false;
	return r->active || r->posted || r->rx_srqn || is_flushing(q, r) || has_message(e, q);
}

static bool is_target_pending(const struct engine *e, uint32_t qpn)
{
	const struct emu_qp *q = &e->cfg.queues->qp[qpn];

	return atomic_load(&q->serial) && (e->qp_run[qpn].rx_srqn || has_message(e, q));
}

bool emu_engine_is_pending(const struct engine *e)
{
	/* receptions wait to be compressed; notes wait for room in the socket */
	if (e->cq.session.n || e->pass.unsent || e->events.count)
		return true;
	/* an open dma-buf is closed when its key is destroyed: its memory is free from then on */
	if (e->memory.dmabufs.count)
		return true;
	for (uint32_t i = 0; i < e->scan.qp_count; i++)
		if (is_qp_pending(e, e->scan.qp_list[i]))
			return true;
	for (uint32_t i = 0; i < e->scan.tgt_count; i++)
		if (is_target_pending(e, e->scan.tgt_list[i]))
			return true;
	return false;
}
