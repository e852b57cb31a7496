/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The umem object. */
#ifndef DPUMAP_CORE_UMEM_UMEM_H
#define DPUMAP_CORE_UMEM_UMEM_H

#include <stdatomic.h>

#include <dpumap/umem.h>

#include "device/memory/umem.h"

/* Outlives its deregistration while maps refer to it, then without devx_umem. */
struct dpumap_umem {
	struct doca_dev *dev;
	struct dpumap_devx_umem *devx_umem; /* NULL once deregistered */
	struct dpumap_range range;
	uint64_t start; /* address of the range, or its offset in the dma-buf */
	uint32_t access;
	uint16_t source;     /* DPUMAP_DESC_SOURCE_* */
	atomic_uint refs;    /* the user's and one per map */
	atomic_uint started; /* started maps */
};

struct dpumap_umem *dpumap_umem_get(struct dpumap_umem *umem);
void dpumap_umem_put(struct dpumap_umem *umem);

#endif
