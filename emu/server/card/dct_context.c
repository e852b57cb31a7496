/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/dct_context.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <string.h>

#include "emu/server/card/engines.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/pkey.h"
#include "emu/server/card/queue_table.h"
#include "emu/server/card/segments.h"

/* Clients can write to the table of queues, not to this one. */
static uint8_t contexts[EMU_MAX_QPS][EMU_DCTC_BYTES];
static bool armed[EMU_MAX_QPS];

uint8_t *emu_dct_context(uint32_t dctn)
{
	return contexts[dctn];
}

bool emu_dct_is_valid(const struct emu_func *f, const uint8_t *dctc)
{
	const uint64_t mtu = emu_prm_get(dctc, EMU_DCTC_MTU);

	return mtu >= 1 && mtu <= 5 && emu_prm_get(dctc, EMU_DCTC_PORT) == 1 &&
	       emu_pkey_is_index(f, (unsigned int)emu_prm_get(dctc, EMU_DCTC_PKEY_INDEX)) &&
	       emu_gid_at(f, (unsigned int)emu_prm_get(dctc, EMU_DCTC_GID_INDEX));
}

static void read_context(const struct emu_func *f, const uint8_t *dctc, struct emu_qp *q)
{
	q->func = f->index;
	q->type = EMU_QPT_DCT;
	q->dest_func = EMU_NOWHERE;
	q->pdn = (uint32_t)emu_prm_get(dctc, EMU_DCTC_PD);
	q->uidx = (uint32_t)emu_prm_get(dctc, EMU_DCTC_USER_INDEX);
	q->recv_cqn = (uint32_t)emu_prm_get(dctc, EMU_DCTC_CQN);
	q->srqn = (uint32_t)emu_prm_get(dctc, EMU_DCTC_SRQN);
	q->dc_key = emu_prm_get(dctc, EMU_DCTC_ACCESS_KEY);
	q->mtu = (uint8_t)emu_prm_get(dctc, EMU_DCTC_MTU);
	q->min_rnr_timer = (uint8_t)emu_prm_get(dctc, EMU_DCTC_MIN_RNR_NAK);
	q->access = (emu_prm_get(dctc, EMU_DCTC_RRE) ? IB_UVERBS_ACCESS_REMOTE_READ : 0u) |
		    (emu_prm_get(dctc, EMU_DCTC_RWE) ? IB_UVERBS_ACCESS_REMOTE_WRITE : 0u) |
		    (emu_prm_get(dctc, EMU_DCTC_RAE) ? IB_UVERBS_ACCESS_REMOTE_ATOMIC : 0u);
	emu_pkey_use(f, q, (unsigned int)emu_prm_get(dctc, EMU_DCTC_PKEY_INDEX));
	atomic_store(&q->state, EMU_QPS_RTR);
}

uint32_t emu_dct_publish(const struct emu_func *f, const uint8_t *dctc, const struct emu_qp *as)
{
	struct emu_qp q = *as;
	uint32_t dctn;

	read_context(f, dctc, &q);
	dctn = emu_qp_publish(&q);
	if (!dctn)
		return 0;
	memcpy(contexts[dctn], dctc, EMU_DCTC_BYTES);
	emu_prm_set(contexts[dctn], EMU_DCTC_STATE, EMU_DCTC_STATE_ACTIVE);
	emu_prm_set(contexts[dctn], EMU_DCTC_VIOLATIONS, 0);
	armed[dctn] = false;
	return dctn;
}

void emu_dct_arm(uint32_t dctn)
{
	armed[dctn] = true;
}

bool emu_dct_violate(uint32_t dctn)
{
	const bool event = armed[dctn];
	const uint64_t n = emu_prm_get(contexts[dctn], EMU_DCTC_VIOLATIONS);

	emu_prm_set(contexts[dctn], EMU_DCTC_VIOLATIONS, n < UINT32_MAX ? n + 1 : n);
	armed[dctn] = false;
	return event;
}

bool emu_dct_drain(uint32_t dctn)
{
	uint32_t state = EMU_QPS_RTR;

	if (emu_prm_get(contexts[dctn], EMU_DCTC_STATE) == EMU_DCTC_STATE_DRAINED)
		return false;
	emu_prm_set(contexts[dctn], EMU_DCTC_STATE, EMU_DCTC_STATE_DRAINED);
	atomic_compare_exchange_strong(&emu_queues->qp[dctn].state, &state, EMU_QPS_INIT);
	emu_grace();
	return true;
}
