/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bufs. A buf is a piece of the range of one map. A part of the buf holds data:
 *
 *	head            data              data + data_len        head + len
 *	 |--- headroom ---|------ data ------|-------- tail --------|
 *
 * A buf is allocated from an inventory (doca_buf_inventory.h) with one reference, which the caller
 * owns. The last doca_buf_dec_refcount() returns it to the inventory. A buf describes memory and
 * never accesses it. A buf on an imported map uses addresses of the exporter.
 *
 * Bufs can be chained to lists. The references of a list are the references of its head. Each
 * other element has exactly one reference, which the list owns. The elements may belong to
 * different maps and inventories.
 *
 * Thread safety of all functions: only one thread at a time may use the bufs of an inventory. For
 * a list, this applies to the inventories and the maps of all its elements together. Threads may
 * share a map with doca_mmap_enable_thread_safety().
 *
 * All functions return DOCA_ERROR_INVALID_VALUE for a NULL argument unless documented otherwise.
 * On any error the bufs and the outputs keep their values. Semantics: DOCA 3.0, doca_buf.h;
 * behaviour that it leaves undefined is an error here if the library can detect it. A released buf
 * must not be used. Functions that would change it return DOCA_ERROR_BAD_STATE until the buf is
 * allocated again or its inventory is destroyed.
 */
#ifndef DOCA_BUF_H_
#define DOCA_BUF_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;

/**
 * Take a reference to a buf, or to a list through its head.
 *
 * @param buf the buf; the head of its list if it is in one
 * @param refcount out: the number of references before the call
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the buf is in a list but is not its head
 * - DOCA_ERROR_TOO_BIG: the buf already has 65535 references
 * - DOCA_ERROR_BAD_STATE: the buf has no references, because it was released
 */
DOCA_STABLE doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * Release a reference. The last release returns the buf to its inventory, and the buf no longer
 * counts in doca_mmap_get_num_bufs(). The last release of a list returns each element to its own
 * inventory, in constant time per element.
 *
 * @param buf the buf; the head of its list if it is in one. Invalid after the last release
 * @param refcount out: the number of references before the call; may be NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the buf is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the buf is in a list but is not its head
 * - DOCA_ERROR_BAD_STATE: the buf has no references, because it was released
 */
DOCA_STABLE DPUMAP_FREQUENT doca_error_t doca_buf_dec_refcount(struct doca_buf *buf,
							       uint16_t *refcount);

/**
 * Get the number of references.
 *
 * @param buf the buf
 * @param refcount out: the number; 1 for an element of a list other than its head
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount);

/**
 * Get the address of the first byte of the buf.
 *
 * @param buf the buf
 * @param head out: first byte
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);

/**
 * Get the length of the buf.
 *
 * @param buf the buf
 * @param len out: number of bytes, including headroom and tail
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

/**
 * Get the address of the data in the buf.
 *
 * @param buf the buf
 * @param data out: first byte of the data, even if the data is empty
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);

/**
 * Get the length of the data in the buf.
 *
 * @param buf the buf
 * @param data_len out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);

/**
 * Set the address and the length of the data.
 *
 * @param buf the buf
 * @param data first byte of the data
 * @param data_len number of bytes, may be 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the buf is NULL, or the data is not within the buf
 */
DOCA_STABLE doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);

/**
 * Set the length of the data. Its address does not change.
 *
 * @param buf the buf
 * @param data_len number of bytes, may be 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the buf is NULL, or the data would end outside the buf
 */
DOCA_STABLE doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len);

/**
 * Set the length of the data to 0. Its address does not change.
 *
 * @param buf the buf
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/**
 * Get the next element of a list.
 *
 * @param buf the buf
 * @param next_buf out: the next element, without a reference; NULL for the last element and for a
 *         buf that is not in a list
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf,
						   struct doca_buf **next_buf);

/**
 * Get the last element of a list. The time is proportional to the number of elements after the
 * buf.
 *
 * @param buf the buf, any element of the list
 * @param last_buf out: the last element, without a reference; the buf itself if it is the last
 *         element or is not in a list
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf,
						   struct doca_buf **last_buf);

/**
 * Check whether the buf is the head of its list.
 *
 * @param buf the buf
 * @param is_first out: 1 for the head and for a buf that is not in a list, otherwise 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first);

/**
 * Check whether the buf is the last element of its list.
 *
 * @param buf the buf
 * @param is_last out: 1 for the last element and for a buf that is not in a list, otherwise 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last);

/**
 * Check whether the buf is in a list.
 *
 * @param buf the buf
 * @param in_list out: 1 for each element of a list of two or more bufs, otherwise 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *in_list);

/**
 * Get the number of elements of a list. The time is proportional to this number.
 *
 * @param buf the head of the list, or a buf that is not in a list
 * @param num_elements out: the number; 1 for a buf that is not in a list
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_PERMITTED: the buf is in a list but is not its head
 * - DOCA_ERROR_BAD_STATE: the buf was released
 */
DOCA_STABLE doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements);

/**
 * Append a list to another list. The time is proportional to the number of elements of the first
 * list.
 *
 * @param list1 the head of a list, or a buf that is not in a list; its references become
 *         references to the whole list
 * @param list2 the head of another list, or a buf that is not in a list, with one reference. list1
 *         owns this reference after success; the caller still owns it after failure
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or both lists are the same list
 * - DOCA_ERROR_NOT_PERMITTED: an argument is not the head of its list, or list2 has more than one
 *   reference
 * - DOCA_ERROR_BAD_STATE: an argument was released
 */
DOCA_STABLE doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2);

/**
 * Append a list to another list whose last element the caller knows, in constant time.
 *
 * @param list1_head the head of a list, or a buf that is not in a list
 * @param list1_tail the last element of that list, which may be list1_head. The caller guarantees
 *         that it belongs to this list
 * @param list2 the head of another list, as in doca_buf_chain_list()
 * @return as doca_buf_chain_list(), and
 * - DOCA_ERROR_INVALID_VALUE: list1_tail is not the last element of a list
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head,
							struct doca_buf *list1_tail,
							struct doca_buf *list2);

/**
 * Split a list into two lists. The time is proportional to the number of elements before list2.
 *
 * @param list1 the head of the list; it remains the head of the elements before list2 and keeps
 *         its references
 * @param list2 an element other than the head; it becomes the head of the second list, with one
 *         reference that the caller owns
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or list2 is not a later element of list1
 * - DOCA_ERROR_NOT_PERMITTED: list1 is in a list but is not its head
 * - DOCA_ERROR_BAD_STATE: list1 was released
 */
DOCA_STABLE doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_H_ */
