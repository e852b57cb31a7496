/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/send_queue.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/errno.h"
#include "device/memory/region_priv.h"
#include "device/queue/cq_ring.h"
#include "device/queue/queue_priv.h"
#include "log/log.h"

#define SCRATCH	      64   /* bytes that the device writes for all copies, and nobody reads */
#define ALIGNMENT     256  /* of results */
#define VENDOR_ENGINE 0x9d /* vendor syndrome: see the one of the hardware */
#define HW_SYNDROME   52   /* its place in an error CQE, which rdma-core has no name for */
#define HW_NO_ROOM    0x84

struct send_queue {
	struct dpumap_sq base;
	struct dpumap_cq_ring cq;
	const struct dpumap_device *device;
	const char *what;  /* a request is, in messages */
	bool reports_data; /* that are wrong */
	struct ibv_mr *scratch_mr;
	void *scratch;
};

static inline struct send_queue *to_send_queue(struct dpumap_sq *sq)
{
	return (struct send_queue *)sq;
}

static doca_error_t register_scratch(struct send_queue *sq, size_t bytes)
{
	sq->scratch = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
	if (!sq->scratch)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a send queue");
	sq->scratch_mr = ibv_reg_mr(sq->device->pd, sq->scratch, bytes, IBV_ACCESS_LOCAL_WRITE);
	if (!sq->scratch_mr) {
		free(sq->scratch);
		return dpumap_fail(dpumap_errno_to_one_of(errno, DOCA_ERROR_NO_MEMORY),
				   "%s: cannot register the scratch memory of a send queue: %s",
				   dpumap_hca_name(sq->device->hca), strerror(errno));
	}
	sq->base.scratch = (struct dpumap_wqe_data){
		.key = htobe32(sq->scratch_mr->lkey),
		.addr = htobe64((uintptr_t)sq->scratch),
	};
	return DOCA_SUCCESS;
}

static doca_error_t map_queue(struct send_queue *sq, struct dpumap_queue *queue)
{
	struct mlx5dv_qp qp = {0};
	struct mlx5dv_cq cq = {0};
	const uint32_t *num_events;
	struct mlx5dv_obj objects = {
		.qp = {.in = dpumap_queue_qp(queue), .out = &qp},
		.cq = {.in = dpumap_queue_cq(queue, &num_events), .out = &cq},
	};
	int err = mlx5dv_init_obj(&objects, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ);

	if (!err &&
	    !dpumap_send_ring_map(&sq->base.ring, &qp, objects.qp.in->qp_num, sq->base.depth))
		err = EPROTO;
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: cannot map a send queue (mlx5dv_init_obj): %s",
				   dpumap_hca_name(sq->device->hca), strerror(err));
	sq->base.qpn_ds =
		htobe32(sq->base.ring.qpn | sizeof(struct dpumap_sq_wqe) / DPUMAP_WQE_SEG);
	dpumap_cq_ring_map(&sq->cq, &cq, num_events);
	return DOCA_SUCCESS;
}

/* Each block of the ring has `result_bytes` of scratch memory, if they are not 0. */
static doca_error_t open_queue(struct dpumap_queue *queue, const char *what, size_t result_bytes,
			       struct dpumap_sq **sq)
{
	struct send_queue *opened = calloc(1, sizeof(*opened));
	doca_error_t result;

	if (!opened)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a send queue");
	opened->device = dpumap_queue_device(queue);
	opened->what = what;
	opened->base.depth = dpumap_queue_depth(queue);
	result = map_queue(opened, queue);
	if (result == DOCA_SUCCESS)
		result = register_scratch(
			opened, result_bytes ? result_bytes * ((size_t)opened->base.ring.mask + 1)
					     : SCRATCH);
	if (result != DOCA_SUCCESS) {
		free(opened);
		return result;
	}
	*sq = &opened->base;
	return DOCA_SUCCESS;
}

/* The same for an engine whose requests have results. */
static doca_error_t open_engine(struct dpumap_queue *queue, const char *what, size_t result_bytes,
				struct dpumap_sq **sq)
{
	doca_error_t result;

	if (dpumap_queue_engine(queue) != DPUMAP_DMA_ENGINE_MMO)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s has no engines",
				   dpumap_hca_name(dpumap_queue_device(queue)->hca));
	result = open_queue(queue, what, result_bytes, sq);
	if (result == DOCA_SUCCESS)
		to_send_queue(*sq)->reports_data = true;
	return result;
}

