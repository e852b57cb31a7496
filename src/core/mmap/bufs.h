/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bufs in a map. */
#ifndef DPUMAP_CORE_MMAP_BUFS_H
#define DPUMAP_CORE_MMAP_BUFS_H

#include "core/mmap/mmap.h"

/* Whether this process may do ops with these bytes: DPUMAP_DESC_OK, _ERR_DENIED or _ERR_OUTSIDE. */
static inline dpumap_desc_status_t dpumap_mmap_check_ops(const struct doca_mmap *mmap,
							 uint64_t addr, size_t len, uint32_t ops)
{
	const struct dpumap_desc_window window = {
		.addr = mmap->range.addr, .len = mmap->range.len, .ops = mmap->ops};

	return dpumap_desc_window_check(&window, addr, len, ops);
}

/* Log and return why dpumap_mmap_buf_take() refuses. */
doca_error_t dpumap_mmap_refuse_buf(const struct doca_mmap *mmap, uint64_t addr, size_t len);

/*
 * Whether a buf may have these bytes: DOCA_ERROR_BAD_STATE if the map is not usable,
 * DOCA_ERROR_INVALID_VALUE outside its range.
 */
static inline doca_error_t dpumap_mmap_buf_check(const struct doca_mmap *mmap, uint64_t addr,
						 size_t len)
{
	if (doca_unlikely(!dpumap_mmap_is_usable(mmap) ||
			  dpumap_mmap_check_ops(mmap, addr, len, 0) != DPUMAP_DESC_OK)) {
		doca_error_t result = dpumap_mmap_refuse_buf(mmap, addr, len);

		/* Lets the compiler drop the success path of the caller. */
		if (result == DOCA_SUCCESS)
			__builtin_unreachable();
		return result;
	}
	return DOCA_SUCCESS;
}

/*
 * A buf takes these bytes. The map counts the buf unless thread safety is enabled: then the map may
 * be destroyed before its bufs, and dropping a buf must not touch the map.
 */
static inline doca_error_t dpumap_mmap_buf_take(struct doca_mmap *mmap, uint64_t addr, size_t len)
{
	doca_error_t result = dpumap_mmap_buf_check(mmap, addr, len);

	if (doca_likely(result == DOCA_SUCCESS && !mmap->lock))
		mmap->num_bufs++;
	return result;
}

/* Whether the map counts its bufs. If not, its bufs must not be dropped. */
static inline bool dpumap_mmap_counts_bufs(const struct doca_mmap *mmap)
{
	return !mmap->lock;
}

static inline void dpumap_mmap_buf_drop(struct doca_mmap *mmap)
{
	if (doca_likely(!mmap->lock))
		mmap->num_bufs--;
}

#endif
