/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Buf pools. A pool divides the range of one map into pieces of equal size and has one buf
 * (doca_buf.h) for each piece. A released buf returns to its pool.
 *
 * Life cycle: create -> set alignment and user data -> start -> allocate bufs -> stop -> ... ->
 * destroy. Only create allocates memory. Allocating and releasing a buf take constant time.
 *
 * The first piece begins at the first aligned address of the range. The distance between two pieces
 * is the size of an element, rounded up to the alignment.
 *
 * Thread safety of all functions: only one thread at a time may use a pool, its bufs and its map.
 * Different threads may use different pools at once. Their pools may share a map with
 * doca_mmap_enable_thread_safety().
 *
 * All functions return DOCA_ERROR_INVALID_VALUE for a NULL argument unless documented otherwise.
 * On any error the pool and the outputs keep their values. Semantics: DOCA 3.0, doca_buf_pool.h;
 * behaviour that it leaves undefined is an error here if the library can detect it.
 */
#ifndef DOCA_BUF_POOL_H_
#define DOCA_BUF_POOL_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_buf_pool;
struct doca_mmap;

/**
 * Create a pool and all its bufs.
 *
 * @param num_elements number of pieces and of bufs, from 1 to 2^32 - 1
 * @param element_size number of bytes of each piece, at least 1
 * @param mmap the map to divide, in any state; must exist until doca_buf_pool_destroy()
 * @param buf_pool out: the pool, owned by the caller until doca_buf_pool_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the map or the output is NULL, or a number is out of range
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_STABLE doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size,
					      const struct doca_mmap *mmap,
					      struct doca_buf_pool **buf_pool);

/**
 * Stop and destroy a pool.
 *
 * @param buf_pool the pool, in any state, after all its bufs were released; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: a buf is still allocated; the pool is unchanged
 */
DOCA_STABLE doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool);

/**
 * Start a pool: divide the range of its map, so bufs can be allocated. A started pool is not
 * changed.
 *
 * @param buf_pool the pool; its map is started or imported, and stays so until the pool is stopped
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the map is not started
 * - DOCA_ERROR_INITIALIZATION: the range of the map is too small for all pieces
 */
DOCA_STABLE doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool);

/**
 * Stop a pool: no more bufs can be allocated. A pool that is not started is not changed.
 *
 * @param buf_pool the pool, after all its bufs were released; it can be started again
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: a buf is still allocated; the pool is still started
 */
DOCA_STABLE doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool);

/**
 * Allocate an empty buf over a free piece. Data will begin at the first byte of the piece.
 *
 * The buf counts in doca_mmap_get_num_bufs() until it is released. Until then the map can be
 * neither stopped nor destroyed, unless doca_mmap_enable_thread_safety() was called for it. If the
 * buf was moved with doca_buf_inventory_buf_reuse_by_args(), its piece is free again when it is
 * released.
 *
 * @param buf_pool a started pool
 * @param buf out: the buf with one reference, owned by the caller until doca_buf_dec_refcount()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the pool or its map is not started
 * - DOCA_ERROR_EMPTY: all bufs of the pool are allocated
 */
DOCA_STABLE DPUMAP_FREQUENT doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool,
								 struct doca_buf **buf);

/**
 * Set the user data of the pool.
 *
 * @param buf_pool a pool that is not started
 * @param user_data the value
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the pool is NULL
 * - DOCA_ERROR_BAD_STATE: the pool is started
 */
DOCA_STABLE doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool,
						     union doca_data user_data);

/**
 * Get the user data of the pool.
 *
 * @param buf_pool the pool, in any state
 * @param user_data out: the value; all bits are 0 if none was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool,
						     union doca_data *user_data);

/**
 * Set the alignment of the pieces. It applies from the next start.
 *
 * @param buf_pool a pool that is not started
 * @param element_alignment number of bytes, a power of two; the address of each piece is a multiple
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the pool is NULL, or the alignment is not a power of two
 * - DOCA_ERROR_BAD_STATE: the pool is started
 */
DOCA_STABLE doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool,
							     size_t element_alignment);

/**
 * Get the alignment of the pieces.
 *
 * @param buf_pool the pool, in any state
 * @param element_alignment out: number of bytes; 1 if none was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool,
							     size_t *element_alignment);

/**
 * Get the number of bufs of the pool, free or allocated.
 *
 * @param buf_pool the pool, in any state
 * @param num_elements out: the number
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool,
							uint32_t *num_elements);

/**
 * Get the number of free bufs of the pool.
 *
 * @param buf_pool the pool, in any state
 * @param num_free_elements out: the number
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool,
							     uint32_t *num_free_elements);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_POOL_H_ */
