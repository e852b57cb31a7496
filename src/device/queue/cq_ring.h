/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The memory of a completion queue of an mlx5 device, read and armed without locks, for one thread.
 * libmlx5 leaves the completions alone once the queue is mapped, also those of queue pairs that are
 * destroyed.
 */
#ifndef DPUMAP_DEVICE_QUEUE_CQ_RING_H
#define DPUMAP_DEVICE_QUEUE_CQ_RING_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/mlx5dv.h>

#include <doca_compat.h>

#include <doca_error.h>

#include "device/queue/barrier.h"

#define DPUMAP_CQ_INDEX_MASK 0xffffffu

struct dpumap_cq_ring {
	const uint8_t *cqes; /* the first CQE, without padding */
	uint32_t size, cqe_size;
	uint32_t done;
	__be32 *record;
	volatile uint64_t *doorbell;
	uint32_t cqn;
	const uint32_t *num_events; /* read so far */
};

void dpumap_cq_ring_map(struct dpumap_cq_ring *ring, const struct mlx5dv_cq *cq,
			const uint32_t *num_events);

/* The next CQE; NULL if the device has not written it yet. */
static inline const struct mlx5_cqe64 *dpumap_cq_ring_next(const struct dpumap_cq_ring *ring)
{
	uint32_t index = ring->done & (ring->size - 1);
	const struct mlx5_cqe64 *cqe = (const void *)(ring->cqes + (size_t)index * ring->cqe_size);
	uint8_t op_own = *(const volatile uint8_t *)&cqe->op_own;

	/* The owner bit flips with each round through the queue. */
	if (doca_unlikely((op_own & MLX5_CQE_OWNER_MASK) != !!(ring->done & ring->size) ||
			  op_own >> 4 == MLX5_CQE_INVALID))
		return NULL;
	dpumap_barrier_from_device();
	return cqe;
}

/* Release the next CQE, which was read. */
static inline void dpumap_cq_ring_consume(struct dpumap_cq_ring *ring)
{
	ring->done++;
	ring->record[0] = htobe32(ring->done & DPUMAP_CQ_INDEX_MASK);
}

/*
 * Request an event for the next completion. A completion that arrived earlier need not raise one:
 * poll again afterwards.
 */
void dpumap_cq_ring_arm(struct dpumap_cq_ring *ring);

/*
 * Log and release the next CQE, which completes work that is completed already. Devices do not do
 * that, but what it says would complete later work whose bytes may not have been moved.
 */
void dpumap_cq_ring_drop(struct dpumap_cq_ring *ring, const char *device);

struct dpumap_cqe_failure {
	doca_error_t error;
	const char *name;
};

/* A syndrome that says more than usual where it is reported. */
struct dpumap_cqe_meaning {
	uint8_t syndrome;
	struct dpumap_cqe_failure failure;
};

/*
 * Log and return what an error CQE reports: `what`, such as "a copy", failed. A flush is not logged.
 * `here` may be NULL.
 */
doca_error_t dpumap_cqe_fail(const char *device, const char *what, const struct mlx5_cqe64 *cqe,
			     const struct dpumap_cqe_meaning *here);

#endif
