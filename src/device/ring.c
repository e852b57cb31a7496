/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/ring.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/barrier.h"
#include "device/queue.h"
#include "device/queue_link.h"
#include "device/region_priv.h"
#include "log/log.h"

#define SCRATCH	      64
#define CQ_DOORBELL   0x20 /* in its page */
#define CQ_INDEX_MASK 0xffffffu
#define CQ_CONSUMED   0 /* words of a CQ's doorbell record */
#define CQ_ARMED      1

_Static_assert((DPUMAP_RING_MMO & 0xff) == MLX5_OPCODE_MMO, "opcode");
_Static_assert((int)DPUMAP_RING_REPORT == (int)MLX5_WQE_CTRL_CQ_UPDATE, "flag");

struct ring {
	struct dpumap_ring base;
	uint32_t rung; /* the device has heard of */
	__be32 *sq_record;
	volatile uint64_t *sq_doorbell;

	const uint8_t *cqes; /* the 64 bytes of the first that matter */
	uint32_t cq_size, cqe_size;
	uint32_t cq_done;
	__be32 *cq_record;
	volatile uint64_t *cq_doorbell;
	uint32_t cqn;
	const uint32_t *num_events; /* taken so far */

	const struct dpumap_device *device;
	struct ibv_mr *scratch_mr;
	/* What the device writes to it means nothing to us. */
	uint8_t scratch[SCRATCH] __attribute__((aligned(SCRATCH)));
};

static inline struct ring *whole(struct dpumap_ring *ring)
{
	return (struct ring *)ring;
}

static doca_error_t register_scratch(struct ring *ring)
{
	ring->scratch_mr = ibv_reg_mr(ring->device->pd, ring->scratch, sizeof(ring->scratch),
				      IBV_ACCESS_LOCAL_WRITE);
	if (!ring->scratch_mr)
		return dpumap_fail(errno == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER,
				   "%s: the scratch memory of a copy queue is not registered: %s",
				   dpumap_hca_name(ring->device->hca), strerror(errno));
	ring->base.scratch = (struct dpumap_ring_seg){
		.key = htobe32(ring->scratch_mr->lkey),
		.addr = htobe64((uintptr_t)ring->scratch),
	};
	return DOCA_SUCCESS;
}

static void take_qp(struct ring *ring, const struct mlx5dv_qp *qp, uint32_t qpn)
{
	ring->base.requests = qp->sq.buf;
	ring->base.mask = qp->sq.wqe_cnt - 1;
	ring->base.qpn = htobe32(qpn << 8 | sizeof(struct dpumap_ring_request) / 16);
	ring->sq_record = &qp->dbrec[MLX5_SND_DBR];
	ring->sq_doorbell = qp->bf.reg;
}

static void take_cq(struct ring *ring, const struct mlx5dv_cq *cq)
{
	/* A CQE of 128 bytes is padding and one of 64. */
	ring->cqes = (const uint8_t *)cq->buf + cq->cqe_size - sizeof(struct mlx5_cqe64);
	ring->cq_size = cq->cqe_cnt;
	ring->cqe_size = cq->cqe_size;
	ring->cq_record = cq->dbrec;
	ring->cq_doorbell = (volatile uint64_t *)(void *)((uint8_t *)cq->cq_uar + CQ_DOORBELL);
	ring->cqn = cq->cqn;
}

