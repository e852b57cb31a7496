/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The device memory object. */
#ifndef DPUMAP_CORE_DM_DM_H
#define DPUMAP_CORE_DM_DM_H

#include <stdatomic.h>

#include <dpumap/dm.h>

#include "device/memory/devmem.h"

/* Outlives dpumap_dm_free() while maps refer to it, then without memory. */
struct dpumap_dm {
	struct doca_dev *dev;
	struct dpumap_devmem *mem; /* NULL once freed */
	size_t len;
	uint32_t log_align;  /* at least; the alignment of imported memory is not known */
	atomic_uint refs;    /* the user's and one per map */
	atomic_uint started; /* started maps */
	atomic_uint pools;
};

struct dpumap_dm *dpumap_dm_get(struct dpumap_dm *dm);
void dpumap_dm_put(struct dpumap_dm *dm);

#endif
