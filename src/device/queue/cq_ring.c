/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/cq_ring.h"

#include "base/array.h"
#include "log/log.h"

#define DOORBELL 0x20 /* in its page */
#define ARMED	 1    /* word of the doorbell record */

void dpumap_cq_ring_map(struct dpumap_cq_ring *ring, const struct mlx5dv_cq *cq,
			const uint32_t *num_events)
{
	/* A CQE of 128 bytes is padding followed by one of 64. */
	ring->cqes = (const uint8_t *)cq->buf + cq->cqe_size - sizeof(struct mlx5_cqe64);
	ring->size = cq->cqe_cnt;
	ring->cqe_size = cq->cqe_size;
	ring->record = cq->dbrec;
	ring->doorbell = (volatile uint64_t *)(void *)((uint8_t *)cq->cq_uar + DOORBELL);
	ring->cqn = cq->cqn;
	ring->num_events = num_events;
}

void dpumap_cq_ring_arm(struct dpumap_cq_ring *ring)
{
	uint32_t word = (*ring->num_events & 3) << 28 | MLX5_CQ_DB_REQ_NOT |
			(ring->done & DPUMAP_CQ_INDEX_MASK);

	dpumap_barrier_to_device();
	ring->record[ARMED] = htobe32(word);
	dpumap_barrier_doorbell();
	*ring->doorbell = htobe64((uint64_t)word << 32 | ring->cqn);
	dpumap_barrier_doorbell();
}

__attribute__((cold, noinline)) void dpumap_cq_ring_drop(struct dpumap_cq_ring *ring,
							 const char *device)
{
	dpumap_log(DPUMAP_LOG_ERROR,
		   "%s: a work request completed twice; the second completion is ignored", device);
	dpumap_cq_ring_consume(ring);
}

static const struct dpumap_cqe_meaning failures[] = {
	{MLX5_CQE_SYNDROME_WR_FLUSH_ERR, {DOCA_ERROR_SHUTDOWN, "flushed"}},
	{MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, {DOCA_ERROR_NOT_PERMITTED, "local protection error"}},
	{MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR, {DOCA_ERROR_NOT_PERMITTED, "local access error"}},
	{MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, {DOCA_ERROR_NOT_PERMITTED, "remote access error"}},
	{MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, {DOCA_ERROR_IO_FAILED, "local length error"}},
	{MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, {DOCA_ERROR_IO_FAILED, "bad work request"}},
	{MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR,
	 {DOCA_ERROR_NOT_PERMITTED, "remote invalid request"}},
	{MLX5_CQE_SYNDROME_REMOTE_OP_ERR, {DOCA_ERROR_IO_FAILED, "remote operation error"}},
	{MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR,
	 {DOCA_ERROR_CONNECTION_ABORTED, "the peer does not answer"}},
	{MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR,
	 {DOCA_ERROR_CONNECTION_ABORTED, "the peer does not receive"}},
};

static struct dpumap_cqe_failure usual(uint8_t syndrome)
{
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++)
		if (failures[i].syndrome == syndrome)
			return failures[i].failure;
	return (struct dpumap_cqe_failure){DOCA_ERROR_IO_FAILED, "device error"};
}

__attribute__((cold, noinline)) doca_error_t dpumap_cqe_fail(const char *device, const char *what,
							     const struct mlx5_cqe64 *cqe,
							     const struct dpumap_cqe_meaning *here)
{
	const struct mlx5_err_cqe *error = (const void *)cqe;
	struct dpumap_cqe_failure failure = usual(error->syndrome);

	if (here && here->syndrome == error->syndrome)
		failure = here->failure;
	if (failure.error == DOCA_ERROR_SHUTDOWN)
		return failure.error;
	return dpumap_fail(failure.error,
			   "%s: %s failed: %s (syndrome 0x%02x, vendor syndrome 0x%02x)", device,
			   what, failure.name, error->syndrome, error->vendor_err_synd);
}
