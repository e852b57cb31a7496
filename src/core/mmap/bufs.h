/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bufs in a map. */
#ifndef DPUMAP_CORE_MMAP_BUFS_H
#define DPUMAP_CORE_MMAP_BUFS_H

#include "core/mmap/mmap.h"

/* Neither range wraps, so bytes below the range have an offset beyond it. */
static inline bool dpumap_is_inside(uint64_t start, uint64_t len, uint64_t addr, uint64_t n)
{
	uint64_t rest;

	if (doca_unlikely(__builtin_sub_overflow(len, n, &rest)))
		return false;
	return doca_likely(addr - start <= rest);
}

/* Whether this process may do ops with these bytes: DPUMAP_DESC_OK, _ERR_DENIED or _ERR_OUTSIDE. */
static inline dpumap_desc_status_t dpumap_mmap_check_ops(const struct doca_mmap *mmap,
							 uint64_t addr, size_t len, uint32_t ops)
{
	const struct dpumap_desc_window window = {
		.addr = mmap->range.addr, .len = mmap->range.len, .ops = mmap->ops};

	return dpumap_desc_window_check(&window, addr, len, ops);
}

/* Whether a buf may have these bytes. */
static inline bool dpumap_mmap_buf_fits(const struct doca_mmap *mmap, uint64_t addr, size_t len)
{
	uint64_t limit = atomic_load_explicit(&mmap->buf_limit, memory_order_acquire);

	return doca_likely(len < limit) && doca_likely(addr - mmap->range.addr < limit - len);
}

/*
 * Log and return why it may not: DOCA_ERROR_BAD_STATE if the map is not usable,
 * DOCA_ERROR_INVALID_VALUE outside its range.
 */
doca_error_t dpumap_mmap_refuse_buf(const struct doca_mmap *mmap, uint64_t addr, size_t len);

/*
 * Whether the map counts its bufs. Not if thread safety is enabled: then the map may be destroyed
 * before its bufs, and dropping a buf must not touch the map. That cannot change while it has bufs
 * that it counts.
 */
static inline bool dpumap_mmap_counts_bufs(const struct doca_mmap *mmap)
{
	return !mmap->lock;
}

#endif
