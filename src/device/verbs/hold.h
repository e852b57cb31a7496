/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Send requests that wait for a completion, and those posted after them. libibverbs cannot tell the
 * device to wait, so they are copied, and posted when the completion exists. In place of the request
 * that waited the device executes an empty one (NOP), whose completion arrives in order.
 *
 * All functions but the first are called under the lock of the context.
 */
#ifndef DPUMAP_DEVICE_VERBS_HOLD_H
#define DPUMAP_DEVICE_VERBS_HOLD_H

#include "device/verbs/context.h"

struct dpumap_verbs_cq;
struct dpumap_verbs_qp;

/* Requests of one queue pair: a ring, each with room for its memory and inline data. */
struct dpumap_verbs_hold {
	uint32_t size, first, count;
	struct ibv_send_wr *requests;
	struct ibv_sge *pieces;
	uint8_t *inline_data;
};

/* Make a request wait; 0 or an errno value. */
int dpumap_verbs_set_wait(struct dpumap_verbs_cq *cq, uint32_t number, struct ibv_send_wr *wr);
static inline bool dpumap_verbs_is_wait(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_DRIVER1;
}

/* Keep a copy of a request, which waits or follows one that waits; 0 or an errno value. */
int dpumap_verbs_keep(struct dpumap_verbs_qp *qp, const struct ibv_send_wr *wr);
/* Post what need not wait any more. */
void dpumap_verbs_release(struct dpumap_verbs_context *context);
void dpumap_verbs_release_qp(struct dpumap_verbs_qp *qp);
/* A completion that a program polls: translate it, and flush what is held back if its queue pair failed. */
void dpumap_verbs_see(struct dpumap_verbs_context *context, struct ibv_wc *wc);
/* Abandon what is held back. */
void dpumap_verbs_drop(struct dpumap_verbs_qp *qp);

#endif
