/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bufs: a piece of the range of one map, and in it the part that holds data.
 *
 *	head            data              data + data_len        head + len
 *	 |--- headroom ---|------ data ------|-------- tail --------|
 *
 * A buf comes from an inventory (doca_buf_inventory.h) with one reference, which is the caller's;
 * the last doca_buf_dec_refcount() gives it back. It names memory and never touches it. A buf on an
 * imported map is named by addresses of the exporter.
 *
 * Bufs can be chained to lists. References to a list are references to its head: the other elements
 * have exactly 1, which the list owns. The elements may be of different maps and inventories.
 *
 * Thread safety of all functions: bufs of one inventory may be used by one thread at a time, lists
 * together with the inventories and the maps of all their elements; with
 * doca_mmap_enable_thread_safety() the map may be shared.
 *
 * Errors common to all functions: DOCA_ERROR_INVALID_VALUE for a NULL argument unless said
 * otherwise. On any error the bufs and the outputs keep their values. Semantics: DOCA 3.0,
 * doca_buf.h; what that leaves undefined is an error here as far as the library can see it. A buf
 * that was given back must not be used; the functions that would change it say
 * DOCA_ERROR_BAD_STATE for as long as no one got it again and its inventory lives.
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
 * Take a reference, to a list by its head.
 *
 * @param buf the buf; the head of its list if it is in one
 * @param refcount out: the number of references before the call
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_PERMITTED when the buf is in a list but not its head,
 *         DOCA_ERROR_TOO_BIG when it has 65535 references already,
 *         DOCA_ERROR_BAD_STATE when it has none: it was given back
 */
DOCA_STABLE doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * Drop a reference. The last one gives the buf back to its inventory and takes it off the count of
 * its map (doca_mmap_get_num_bufs()); the last one of a list, all elements, each to its own
 * inventory. Constant time for each element given back.
 *
 * @param buf the buf; the head of its list if it is in one. Gone after the last reference
 * @param refcount out: the number of references before the call; may be NULL
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL buf,
 *         DOCA_ERROR_NOT_PERMITTED when the buf is in a list but not its head,
 *         DOCA_ERROR_BAD_STATE when it has no reference: it was given back
 */
DOCA_STABLE doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * The number of references.
 *
 * @param buf the buf
 * @param refcount out: the number; 1 for an element of a list that is not its head
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount);

/**
 * Where the buf begins.
 *
 * @param buf the buf
 * @param head out: first byte
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);

/**
 * How long the buf is.
 *
 * @param buf the buf
 * @param len out: bytes, headroom and tail included
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

/**
 * Where the data of the buf begins.
 *
 * @param buf the buf
 * @param data out: first byte of the data, also when there is none yet
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);

/**
 * How much data the buf has.
 *
 * @param buf the buf
 * @param data_len out: bytes
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);

/**
 * Say where the data is.
 *
 * @param buf the buf
 * @param data first byte of the data
 * @param data_len bytes, may be 0
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL buf and for data that does not lie in the buf
 */
DOCA_STABLE doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);

/**
 * Say how much data there is; it begins where it did.
 *
 * @param buf the buf
 * @param data_len bytes, may be 0
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL buf and for data that does not end in the buf
 */
DOCA_STABLE doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len);

/**
 * Say that there is no data; it will begin where it did.
 *
 * @param buf the buf
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_STABLE doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/**
 * The next element of a list.
 *
 * @param buf the buf
 * @param next_buf out: the element after it; NULL for the last one and for a buf in no list. No
 *        reference is taken
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf,
						   struct doca_buf **next_buf);

/**
 * The last element of a list. Takes time in proportion to the elements after the buf.
 *
 * @param buf the buf, any element of the list
 * @param last_buf out: the last element, the buf itself if it is that or in no list. No reference
 *        is taken
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf,
						   struct doca_buf **last_buf);

/**
 * Is the buf the head of its list?
 *
 * @param buf the buf
 * @param is_first out: 1 for the head and for a buf in no list, else 0
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first);

/**
 * Is the buf the last of its list?
 *
 * @param buf the buf
 * @param is_last out: 1 for the last element and for a buf in no list, else 0
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last);

/**
 * Is the buf in a list?
 *
 * @param buf the buf
 * @param in_list out: 1 for each element of a list of two or more, else 0
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *in_list);

/**
 * The number of elements of a list. Takes time in proportion to it.
 *
 * @param buf the head of the list, or a buf in no list
 * @param num_elements out: the number, 1 for a buf in no list
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NOT_PERMITTED when the buf is in a list but not its head,
 *         DOCA_ERROR_BAD_STATE when it was given back
 */
DOCA_STABLE doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements);

/**
 * Append a list to another one. Takes time in proportion to the elements of the first.
 *
 * @param list1 the head of a list, or a buf in no list; its references become those of the whole
 * @param list2 the same, of another list, with one reference, which list1 owns from then on. On
 *        failure it stays the caller's
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument and for twice the same list,
 *         DOCA_ERROR_NOT_PERMITTED when one of them is not the head of its list or list2 has more
 * than one reference, DOCA_ERROR_BAD_STATE when one of them was given back
 */
DOCA_STABLE doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2);

/**
 * Append a list to another one whose last element the caller knows. Constant time.
 *
 * @param list1_head the head of a list, or a buf in no list
 * @param list1_tail the last element of that list, which may be list1_head. That it is of this list
 *        and of no other is the caller's promise
 * @param list2 the head of another list, as in doca_buf_chain_list()
 * @return as doca_buf_chain_list(), and DOCA_ERROR_INVALID_VALUE when list1_tail is not the last
 *         element of a list
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head,
							struct doca_buf *list1_tail,
							struct doca_buf *list2);

/**
 * Split a list in two. Takes time in proportion to the elements before list2.
 *
 * @param list1 the head of the list; stays the head of what comes before list2, with its references
 * @param list2 an element of it other than the head; afterwards the head of a list of its own with
 *        one reference, which is the caller's
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument and when list2 does not come later in list1,
 *         DOCA_ERROR_NOT_PERMITTED when list1 is in a list but not its head,
 *         DOCA_ERROR_BAD_STATE when list1 was given back
 */
DOCA_STABLE doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_H_ */
