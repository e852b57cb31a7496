/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Buf inventories: where bufs (doca_buf.h) come from and return to.
 *
 * Life: create -> set user data -> start -> get bufs, expand -> stop -> ... -> destroy. All memory
 * is allocated by create and expand; getting a buf and giving it back take constant time and
 * allocate nothing. The bufs of one inventory may point into any number of maps.
 *
 * Thread safety of all functions: one inventory and the bufs out of it may be used by one thread at
 * a time, together with the maps that they point into; different inventories by different threads
 * at once. A map with doca_mmap_enable_thread_safety() may be shared by threads that get bufs on
 * it from inventories of their own.
 *
 * Errors common to all functions: DOCA_ERROR_INVALID_VALUE for a NULL argument unless said
 * otherwise. On any error the inventory and the outputs keep their values. Semantics: DOCA 3.0,
 * doca_buf_inventory.h; what that leaves undefined is an error here as far as the library can see
 * it.
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
 * @param num_elements the number of bufs, 1 to 2^32 - 1
 * @param buf_inventory out: the inventory, owned by the caller until doca_buf_inventory_destroy()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL and for a number out of that range,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails
 */
DOCA_STABLE doca_error_t doca_buf_inventory_create(size_t num_elements,
						   struct doca_buf_inventory **buf_inventory);

/**
 * Destroy an inventory; stops it first.
 *
 * @param inventory the inventory, in any state, with all bufs given back; gone after success
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_IN_USE when bufs are out; the inventory is unchanged then
 */
DOCA_STABLE doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/**
 * Let bufs be got. Does nothing on a started inventory.
 *
 * @param inventory the inventory; the first start fixes its user data for good
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_STABLE doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);

/**
 * Let no more bufs be got. Those that are out stay valid and can be given back. Does nothing on an
 * inventory that is not started.
 *
 * @param inventory the inventory; it can be started again
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_STABLE doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/**
 * Add bufs. Those that are out stay valid.
 *
 * @param inventory a started inventory
 * @param num_elements how many more, at least 1; 2^32 - 1 is the most that an inventory can have
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL and for a number out of that range,
 *         DOCA_ERROR_BAD_STATE when the inventory is not started,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory,
							 uint32_t num_elements);

/**
 * Get a buf: a piece of the range of a map, of which a part holds data already.
 *
 * The buf counts in doca_mmap_get_num_bufs() until it is given back, and the map can be neither
 * stopped nor destroyed so long, unless doca_mmap_enable_thread_safety() was called on it.
 *
 * @param inventory a started inventory
 * @param mmap a started or an imported map
 * @param addr first byte of the buf; for an imported map an address of the exporter
 * @param len bytes of the buf, may be 0
 * @param data first byte of its data, in the buf
 * @param data_len bytes of its data, may be 0
 * @param buf out: the buf with one reference, which is the caller's until doca_buf_dec_refcount()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE when inventory, mmap or buf is NULL, when the buf does not lie
 * in the range of the map or the data not in the buf, DOCA_ERROR_BAD_STATE when the inventory or
 * the map is not started, DOCA_ERROR_NO_MEMORY when all bufs of the inventory are out
 */
DOCA_STABLE doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory,
							    struct doca_mmap *mmap, void *addr,
							    size_t len, void *data, size_t data_len,
							    struct doca_buf **buf);

/**
 * Get an empty buf, to receive data: as doca_buf_inventory_buf_get_by_args() with no data, which
 * will begin at addr.
 *
 * @param inventory a started inventory
 * @param mmap a started or an imported map
 * @param addr first byte of the buf
 * @param len bytes of the buf
 * @param buf out: the buf with one reference, which is the caller's
 * @return as doca_buf_inventory_buf_get_by_args()
 */
static inline doca_error_t doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inventory,
							      struct doca_mmap *mmap, void *addr,
							      size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/**
 * Get a full buf, to send data: as doca_buf_inventory_buf_get_by_args() with the data and nothing
 * around it.
 *
 * @param inventory a started inventory
 * @param mmap a started or an imported map
 * @param data first byte of the buf and of its data
 * @param data_len bytes of both
 * @param buf out: the buf with one reference, which is the caller's
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
 * Get a buf like another one, on the same memory: nothing is copied but the description. Of a list
 * all elements, chained in the same order; in time proportional to their number.
 *
 * @param inventory a started inventory, not necessarily that of src_buf
 * @param src_buf the buf; the head of its list if it is in one. Its map or maps are started
 * @param dst_buf out: the copy with one reference, which is the caller's
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_BAD_STATE when the inventory or a map is not started or src_buf was given
 * back, DOCA_ERROR_NOT_PERMITTED when src_buf is in a list but not its head,
 *         DOCA_ERROR_NO_MEMORY when the inventory has fewer bufs left than src_buf has elements
 */
DOCA_STABLE doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory,
						    const struct doca_buf *src_buf,
						    struct doca_buf **dst_buf);

/**
 * Store a word in the inventory.
 *
 * @param inventory an inventory that was never started
 * @param user_data the word
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_BAD_STATE when the inventory was started once
 */
DOCA_STABLE doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory,
							  union doca_data user_data);

/**
 * The word stored in the inventory.
 *
 * @param inventory the inventory, in any state
 * @param user_data out: the word; all bits 0 when none was stored
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_inventory_get_user_data(
	const struct doca_buf_inventory *inventory, union doca_data *user_data);

/**
 * How many bufs the inventory has, in use or not.
 *
 * @param inventory the inventory, in any state
 * @param num_of_elements out: the number
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_inventory_get_num_elements(
	const struct doca_buf_inventory *inventory, uint32_t *num_of_elements);

/**
 * How many bufs the inventory has left.
 *
 * @param inventory the inventory, in any state
 * @param num_of_free_elements out: the number
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_inventory_get_num_free_elements(
	const struct doca_buf_inventory *inventory, uint32_t *num_of_free_elements);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_INVENTORY_H_ */
