/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_CORE_UMEM_H
#define DPUMAP_CORE_UMEM_H

#include <stdatomic.h>

#include <dpumap/umem.h>

#include "device/umem.h"

/* Outlives its end for as long as a map names it, without the pages then. */
struct dpumap_umem {
	struct doca_dev *dev;
	struct dpumap_pages *pages; /* NULL once given up */
	struct dpumap_range range;
	uint64_t start; /* of the range as it is registered */
	uint32_t access;
	uint16_t source;     /* DPUMAP_DESC_SOURCE_* */
	atomic_uint refs;    /* the user's and one per map */
	atomic_uint started; /* maps that have it registered */
};

struct dpumap_umem *dpumap_umem_get(struct dpumap_umem *umem);
void dpumap_umem_put(struct dpumap_umem *umem);

#endif