static doca_error_t take_queue(struct ring *ring, struct dpumap_queue *queue)
{
	struct mlx5dv_qp qp = {0};
	struct mlx5dv_cq cq = {0};
	struct mlx5dv_obj objects = {
		.qp = {.in = dpumap_queue_qp(queue), .out = &qp},
		.cq = {.in = dpumap_queue_cq(queue, &ring->num_events), .out = &cq},
	};
	int err = mlx5dv_init_obj(&objects, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: a copy queue cannot be looked into: %s",
				   dpumap_hca_name(ring->device->hca), strerror(err));
	take_qp(ring, &qp, objects.qp.in->qp_num);
	take_cq(ring, &cq);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_ring_open(struct dpumap_queue *queue, struct dpumap_ring **ring)
{
	struct ring *opened;
	doca_error_t result;

	*ring = NULL;
	if (dpumap_queue_engine(queue) != DPUMAP_DMA_ENGINE_MMO)
		return DOCA_SUCCESS;
	opened = aligned_alloc(SCRATCH, sizeof(*opened));
	if (!opened)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a ring of copies");
	memset(opened, 0, sizeof(*opened));
	opened->device = dpumap_queue_device(queue);
	opened->base.depth = dpumap_queue_depth(queue);
	result = take_queue(opened, queue);
	if (result == DOCA_SUCCESS)
		result = register_scratch(opened);
	if (result != DOCA_SUCCESS) {
		free(opened);
		return result;
	}
	*ring = &opened->base;
	return DOCA_SUCCESS;
}

void dpumap_ring_close(struct dpumap_ring *base)
{
	struct ring *ring = whole(base);
	int err;

	if (!ring)
		return;
	err = ibv_dereg_mr(ring->scratch_mr);
	if (err)
		dpumap_log(DPUMAP_LOG_ERROR, "%s: deregistering scratch memory failed: %s",
			   dpumap_hca_name(ring->device->hca), strerror(err));
	free(ring);
}

struct dpumap_ring_name dpumap_ring_name(const struct dpumap_region *region)
{
	return (struct dpumap_ring_name){region->lkey, region->iova - region->range.addr};
}

void dpumap_ring_flush(struct dpumap_ring *base)
{
	struct ring *ring = whole(base);
	struct dpumap_ring_request *last = base->last;
	uint64_t words;

	if (ring->rung == base->posted)
		return;
	last->flags = htobe32(DPUMAP_RING_REPORT);
	base->silent = 0;
	ring->rung = base->posted;
	dpumap_barrier_to_device();
	*ring->sq_record = htobe32(base->posted & 0xffff);
	dpumap_barrier_doorbell();
	memcpy(&words, last, sizeof(words));
	*ring->sq_doorbell = words;
	dpumap_barrier_doorbell();
}

static const struct {
	uint8_t syndrome;
	doca_error_t error;
	const char *name;
} failures[] = {
	{MLX5_CQE_SYNDROME_WR_FLUSH_ERR, DOCA_ERROR_SHUTDOWN, "flushed"},
	{MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, DOCA_ERROR_NOT_PERMITTED, "local protection error"},
	{MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR, DOCA_ERROR_NOT_PERMITTED, "local access error"},
	{MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, DOCA_ERROR_NOT_PERMITTED, "remote access error"},
	{MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, DOCA_ERROR_IO_FAILED, "local length error"},
	{MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, DOCA_ERROR_IO_FAILED, "bad work request"},
};

__attribute__((cold, noinline)) static doca_error_t judge(const struct ring *ring,
							  const struct mlx5_cqe64 *cqe)
{
	const struct mlx5_err_cqe *error = (const void *)cqe;
	doca_error_t result = DOCA_ERROR_IO_FAILED;
	const char *name = "device error";

	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		if (failures[i].syndrome == error->syndrome) {
			result = failures[i].error;
			name = failures[i].name;
		}
	if (result == DOCA_ERROR_SHUTDOWN)
		return result;
	return dpumap_fail(result, "%s: a copy failed: %s (syndrome 0x%02x, vendor's 0x%02x)",
			   dpumap_hca_name(ring->device->hca), name, error->syndrome,
			   error->vendor_err_synd);
}

/* The next CQE; NULL if the device has not written it. */
static inline const struct mlx5_cqe64 *next_cqe(const struct ring *ring)
{
	uint32_t index = ring->cq_done & (ring->cq_size - 1);
	const struct mlx5_cqe64 *cqe = (const void *)(ring->cqes + (size_t)index * ring->cqe_size);
	uint8_t op_own = *(const volatile uint8_t *)&cqe->op_own;

	/* Its owner bit turns over with each round through the queue. */
	if (doca_unlikely((op_own & MLX5_CQE_OWNER_MASK) != !!(ring->cq_done & ring->cq_size) ||
			  op_own >> 4 == MLX5_CQE_INVALID))
		return NULL;
	dpumap_barrier_from_device();
	return cqe;
}

bool dpumap_ring_poll(struct dpumap_ring *base, struct dpumap_ring_report *report)
{
	struct ring *ring = whole(base);
	const struct mlx5_cqe64 *cqe = next_cqe(ring);

	if (!cqe)
		return false;
	base->completed += (uint16_t)(be16toh(cqe->wqe_counter) - base->completed) + 1u;
	report->end = base->completed;
	report->status = DOCA_SUCCESS;
	if (doca_unlikely(cqe->op_own >> 4 != MLX5_CQE_REQ))
		report->status = judge(ring, cqe);
	ring->cq_done++;
	ring->cq_record[CQ_CONSUMED] = htobe32(ring->cq_done & CQ_INDEX_MASK);
	return true;
}

void dpumap_ring_arm(struct dpumap_ring *base)
{
	struct ring *ring = whole(base);
	uint32_t word = (*ring->num_events & 3) << 28 | MLX5_CQ_DB_REQ_NOT |
			(ring->cq_done & CQ_INDEX_MASK);

	dpumap_barrier_to_device();
	ring->cq_record[CQ_ARMED] = htobe32(word);
	dpumap_barrier_doorbell();
	*ring->cq_doorbell = htobe64((uint64_t)word << 32 | ring->cqn);
	dpumap_barrier_doorbell();
}
