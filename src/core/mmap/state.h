/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Starting and stopping a map. */
#ifndef DPUMAP_CORE_MMAP_STATE_H
#define DPUMAP_CORE_MMAP_STATE_H

#include "core/mmap/mmap.h"

void dpumap_mmap_set_state(struct doca_mmap *mmap, enum mmap_state state);

/* No more copies may use fast_key. */
static inline void dpumap_mmap_drop_fast_key(struct doca_mmap *mmap)
{
	atomic_store_explicit(&mmap->fast_dev, NULL, memory_order_release);
}

/* Remove the registration and descriptors of one device. On failure the slot keeps both. */
doca_error_t dpumap_mmap_unregister(struct mmap_slot *slot);

#endif
