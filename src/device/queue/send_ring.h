/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The ring of work requests of a queue pair, in the memory that an mlx5 device reads: without locks, for one thread.
 * Only the last work request before a doorbell, and some of long runs, are signaled. The device completes in order,
 * so a completion covers all earlier work requests.
 */
#ifndef DPUMAP_DEVICE_QUEUE_SEND_RING_H
#define DPUMAP_DEVICE_QUEUE_SEND_RING_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>

#include <doca_common_defines.h>

#include "device/queue/doorbell.h"
#include "device/queue/wqe.h"

/* Bytes posted before a work request is signaled; each one counts COST more than its length. */
#define DPUMAP_SEND_RING_MAX_UNSIGNALED (64u << 10)
#define DPUMAP_SEND_RING_COST		(2u << 10)

struct dpumap_send_ring {
	uint8_t *start, *end;
	struct dpumap_wqe_ctrl *last; /* posted last */
	uint32_t mask;		      /* of a block */
	uint32_t at;		      /* number of the next block; a WQE has its lower 16 bits */
	uint32_t rung;		      /* blocks before it are covered by the last doorbell */
	uint32_t unsignaled;	      /* bytes and costs since the last signaled work request */
	uint32_t qpn;		      /* in its place in a control segment */
	struct dpumap_doorbell doorbell;
};

/* Take over posting. False: there are fewer than `blocks`. `qp` is what mlx5dv_init_obj() gives. */
bool dpumap_send_ring_map(struct dpumap_send_ring *ring, const struct mlx5dv_qp *qp, uint32_t qpn,
			  uint32_t blocks);
/* Ring the doorbell for what was posted since the last one, if anything was. */
void dpumap_send_ring_flush(struct dpumap_send_ring *ring);

static inline void *dpumap_send_ring_block(const struct dpumap_send_ring *ring, uint32_t number)
{
	return ring->start + (size_t)(number & ring->mask) * DPUMAP_WQE_BLOCK;
}

/* Where the next work request begins. */
static inline struct dpumap_wqe_ctrl *dpumap_send_ring_next(const struct dpumap_send_ring *ring)
{
	return dpumap_send_ring_block(ring, ring->at);
}

/* The flags of a work request of that length which need not be signaled. */
static inline uint32_t dpumap_send_ring_flags(struct dpumap_send_ring *ring, uint32_t len)
{
	uint32_t unsignaled = ring->unsignaled + len + DPUMAP_SEND_RING_COST;

	ring->unsignaled = unsignaled;
	if (doca_likely(unsignaled < DPUMAP_SEND_RING_MAX_UNSIGNALED))
		return 0;
	ring->unsignaled = 0;
	return htobe32(DPUMAP_WQE_CQ_UPDATE);
}

/* The work request is written; it takes `blocks`. The device reads it after dpumap_send_ring_flush(). */
static inline void dpumap_send_ring_post(struct dpumap_send_ring *ring,
					 struct dpumap_wqe_ctrl *ctrl, uint32_t blocks)
{
	ring->last = ctrl;
	ring->at += blocks;
}

#endif
