/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/buf/buf.h"

#include <doca_common_defines.h>

#include "core/mmap/bufs.h"
#include "log/log.h"

__attribute__((cold, noinline)) static doca_error_t refuse_head(const struct doca_buf *buf,
								const char *function)
{
	if (!buf)
		return dpumap_fail_null(function);
	if (!buf->refcount)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: buf %p is not in use", function,
				   (const void *)buf);
	return dpumap_fail(DOCA_ERROR_NOT_PERMITTED, "%s: buf %p is not the head of its list",
			   function, (const void *)buf);
}

doca_error_t dpumap_buf_check_head(const struct doca_buf *buf, const char *function)
{
	if (doca_likely(buf && buf->refcount && !buf->is_inner))
		return DOCA_SUCCESS;
	return refuse_head(buf, function);
}

/* The buf is not in a list, and its map does not count it. */
static inline void put(struct doca_buf *buf)
{
	buf->use = 0;
	*buf->inventory->top++ = buf;
}

void dpumap_buf_put_list(struct doca_buf *buf)
{
	struct doca_buf *next;

	for (; buf; buf = next) {
		next = buf->next;
		buf->next = NULL;
		if (buf->counted)
			buf->mmap->num_bufs--;
		put(buf);
	}
}

doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	doca_error_t result;

	if (!refcount)
		return dpumap_fail_null(__func__);
	result = dpumap_buf_check_head(buf, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (buf->refcount == UINT16_MAX)
		return dpumap_fail(DOCA_ERROR_TOO_BIG, "buf %p has %u references, the maximum",
				   (void *)buf, UINT16_MAX);
	*refcount = buf->refcount++;
	return DOCA_SUCCESS;
}

/* A buf that is not to be put, or with a list. */
__attribute__((noinline)) static doca_error_t dec_other(struct doca_buf *buf, uint16_t *refcount,
							const char *function)
{
	doca_error_t result = dpumap_buf_check_head(buf, function);

	if (result != DOCA_SUCCESS)
		return result;
	if (refcount)
		*refcount = buf->refcount;
	if (buf->refcount > 1)
		buf->refcount--;
	else
		dpumap_buf_put_list(buf);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	if (doca_unlikely(!buf))
		return dec_other(buf, refcount, __func__);
	if (doca_likely(buf->use == dpumap_buf_use(true)))
		buf->mmap->num_bufs--;
	else if (buf->use != dpumap_buf_use(false))
		return dec_other(buf, refcount, __func__);
	if (refcount)
		*refcount = 1;
	put(buf);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount)
{
	if (!buf || !refcount)
		return dpumap_fail_null(__func__);
	*refcount = buf->refcount;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head)
{
	if (!buf || !head)
		return dpumap_fail_null(__func__);
	*head = buf->head;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len)
{
	if (!buf || !len)
		return dpumap_fail_null(__func__);
	*len = buf->len;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data)
{
	if (!buf || !data)
		return dpumap_fail_null(__func__);
	*data = buf->data;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len)
{
	if (!buf || !data_len)
		return dpumap_fail_null(__func__);
	*data_len = buf->data_len;
	return DOCA_SUCCESS;
}

static doca_error_t set_data(struct doca_buf *buf, void *data, size_t data_len,
			     const char *function)
{
	if (doca_unlikely(
		    !dpumap_is_inside((uintptr_t)buf->head, buf->len, (uintptr_t)data, data_len)))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: %zu bytes at %p are not inside buf %p, %zu bytes at %p",
				   function, data_len, data, (void *)buf, buf->len,
				   (void *)buf->head);
	buf->data = data;
	buf->data_len = data_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len)
{
	if (!buf)
		return dpumap_fail_null(__func__);
	return set_data(buf, data, data_len, __func__);
}

doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len)
{
	if (!buf)
		return dpumap_fail_null(__func__);
	return set_data(buf, buf->data, data_len, __func__);
}

doca_error_t doca_buf_reset_data_len(struct doca_buf *buf)
{
	if (!buf)
		return dpumap_fail_null(__func__);
	buf->data_len = 0;
	return DOCA_SUCCESS;
}

static inline struct doca_buf *last_of(struct doca_buf *buf)
{
	while (buf->next)
		buf = buf->next;
	return buf;
}

doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf)
{
	if (!buf || !next_buf)
		return dpumap_fail_null(__func__);
	*next_buf = buf->next;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf)
{
	if (!buf || !last_buf)
		return dpumap_fail_null(__func__);
	*last_buf = last_of(buf);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first)
{
	if (!buf || !is_first)
		return dpumap_fail_null(__func__);
	*is_first = !buf->is_inner;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last)
{
	if (!buf || !is_last)
		return dpumap_fail_null(__func__);
	*is_last = !buf->next;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *in_list)
{
	if (!buf || !in_list)
		return dpumap_fail_null(__func__);
	*in_list = buf->is_inner || buf->next;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements)
{
	doca_error_t result;
	uint32_t n = 0;

	if (!num_elements)
		return dpumap_fail_null(__func__);
	result = dpumap_buf_check_head(buf, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	for (; buf; buf = buf->next)
		n++;
	*num_elements = n;
	return DOCA_SUCCESS;
}

static doca_error_t check_chain(const struct doca_buf *list1, const struct doca_buf *list2,
				const char *function)
{
	doca_error_t result = dpumap_buf_check_head(list1, function);

	if (result == DOCA_SUCCESS)
		result = dpumap_buf_check_head(list2, function);
	if (result != DOCA_SUCCESS)
		return result;
	if (list1 == list2)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: the list of buf %p cannot be appended to itself", function,
				   (const void *)list1);
	if (list2->refcount != 1)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "%s: buf %p has %u references; a list to append must have 1",
				   function, (const void *)list2, list2->refcount);
	return DOCA_SUCCESS;
}

static void append(struct doca_buf *tail, struct doca_buf *list)
{
	tail->next = list;
	tail->has_next = true;
	list->is_inner = true;
}

doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2)
{
	doca_error_t result = check_chain(list1, list2, __func__);

	if (result == DOCA_SUCCESS)
		append(last_of(list1), list2);
	return result;
}

doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail,
				      struct doca_buf *list2)
{
	doca_error_t result;

	if (!list1_tail)
		return dpumap_fail_null(__func__);
	result = check_chain(list1_head, list2, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (list1_tail->next || (list1_tail != list1_head && !list1_tail->is_inner))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "buf %p is not the last of the list of buf %p",
				   (void *)list1_tail, (void *)list1_head);
	append(list1_tail, list2);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2)
{
	struct doca_buf *before = list1;
	doca_error_t result;

	if (!list2)
		return dpumap_fail_null(__func__);
	result = dpumap_buf_check_head(list1, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	while (before && before->next != list2)
		before = before->next;
	if (!before)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "buf %p is not after the head in the list of buf %p",
				   (void *)list2, (void *)list1);
	before->next = NULL;
	before->has_next = false;
	list2->is_inner = false;
	return DOCA_SUCCESS;
}
