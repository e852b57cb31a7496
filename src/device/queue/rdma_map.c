/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/rdma_map.h"

#include <errno.h>
#include <string.h>

#include "device/device_priv.h"
#include "device/queue/rdma_fast.h"
#include "log/log.h"

doca_error_t dpumap_rdma_map(struct dpumap_rdma_queue *queue)
{
	struct mlx5dv_srq srq = {0};
	struct mlx5dv_cq cq = {0};
	struct mlx5dv_obj objects = {
		.srq = {.in = queue->srq, .out = &srq},
		.cq = {.in = queue->cq, .out = &cq},
	};
	int err = mlx5dv_init_obj(&objects,
				  queue->srq ? MLX5DV_OBJ_SRQ | MLX5DV_OBJ_CQ : MLX5DV_OBJ_CQ);

	if (!err && queue->srq && !dpumap_srq_ring_map(&queue->srq_ring, &srq, queue->num_recvs))
		err = EPROTO;
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: cannot map the queues of an RDMA context "
				   "(mlx5dv_init_obj): %s",
				   dpumap_hca_name(queue->device->hca), strerror(err));
	dpumap_cq_ring_map(&queue->ring, &cq, &queue->num_events);
	queue->size_recvs = queue->srq_ring.size;
	queue->is_mapped = true;
	return DOCA_SUCCESS;
}

/* --- completions ------------------------------------------------------------------------------ */

static const struct dpumap_cqe_meaning refused = {
	MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR,
	{DOCA_ERROR_INVALID_VALUE, "the peer refuses it"},
};
static const struct dpumap_cqe_meaning too_long = {
	MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR,
	{DOCA_ERROR_INVALID_VALUE, "the message is longer than the receive"},
};

__attribute__((cold, noinline)) doca_error_t
dpumap_rdma_map_failure(const struct dpumap_rdma_queue *queue, const struct mlx5_cqe64 *cqe,
			bool is_receive)
{
	return dpumap_cqe_fail(dpumap_hca_name(queue->device->hca),
			       is_receive ? "a receive" : "a work request", cqe,
			       is_receive ? &too_long : &refused);
}

uint32_t dpumap_rdma_map_poll(struct dpumap_rdma_queue *queue, struct dpumap_rdma_done *done,
			      uint32_t max)
{
	const struct mlx5_cqe64 *cqe;
	uint32_t n = 0;

	while (n < max && (cqe = dpumap_rdma_fast_next(queue)))
		n += dpumap_rdma_fast_is_receive(cqe)
			     ? dpumap_rdma_fast_take_receive(queue, cqe, &done[n])
			     : dpumap_rdma_fast_take_send(queue, cqe, &done[n]);
	return n;
}
