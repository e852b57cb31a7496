/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/receive.h"

#include "emu/engine/memory/wire.h"
#include "emu/engine/srq.h"
#include "emu/engine/state.h"

uint16_t emu_receives_posted(const struct emu_qp *q, const struct emu_qp_run *run)
{
	if (!q->rq_wqe_count)
		return 0;
	return (uint16_t)(emu_dbr_word(q->dbr_addr, 0) - run->rq_ci);
}

static bool is_xrc(const struct emu_receiver *r)
{
	return r->srq && r->srq->type == EMU_SRQT_XRC;
}

static uint32_t completes_in(const struct emu_receiver *r)
{
	return is_xrc(r) ? r->srq->cqn : r->q->recv_cqn;
}

bool emu_receiver_frozen(const struct emu_receiver *r)
{
	return r->srq && emu_cq_frozen(r->e, completes_in(r));
}

bool emu_receiver_find(struct emu_receiver *r, uint32_t named)
{
	bool xrc = r->q->type == EMU_QPT_XRC_TGT;

	r->srqn = xrc ? named : r->q->srqn;
	r->srq = NULL;
	if (!r->srqn && !xrc)
		return true;
	if (xrc && !emu_srq_of_xrc(r->e, r->q, r->srqn))
		return false;
	r->srq = emu_srq_find(r->e, r->srqn);
	return r->srq;
}

/* An SRQ's WQE is taken when the message begins. */
bool emu_receiver_take(const struct emu_receiver *r, struct emu_wqe *w)
{
	struct emu_qp_run *run = r->run;

	if (!r->srq) {
		if (!emu_receives_posted(r->q, run))
			return false;
		emu_rqe_parse(r->q, run->rq_ci, w);
		return true;
	}
	if (run->rx_srqn != r->srqn && !emu_srq_take(r->e, r->srqn, &run->rx_index))
		return false;
	run->rx_srqn = r->srqn;
	if (r->q->type == EMU_QPT_XRC_TGT)
		atomic_store(&r->q->taker, r->e->cfg.slot + 1);
	emu_srq_parse(r->srq, run->rx_index, w);
	return true;
}

void emu_receiver_let_go(const struct emu_receiver *r)
{
	uint32_t mine = r->e->cfg.slot + 1;

	r->run->rx_srqn = 0;
	if (atomic_load(&r->q->taker) != mine)
		return;
	emu_cq_publish(r->e); /* a program that waits for the WQE must not wait in vain */
	atomic_compare_exchange_strong(&r->q->taker, &mine, 0);
}

void emu_receiver_put_back(const struct emu_receiver *r)
{
	if (!r->srq)
		return;
	emu_srq_put_back(r->e, r->srqn, r->run->rx_index);
	emu_receiver_let_go(r);
}

void emu_receiver_push(const struct emu_receiver *r, struct emu_cqe *cqe)
{
	cqe->wqe_counter = r->srq ? r->run->rx_index : r->run->rq_ci;
	cqe->qpn = r->qpn;
	cqe->uidx = is_xrc(r) ? r->srq->uidx : r->q->uidx;
	if (cqe->uidx == EMU_NO_UIDX)
		cqe->uidx = r->srq ? r->srqn : 0;
	if (!emu_cq_push(r->e, completes_in(r), cqe))
		emu_engine_qp_fail(r->q);
	if (r->srq)
		emu_receiver_let_go(r);
	else
		r->run->rq_ci++;
}

void emu_receiver_push_error(const struct emu_receiver *r, enum emu_syndrome syndrome)
{
	struct emu_cqe cqe = {
		.opcode = EMU_CQE_RESP_ERR,
		.syndrome = (uint8_t)syndrome,
	};

	emu_receiver_push(r, &cqe);
}
