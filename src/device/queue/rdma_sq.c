/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/rdma_sq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"

doca_error_t dpumap_rdma_sq_map(struct dpumap_rdma_sq *sq, struct ibv_qp *qp, const char *device,
				uint32_t depth, uint32_t max_pieces)
{
	struct mlx5dv_qp dv = {0};
	struct mlx5dv_obj object = {.qp = {.in = qp, .out = &dv}};
	int err = mlx5dv_init_obj(&object, MLX5DV_OBJ_QP);

	/* The longest one has a control segment and one for the address of the peer. */
	if (!err && !dpumap_send_ring_map(&sq->ring, &dv, qp->qp_num,
					  depth * dpumap_wqe_blocks(2 + max_pieces)))
		err = EPROTO;
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: cannot map the send queue of a connection "
				   "(mlx5dv_init_obj): %s",
				   device, strerror(err));
	sq->slots = calloc(dv.sq.wqe_cnt, sizeof(*sq->slots));
	if (!sq->slots)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "no memory for the send queue of a connection");
	return DOCA_SUCCESS;
}

void dpumap_rdma_sq_unmap(struct dpumap_rdma_sq *sq)
{
	free(sq->slots);
	sq->slots = NULL;
}
