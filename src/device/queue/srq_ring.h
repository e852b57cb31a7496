/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The memory of a shared receive queue of an mlx5 device, written without locks, for one thread.
 *
 * A work request begins with the index of the next one: all requests are on one list, on which the
 * device takes posted ones at its position, the driver posts at `head` and returns completed ones
 * behind `tail`. So requests may complete in any order. The request at `tail` is never posted: the
 * device reads its link only after the next one was appended.
 */
#ifndef DPUMAP_DEVICE_QUEUE_SRQ_RING_H
#define DPUMAP_DEVICE_QUEUE_SRQ_RING_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/mlx5dv.h>

#include "device/queue/barrier.h"

struct dpumap_srq_ring {
	uint8_t *wqes;
	__be32 *record;
	uint32_t stride;
	uint32_t size;	 /* work requests */
	uint32_t posted; /* receives so far */
	uint16_t head, tail;
};

/* False if it is not a new queue for at least `depth` receives as the driver lays them out. */
bool dpumap_srq_ring_map(struct dpumap_srq_ring *ring, const struct mlx5dv_srq *srq,
			 uint32_t depth);

static inline struct mlx5_wqe_srq_next_seg *dpumap_srq_ring_wqe(const struct dpumap_srq_ring *ring,
								uint32_t index)
{
	return (void *)(ring->wqes + (size_t)index * ring->stride);
}

/* Post the work request at `head`, which was written. */
static inline void dpumap_srq_ring_post(struct dpumap_srq_ring *ring)
{
	ring->head = be16toh(dpumap_srq_ring_wqe(ring, ring->head)->next_wqe_index);
	ring->posted++;
	dpumap_barrier_to_device();
	*ring->record = htobe32(ring->posted & 0xffff);
}

/* Append a completed work request to the list of free ones. */
static inline void dpumap_srq_ring_free(struct dpumap_srq_ring *ring, uint16_t index)
{
	dpumap_srq_ring_wqe(ring, ring->tail)->next_wqe_index = htobe16(index);
	ring->tail = index;
}

#endif
