/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The doorbell of a send queue of an mlx5 device. */
#ifndef DPUMAP_DEVICE_QUEUE_DOORBELL_H
#define DPUMAP_DEVICE_QUEUE_DOORBELL_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/queue/barrier.h"

struct dpumap_doorbell {
	__be32 *record;
	volatile uint64_t *page;
};

static inline struct dpumap_doorbell dpumap_doorbell_of(const struct mlx5dv_qp *qp)
{
	return (struct dpumap_doorbell){.record = qp->dbrec + MLX5_SND_DBR, .page = qp->bf.reg};
}

/* Let the device read all blocks before number `next`. `last` is the last work request among them. */
static inline void dpumap_doorbell_ring(const struct dpumap_doorbell *doorbell, uint16_t next,
					const void *last)
{
	uint64_t words;

	dpumap_barrier_to_device();
	*doorbell->record = htobe32(next);
	dpumap_barrier_doorbell();
	memcpy(&words, last, sizeof(words));
	*doorbell->page = words;
	dpumap_barrier_doorbell();
}

#endif