doca_error_t dpumap_sq_open(struct dpumap_queue *queue, struct dpumap_sq **sq)
{
	*sq = NULL;
	if (dpumap_queue_engine(queue) != DPUMAP_DMA_ENGINE_MMO)
		return DOCA_SUCCESS;
	return open_queue(queue, "a copy", 0, sq);
}

doca_error_t dpumap_sq_open_streams(struct dpumap_queue *queue, struct dpumap_sq **sq)
{
	doca_error_t result =
		open_engine(queue, "a compression", sizeof(struct dpumap_sq_result), sq);

	if (result == DOCA_SUCCESS)
		(*sq)->results = to_send_queue(*sq)->scratch;
	return result;
}

doca_error_t dpumap_sq_open_crypto(struct dpumap_queue *queue, struct dpumap_sq **sq)
{
	doca_error_t result =
		open_engine(queue, "an encryption", sizeof(struct dpumap_sq_crypto), sq);

	if (result == DOCA_SUCCESS)
		(*sq)->crypto = to_send_queue(*sq)->scratch;
	return result;
}

void dpumap_sq_close(struct dpumap_sq *base)
{
	struct send_queue *sq = to_send_queue(base);
	int err;

	if (!sq)
		return;
	err = dpumap_errno_of_end(sq->device->context, ibv_dereg_mr(sq->scratch_mr));
	if (err)
		dpumap_log(DPUMAP_LOG_ERROR,
			   "%s: deregistering the scratch memory of a send queue failed: %s",
			   dpumap_hca_name(sq->device->hca), strerror(err));
	free(sq->scratch);
	free(sq);
}

struct dpumap_sq_key dpumap_sq_key(const struct dpumap_region *region)
{
	return (struct dpumap_sq_key){region->lkey, region->iova - region->range.addr};
}

struct dpumap_sq_key dpumap_sq_peer_key(const struct dpumap_region *region)
{
	return (struct dpumap_sq_key){region->rkey, region->iova - region->range.addr};
}

void dpumap_sq_flush(struct dpumap_sq *sq)
{
	dpumap_send_ring_flush(&sq->ring);
}

/* DPDK's driver tells by the vendor's syndrome that the data are wrong, not the request. */
static enum dpumap_sq_data_error data_error(const struct mlx5_cqe64 *cqe)
{
	const struct mlx5_err_cqe *error = (const void *)cqe;

	if (error->syndrome != MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR ||
	    error->vendor_err_synd != VENDOR_ENGINE)
		return DPUMAP_SQ_DATA_OK;
	return ((const uint8_t *)cqe)[HW_SYNDROME] == HW_NO_ROOM ? DPUMAP_SQ_NO_ROOM
								 : DPUMAP_SQ_BAD_DATA;
}

__attribute__((cold, noinline)) static void report_failure(const struct send_queue *sq,
							   const struct mlx5_cqe64 *cqe,
							   struct dpumap_sq_completion *completion)
{
	completion->data = sq->reports_data ? data_error(cqe) : DPUMAP_SQ_DATA_OK;
	completion->status = completion->data ? DOCA_ERROR_IO_FAILED
					      : dpumap_cqe_fail(dpumap_hca_name(sq->device->hca),
								sq->what, cqe, NULL);
}

/* How many requests the CQE completes. */
static inline uint32_t advance(const struct dpumap_sq *base, const struct mlx5_cqe64 *cqe)
{
	return (uint16_t)(be16toh(cqe->wqe_counter) - base->completed) + 1u;
}

bool dpumap_sq_poll(struct dpumap_sq *base, struct dpumap_sq_completion *completion)
{
	struct send_queue *sq = to_send_queue(base);
	const struct mlx5_cqe64 *cqe = dpumap_cq_ring_next(&sq->cq);

	while (cqe &&
	       doca_unlikely(advance(base, cqe) > dpumap_sq_posted(base) - base->completed)) {
		dpumap_cq_ring_drop(&sq->cq, dpumap_hca_name(sq->device->hca));
		cqe = dpumap_cq_ring_next(&sq->cq);
	}
	if (!cqe)
		return false;
	base->completed += advance(base, cqe);
	completion->end = base->completed;
	completion->status = DOCA_SUCCESS;
	if (doca_unlikely(cqe->op_own >> 4 != MLX5_CQE_REQ))
		report_failure(sq, cqe, completion);
	dpumap_cq_ring_consume(&sq->cq);
	return true;
}

void dpumap_sq_arm(struct dpumap_sq *base)
{
	dpumap_cq_ring_arm(&to_send_queue(base)->cq);
}
