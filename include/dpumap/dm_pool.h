/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A pool of small pieces of one device memory.
 *
 * The driver gives device memory in pages of their own, and there is little of it: who needs a
 * counter, a doorbell word or a staging buffer each of some bytes takes one memory with
 * dpumap_dm_alloc() and has a pool cut it up. A piece is the range of a map like any other part of
 * a device memory: dpumap_mmap_set_dm_memrange() with its offset and length.
 *
 * Taking and giving back a piece is O(1), and allocates nothing: all the bookkeeping is in the
 * memory of the process, 24 bytes for each granule, made with the pool. Neighbours that are free
 * are one at once, so that nothing is lost over time.
 *
 * What is lost: a piece takes whole granules. Free runs are kept by size class, exact below 64
 * granules and from there 32 classes for each power of two, so a piece is found whenever a free run
 * is as long as its size class, which is at most 1/32 (3.2 %) longer than the piece; a piece with
 * an alignment above the granule is looked for with the alignment less one granule added to its
 * length, of which what is not needed is free again.
 *
 * Thread safety: dpumap_dm_pool_alloc(), dpumap_dm_pool_free() and dpumap_dm_pool_get_usage() may
 * be called from several threads at once. On any error the outputs keep their values.
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

/** A piece that was given out. Belongs to the caller; the pool reads it, and keeps no copy. */
struct dpumap_dm_piece {
	size_t offset;	 /**< first byte, in the device memory of the pool */
	size_t len;	 /**< bytes, as asked for */
	uint64_t serial; /**< no two pieces of the process have the same; not 0 */
};

/** How much of a pool is in use. Bytes are those of whole granules. */
struct dpumap_dm_pool_usage {
	size_t total;  /**< bytes that the pool can give out */
	size_t free;   /**< bytes that are not given out, maybe in several runs */
	size_t pieces; /**< number of pieces given out */
};

/**
 * Make a pool of a device memory, all of it: offset 0 to the last whole granule.
 *
 * @param dm the memory; in use until dpumap_dm_pool_destroy(). Nothing keeps others from making
 * maps or pools over the same bytes
 * @param log_granule what pieces are rounded up to, as a power of two: 3 (8 bytes) to 16; 0 gives
 * 6, the 64 bytes of the device's own granularity
 * @param pool out: the pool, owned by the caller until dpumap_dm_pool_destroy()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, a granule that cannot be, or a memory of
 * less than one granule or of more than 2^24 of them, DOCA_ERROR_NO_MEMORY when an allocation fails
 */
DOCA_STABLE doca_error_t dpumap_dm_pool_create(struct dpumap_dm *dm, uint32_t log_granule,
					       struct dpumap_dm_pool **pool);

/**
 * Destroy a pool. Its memory stays, and is the caller's alone again.
 *
 * @param pool the pool, used by no other thread; gone after success
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_IN_USE while pieces are given out
 */
DOCA_STABLE doca_error_t dpumap_dm_pool_destroy(struct dpumap_dm_pool *pool);

/**
 * Take a piece. Its bytes are what its last owner left there.
 *
 * @param pool the pool
 * @param len bytes, not 0
 * @param log_align alignment as a power of two; less than the granule gives the granule. On the
 * device, so at most that with which the memory was allocated, or 6 if that is more; an imported
 * memory is only known to have 6
 * @param piece out: the piece, the caller's until dpumap_dm_pool_free()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, a length of 0 or above the pool's, or an
 * alignment that the memory does not have, DOCA_ERROR_NO_MEMORY when there is no free run of that
 * size class
 */
DOCA_STABLE doca_error_t dpumap_dm_pool_alloc(struct dpumap_dm_pool *pool, size_t len,
					      uint32_t log_align, struct dpumap_dm_piece *piece);

/**
 * Give a piece back. Maps over it are to be stopped before: the pool does not know of them.
 *
 * @param pool the pool
 * @param piece the piece, as dpumap_dm_pool_alloc() filled it
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_FOUND when the pool has no such piece given out: it was given back before,
 * is another pool's, or was never a piece. Nothing is changed then
 */
DOCA_STABLE doca_error_t dpumap_dm_pool_free(struct dpumap_dm_pool *pool,
					     const struct dpumap_dm_piece *piece);

/**
 * How much of the pool is in use.
 *
 * @param pool the pool
 * @param usage out: numbers of one moment
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t dpumap_dm_pool_get_usage(struct dpumap_dm_pool *pool,
						  struct dpumap_dm_pool_usage *usage);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_DM_POOL_H */
