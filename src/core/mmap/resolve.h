/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From a map to the keys that work requests need. */
#ifndef DPUMAP_CORE_MMAP_RESOLVE_H
#define DPUMAP_CORE_MMAP_RESOLVE_H

#include "core/mmap/mmap.h"

/* Log and return why copies by this device cannot use the map. */
doca_error_t dpumap_mmap_refuse_device(const struct doca_mmap *mmap, const struct doca_dev *dev);
/* Log and return why a task cannot reach the map through a connection. */
doca_error_t dpumap_mmap_refuse_peer(const struct doca_mmap *mmap, const struct doca_dev *dev);

/* Whether copies by this device may use fast_key. */
static inline bool dpumap_mmap_has_fast_key(const struct doca_mmap *mmap,
					    const struct doca_dev *dev)
{
	return doca_likely(atomic_load_explicit(&mmap->fast_dev, memory_order_acquire) == dev);
}

/* The region of a usable map on a device. */
static inline doca_error_t dpumap_mmap_resolve(const struct doca_mmap *mmap,
					       const struct doca_dev *dev,
					       const struct dpumap_region **region)
{
	const struct mmap_slot *slot = dpumap_mmap_find_slot(mmap, dev);

	if (doca_unlikely(!dpumap_mmap_is_usable(mmap) || !slot || !slot->region || slot->ending))
		return dpumap_mmap_refuse_device(mmap, dev);
	*region = slot->region;
	return DOCA_SUCCESS;
}

/* The key by which the exporter knows a map that was imported over RDMA. */
static inline doca_error_t dpumap_mmap_resolve_peer(const struct doca_mmap *mmap,
						    const struct doca_dev *dev, uint32_t *key)
{
	const struct mmap_slot *slot = dpumap_mmap_find_slot(mmap, dev);

	if (doca_unlikely(!dpumap_mmap_is_usable(mmap) || !slot || !slot->peer_key))
		return dpumap_mmap_refuse_peer(mmap, dev);
	*key = slot->peer_key;
	return DOCA_SUCCESS;
}

#endif
