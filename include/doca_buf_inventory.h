/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Buf inventories. An inventory is the pool from which bufs (doca_buf.h) are allocated.
 *
 * Life cycle: create -> set user data -> start -> allocate bufs, expand -> stop -> ... -> destroy.
 * Only create and expand allocate memory. Allocating and releasing a buf take constant time. The
 * bufs of one inventory may point into any number of maps.
 *
 * Thread safety of all functions: only one thread at a time may use an inventory, its bufs and
 * their maps. Different threads may use different inventories at once. Threads that allocate bufs
 * from different inventories may share a map with doca_mmap_enable_thread_safety().
 *
 * All functions return DOCA_ERROR_INVALID_VALUE for a NULL argument unless documented otherwise.
 * On any error the inventory and the outputs keep their values. Semantics: DOCA 3.0,
 * doca_buf_inventory.h; behaviour that it leaves undefined is an error here if the library can
 * detect it.
 */
#ifndef DOCA_BUF_INVENTORY_H_
#define DOCA_BUF_INVENTORY_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_buf_inventory;
struct doca_mmap;

/**
 * Create an inventory and all its bufs.
 *
 * @param num_elements number of bufs, from 1 to 2^32 - 1
 * @param buf_inventory out: the inventory, owned by the caller until doca_buf_inventory_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the output is NULL, or the number is out of range
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_STABLE doca_error_t doca_buf_inventory_create(size_t num_elements,
						   struct doca_buf_inventory **buf_inventory);

/**
 * Stop and destroy an inventory.
 *
 * @param inventory the inventory, in any state, after all its bufs were released; invalid after
 *         success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: a buf is still allocated; the inventory is unchanged
 */
DOCA_STABLE doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/**
 * Start an inventory: bufs can then be allocated. A started inventory is not changed.
 *
 * @param inventory the inventory; the first start makes its user data final
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);

/**
 * Stop an inventory: no more bufs can be allocated. Allocated bufs stay valid and can be released.
 * An inventory that is not started is not changed.
 *
 * @param inventory the inventory; it can be started again
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/**
 * Add bufs to an inventory. Allocated bufs stay valid.
 *
 * @param inventory a started inventory
 * @param num_elements number of bufs to add, at least 1; an inventory can have at most 2^32 - 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the inventory is NULL, or the number is out of range
 * - DOCA_ERROR_BAD_STATE: the inventory is not started
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory,
							 uint32_t num_elements);

/**
 * Allocate a buf: a piece of the range of a map, with data in a part of it.
 *
 * The buf counts in doca_mmap_get_num_bufs() until it is released. Until then the map can be
 * neither stopped nor destroyed, unless doca_mmap_enable_thread_safety() was called for it.
 *
 * @param inventory a started inventory
 * @param mmap a started or imported map
 * @param addr first byte of the buf; for an imported map, an address of the exporter
 * @param len number of bytes of the buf, may be 0
 * @param data first byte of the data, within the buf
 * @param data_len number of bytes of the data, may be 0
 * @param buf out: the buf with one reference, owned by the caller until doca_buf_dec_refcount()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: inventory, mmap or buf is NULL; the buf is not within the range of
 *   the map; or the data is not within the buf
 * - DOCA_ERROR_BAD_STATE: the inventory or the map is not started
 * - DOCA_ERROR_NO_MEMORY: all bufs of the inventory are allocated
 */
DOCA_STABLE DPUMAP_FREQUENT doca_error_t doca_buf_inventory_buf_get_by_args(
	struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr, size_t len,
	void *data, size_t data_len, struct doca_buf **buf);

/**
 * Allocate an empty buf as a destination, like doca_buf_inventory_buf_get_by_args() without data.
 * Data will begin at addr.
 *
 * @param inventory a started inventory
 * @param mmap a started or imported map
 * @param addr first byte of the buf
 * @param len number of bytes of the buf
 * @param buf out: the buf with one reference, owned by the caller
 * @return as doca_buf_inventory_buf_get_by_args()
 */
static inline doca_error_t doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inventory,
							      struct doca_mmap *mmap, void *addr,
							      size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/**
 * Allocate a full buf as a source, like doca_buf_inventory_buf_get_by_args() without headroom and
 * tail.
 *
 * @param inventory a started inventory
 * @param mmap a started or imported map
 * @param data first byte of the buf and of its data
 * @param data_len number of bytes of the buf and of its data
 * @param buf out: the buf with one reference, owned by the caller
 * @return as doca_buf_inventory_buf_get_by_args()
 */
