/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/srq_ring.h"

bool dpumap_srq_ring_map(struct dpumap_srq_ring *ring, const struct mlx5dv_srq *srq, uint32_t depth)
{
	if (srq->head || srq->tail < depth || srq->tail > UINT16_MAX)
		return false;
	*ring = (struct dpumap_srq_ring){
		.wqes = srq->buf,
		.record = srq->dbrec,
		.stride = srq->stride,
		.size = srq->tail + 1,
		.tail = (uint16_t)srq->tail,
	};
	return true;
}
