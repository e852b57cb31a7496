/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pools of small pieces of one device memory.
 *
 * Device memory is small, and the driver maps each allocation on pages of its own. A program that
 * needs many counters, doorbells or small buffers allocates one device memory with
 * dpumap_dm_alloc() and a pool that divides it. A piece can be the range of a map, like any other
 * part of device memory: pass its offset and length to dpumap_mmap_set_dm_memrange().
 *
 * Allocating and freeing a piece take constant time and allocate no memory. The bookkeeping is in
 * the memory of the process, with 24 bytes for each granule, and is created with the pool. Free
 * neighbours are joined at once, so the pool does not fragment permanently.
 *
 * A piece takes whole granules. Free runs are sorted by size class: one class per length below 64
 * granules, and 32 classes per power of two above. An allocation succeeds if a free run is as long
 * as the size class of the piece, which is at most 1/32 (3.2 %) longer than the piece. For an
 * alignment above the granule, the pool searches a run that is longer by the alignment minus one
 * granule, and frees the unused part of it.
 *
 * Thread safety: several threads may call dpumap_dm_pool_alloc(), dpumap_dm_pool_free() and
 * dpumap_dm_pool_get_usage() at once. On any error the outputs keep their values.
 */
#ifndef DPUMAP_DM_POOL_H
#define DPUMAP_DM_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dpumap_dm;
struct dpumap_dm_pool;

/** An allocated piece. The caller owns the struct; the pool keeps no copy. */
struct dpumap_dm_piece {
	size_t offset;	 /**< first byte within the device memory of the pool */
	size_t len;	 /**< number of bytes, as requested */
	uint64_t serial; /**< unique within the process; not 0 */
};

/** Usage of a pool, in whole granules. */
struct dpumap_dm_pool_usage {
	size_t total;  /**< number of bytes of the pool */
	size_t free;   /**< number of free bytes, possibly in several runs */
	size_t pieces; /**< number of allocated pieces */
};

/**
 * Create a pool of a whole device memory, from offset 0 to the last whole granule.
 *
 * @param dm the memory; in use until dpumap_dm_pool_destroy(). The program must not create maps or
 *         pools over the same bytes in another way
 * @param log_granule size to which pieces are rounded up, as a power of two: from 3 (8 bytes) to
 *         16; 0 means 6 (64 bytes), the granularity of the device
 * @param pool out: the pool, owned by the caller until dpumap_dm_pool_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the granule is out of range, or the memory has
 *   less than one or more than 2^24 granules
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_STABLE doca_error_t dpumap_dm_pool_create(struct dpumap_dm *dm, uint32_t log_granule,
					       struct dpumap_dm_pool **pool);

/**
 * Destroy a pool. The device memory itself is not freed.
 *
 * @param pool the pool, not in use by another thread; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: a piece is still allocated
 */
DOCA_STABLE doca_error_t dpumap_dm_pool_destroy(struct dpumap_dm_pool *pool);

/**
 * Allocate a piece. Its content is undefined.
 *
 * @param pool the pool
 * @param len number of bytes, not 0
 * @param log_align alignment as a power of two; values below the granule mean the granule. It is
 *         an alignment on the device, so its maximum is the alignment with which the memory was
 *         allocated, but at least 6. For imported memory the maximum is 6
 * @param piece out: the piece, owned by the caller until dpumap_dm_pool_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the length is 0 or exceeds the pool, or the
 *   memory does not have the alignment
 * - DOCA_ERROR_NO_MEMORY: there is no free run of the size class
 */
DOCA_STABLE doca_error_t dpumap_dm_pool_alloc(struct dpumap_dm_pool *pool, size_t len,
					      uint32_t log_align, struct dpumap_dm_piece *piece);

/**
 * Free a piece. First stop the maps over it, because the pool does not know them.
 *
 * @param pool the pool
 * @param piece the piece, as returned by dpumap_dm_pool_alloc()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_FOUND: the piece is not allocated from this pool: it was freed before, belongs
 *   to another pool, or never was a piece. Nothing has changed
 */
DOCA_STABLE doca_error_t dpumap_dm_pool_free(struct dpumap_dm_pool *pool,
					     const struct dpumap_dm_piece *piece);

/**
 * Get the usage of a pool.
 *
 * @param pool the pool
 * @param usage out: a consistent snapshot
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_dm_pool_get_usage(struct dpumap_dm_pool *pool,
						  struct dpumap_dm_pool_usage *usage);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_DM_POOL_H */
