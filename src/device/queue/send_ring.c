/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/send_ring.h"

_Static_assert((DPUMAP_WQE_MMO & 0xff) == MLX5_OPCODE_MMO, "opcode");
_Static_assert((int)DPUMAP_WQE_CQ_UPDATE == (int)MLX5_WQE_CTRL_CQ_UPDATE, "flag");

bool dpumap_send_ring_map(struct dpumap_send_ring *ring, const struct mlx5dv_qp *qp, uint32_t qpn,
			  uint32_t blocks)
{
	*ring = (struct dpumap_send_ring){
		.start = qp->sq.buf,
		.end = (uint8_t *)qp->sq.buf + (size_t)qp->sq.wqe_cnt * DPUMAP_WQE_BLOCK,
		.mask = qp->sq.wqe_cnt - 1,
		.qpn = qpn << 8,
		.doorbell = dpumap_doorbell_of(qp),
	};
	return qp->sq.wqe_cnt >= blocks;
}

void dpumap_send_ring_flush(struct dpumap_send_ring *ring)
{
	if (ring->rung == ring->at)
		return;
	ring->last->flags = htobe32(DPUMAP_WQE_CQ_UPDATE);
	ring->unsignaled = 0;
	ring->rung = ring->at;
	dpumap_doorbell_ring(&ring->doorbell, (uint16_t)ring->at, ring->last);
}