static inline doca_error_t doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inventory,
							      struct doca_mmap *mmap, void *data,
							      size_t data_len,
							      struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, data, data_len, data, data_len,
						  buf);
}

/**
 * Duplicate a buf, or a whole list in the same order. The duplicate describes the same memory; no
 * data is copied. The time is proportional to the number of elements.
 *
 * @param inventory a started inventory, which may differ from the inventory of src_buf
 * @param src_buf the buf; the head of its list if it is in one. The maps of all elements are
 *         started
 * @param dst_buf out: the duplicate with one reference, owned by the caller
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the inventory or a map is not started, or src_buf was released
 * - DOCA_ERROR_NOT_PERMITTED: src_buf is in a list but is not its head
 * - DOCA_ERROR_NO_MEMORY: the inventory has fewer free bufs than src_buf has elements
 */
DOCA_STABLE doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory,
						    const struct doca_buf *src_buf,
						    struct doca_buf **dst_buf);

/**
 * Move an allocated buf to another piece of its map, for example before a task is submitted again.
 * The buf keeps its references, its place in a list, and its map. No data is copied.
 *
 * DOCA has this function since 3.2. Its arguments and errors are known by inference.
 *
 * @param buf an allocated buf that no submitted task uses; its map is started or imported. In a
 *         list, only this element moves
 * @param addr first byte of the buf; for an imported map, an address of the exporter
 * @param len number of bytes of the buf, may be 0
 * @param data first byte of the data, within the buf
 * @param data_len number of bytes of the data, may be 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: buf is NULL; the new piece is not within the range of the map; or the
 *   data is not within the new piece
 * - DOCA_ERROR_BAD_STATE: the buf was released, or its map is not started
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_inventory_buf_reuse_by_args(struct doca_buf *buf,
								    void *addr, size_t len,
								    void *data, size_t data_len);

/* Not every program that includes this header calls the experimental function. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/**
 * Move an allocated buf and make it empty, like doca_buf_inventory_buf_reuse_by_args() without data.
 * Data will begin at addr.
 *
 * @param buf an allocated buf that no submitted task uses; its map is started or imported
 * @param addr first byte of the buf
 * @param len number of bytes of the buf
 * @return as doca_buf_inventory_buf_reuse_by_args()
 */
static inline doca_error_t doca_buf_inventory_buf_reuse_by_addr(struct doca_buf *buf, void *addr,
								size_t len)
{
	return doca_buf_inventory_buf_reuse_by_args(buf, addr, len, addr, 0);
}

/**
 * Move an allocated buf and make it full, like doca_buf_inventory_buf_reuse_by_args() without
 * headroom and tail.
 *
 * @param buf an allocated buf that no submitted task uses; its map is started or imported
 * @param data first byte of the buf and of its data
 * @param data_len number of bytes of the buf and of its data
 * @return as doca_buf_inventory_buf_reuse_by_args()
 */
static inline doca_error_t doca_buf_inventory_buf_reuse_by_data(struct doca_buf *buf, void *data,
								size_t data_len)
{
	return doca_buf_inventory_buf_reuse_by_args(buf, data, data_len, data, data_len);
}

#pragma GCC diagnostic pop

/**
 * Set the user data of the inventory.
 *
 * @param inventory an inventory that was never started
 * @param user_data the value
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the inventory has been started before
 */
DOCA_STABLE doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory,
							  union doca_data user_data);

/**
 * Get the user data of the inventory.
 *
 * @param inventory the inventory, in any state
 * @param user_data out: the value; all bits are 0 if none was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_inventory_get_user_data(
	const struct doca_buf_inventory *inventory, union doca_data *user_data);

/**
 * Get the number of bufs of the inventory, free or allocated.
 *
 * @param inventory the inventory, in any state
 * @param num_of_elements out: the number
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_inventory_get_num_elements(
	const struct doca_buf_inventory *inventory, uint32_t *num_of_elements);

/**
 * Get the number of free bufs of the inventory.
 *
 * @param inventory the inventory, in any state
 * @param num_of_free_elements out: the number
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_inventory_get_num_free_elements(
	const struct doca_buf_inventory *inventory, uint32_t *num_of_free_elements);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_INVENTORY_H_ */
