/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/queue_context.h"

#include <string.h>

/* Clients can write to the table of queues, not to these. */
static uint8_t cq_contexts[EMU_MAX_CQS][EMU_CQC_BYTES];
_Static_assert((int)EMU_XRC_SRQC_BYTES <= (int)EMU_RMPC_BYTES, "both fit");
static uint8_t srq_contexts[EMU_MAX_SRQS][EMU_RMPC_BYTES];

uint8_t *emu_cq_context(uint32_t cqn)
{
	return cq_contexts[cqn];
}

uint8_t *emu_srq_context(uint32_t srqn)
{
	return srq_contexts[srqn];
}

void emu_cq_begin_context(uint32_t cqn, const uint8_t *cqc)
{
	uint8_t *own = cq_contexts[cqn];

	memcpy(own, cqc, EMU_CQC_BYTES);
	if (!emu_prm_get(own, EMU_CQC_DBR_UMEM_VALID))
		emu_prm_set(own, EMU_CQC_DBR_UMEM_ID, 0);
}

void emu_rmp_begin_context(uint32_t srqn, const uint8_t *rmpc)
{
	uint8_t *wq = emu_prm_at(srq_contexts[srqn], EMU_RMPC_WQ);

	memcpy(srq_contexts[srqn], rmpc, EMU_RMPC_BYTES);
	if (!emu_prm_get(wq, EMU_WQ_DBR_UMEM_VALID))
		emu_prm_set(wq, EMU_WQ_DBR_UMEM_ID, 0);
	if (emu_prm_get(wq, EMU_WQ_UMEM_VALID))
		return;
	emu_prm_set(wq, EMU_WQ_UMEM_ID, 0);
	emu_prm_set(wq, EMU_WQ_UMEM_OFFSET, 0);
}

void emu_xrc_srq_begin_context(uint32_t srqn, const uint8_t *ctx)
{
	memcpy(srq_contexts[srqn], ctx, EMU_XRC_SRQC_BYTES);
}

uint32_t emu_cq_moderation(const uint8_t *cqc)
{
	return (uint32_t)(emu_prm_get(cqc, EMU_CQC_CQ_PERIOD) << 16 |
			  emu_prm_get(cqc, EMU_CQC_CQ_MAX_COUNT));
}

void emu_cq_read_context(const struct emu_profile *p, const uint8_t *cqc, struct emu_cq *q)
{
	uint64_t size = emu_prm_get(cqc, EMU_CQC_CQE_SZ);

	q->entries = 1u << emu_prm_get(cqc, EMU_CQC_LOG_CQ_SIZE);
	q->cqe_size = size == EMU_CQE_SZ_64 ? 64 : 128;
	q->padded = size == EMU_CQE_SZ_128_PADDED;
	q->overwrites = (uint8_t)emu_prm_get(cqc, EMU_CQC_OI);
	q->session = emu_prm_get(cqc, EMU_CQC_CQE_COMP_EN) ? (uint8_t)p->max_session : 0;
	q->mini = (uint8_t)emu_prm_get(cqc, EMU_CQC_MINI_CQE_RES_FORMAT);
	atomic_store(&q->moderation, emu_cq_moderation(cqc));
}

void emu_qp_read_context(const uint8_t *qpc, struct emu_qp *q)
{
	const bool is_xrc = q->type == EMU_QPT_XRC_INI || q->type == EMU_QPT_XRC_TGT;
	uint64_t rq = emu_prm_get(qpc, EMU_QPC_RQ_TYPE);

	q->pdn = (uint32_t)emu_prm_get(qpc, EMU_QPC_PD);
	q->uidx = (uint32_t)emu_prm_get(qpc, EMU_QPC_USER_INDEX);
	q->send_cqn = (uint32_t)emu_prm_get(qpc, EMU_QPC_CQN_SND);
	q->recv_cqn = (uint32_t)emu_prm_get(qpc, EMU_QPC_CQN_RCV);
	q->dest_func = EMU_NOWHERE;
	q->block_self = q->type == EMU_QPT_UD && emu_prm_get(qpc, EMU_QPC_BLOCK_LB_MC);
	if (!emu_prm_get(qpc, EMU_QPC_NO_SQ))
		q->sq_wqe_count = 1u << emu_prm_get(qpc, EMU_QPC_LOG_SQ_SIZE);
	if (q->type == EMU_QPT_DCI) { /* it receives nothing, whatever the context says */
		q->tolerated = (1u << emu_prm_get(qpc, EMU_QPC_LOG_DCI_ERRORED)) - 1;
		return;
	}
	if (rq == EMU_QPC_RQ_TYPE_REGULAR) {
		q->rq_wqe_count = 1u << emu_prm_get(qpc, EMU_QPC_LOG_RQ_SIZE);
		q->rq_wqe_shift =
			(uint32_t)emu_prm_get(qpc, EMU_QPC_LOG_RQ_STRIDE) + EMU_MIN_LOG_STRIDE;
	}
	if (rq != EMU_QPC_RQ_TYPE_SHARED)
		return;
	/* The message to an XRC target names the shared queue, so the target has only its domain. */
	if (is_xrc)
		q->xrcdn = (uint32_t)emu_prm_get(qpc, EMU_QPC_XRCD);
	else
		q->srqn = (uint32_t)emu_prm_get(qpc, EMU_QPC_SRQN_RMPN_XRQN);
}

void emu_rmp_read_context(const uint8_t *rmpc, struct emu_srq *s)
{
	const uint8_t *wq = emu_prm_at_const(rmpc, EMU_RMPC_WQ);

	s->type = EMU_SRQT_BASIC;
	s->pdn = (uint32_t)emu_prm_get(wq, EMU_WQ_PD);
	s->cyclic = emu_prm_get(wq, EMU_WQ_TYPE) == EMU_WQ_TYPE_CYCLIC;
	s->wqe_shift = (uint8_t)emu_prm_get(wq, EMU_WQ_LOG_STRIDE);
	s->wqe_count = 1u << emu_prm_get(wq, EMU_WQ_LOG_SIZE);
}

void emu_xrc_srq_read_context(const uint8_t *ctx, struct emu_srq *s)
{
	s->type = EMU_SRQT_XRC;
	s->pdn = (uint32_t)emu_prm_get(ctx, EMU_XRC_SRQC_PD);
	s->xrcdn = (uint32_t)emu_prm_get(ctx, EMU_XRC_SRQC_XRCD);
	s->cqn = (uint32_t)emu_prm_get(ctx, EMU_XRC_SRQC_CQN);
	s->uidx = (uint32_t)emu_prm_get(ctx, EMU_XRC_SRQC_USER_INDEX);
	s->wqe_shift = (uint8_t)(emu_prm_get(ctx, EMU_XRC_SRQC_LOG_RQ_STRIDE) + EMU_MIN_LOG_STRIDE);
	s->wqe_count = 1u << emu_prm_get(ctx, EMU_XRC_SRQC_LOG_SRQ_SIZE);
}
