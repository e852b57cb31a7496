/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/buf/buf.h"

#include <stdlib.h>

#include <doca_common_defines.h>

#include "core/buf/allocate.h"
#include "log/log.h"

/* The bufs of one allocation, which never move: programs have pointers to them. */
struct buf_slab {
	struct buf_slab *next;
	struct doca_buf bufs[];
};

static struct buf_slab *create_slab(struct doca_buf_inventory *inventory, size_t n)
{
	struct buf_slab *slab;

	if (n > (SIZE_MAX - sizeof(*slab)) / sizeof(slab->bufs[0]))
		return NULL;
	slab = aligned_alloc(_Alignof(struct buf_slab), sizeof(*slab) + n * sizeof(slab->bufs[0]));
	if (!slab)
		return NULL;
	for (size_t i = 0; i < n; i++)
		slab->bufs[i] = (struct doca_buf){.inventory = inventory};
	return slab;
}

static void set_least(struct doca_buf_inventory *inventory)
{
	inventory->least = inventory->free;
	if (!inventory->is_started)
		inventory->least += inventory->num_elements;
}

static doca_error_t grow(struct doca_buf_inventory *inventory, size_t n)
{
	size_t total = inventory->num_elements + n;
	uint32_t num_free = dpumap_inventory_num_free(inventory);
	struct buf_slab *slab = create_slab(inventory, n);
	struct doca_buf **stack = NULL;

	if (slab)
		stack = reallocarray(inventory->free, total, sizeof(struct doca_buf *));
	if (!stack) {
		free(slab);
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for %zu bufs", n);
	}
	inventory->top = stack + num_free;
	for (size_t i = n; i > 0; i--)
		*inventory->top++ = &slab->bufs[i - 1];
	inventory->free = stack;
	inventory->num_elements = (uint32_t)total;
	set_least(inventory);
	slab->next = inventory->slabs;
	inventory->slabs = slab;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_create(size_t num_elements,
				       struct doca_buf_inventory **buf_inventory)
{
	struct doca_buf_inventory *created;
	doca_error_t result;

	if (!buf_inventory)
		return dpumap_fail_null(__func__);
	if (!num_elements || num_elements > UINT32_MAX)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "an inventory must have 1 to %u bufs, not %zu", UINT32_MAX,
				   num_elements);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for an inventory");
	result = grow(created, num_elements);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	*buf_inventory = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory)
{
	struct buf_slab *next;
	uint32_t num_used;

	if (!inventory)
		return dpumap_fail_null(__func__);
	num_used = dpumap_inventory_num_used(inventory);
	if (num_used)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "inventory %p: %u of its %u bufs are in use; release them "
				   "(doca_buf_dec_refcount) first",
				   (void *)inventory, num_used, inventory->num_elements);
	for (struct buf_slab *slab = inventory->slabs; slab; slab = next) {
		next = slab->next;
		free(slab);
	}
	free(inventory->free);
	free(inventory);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory)
{
	if (!inventory)
		return dpumap_fail_null(__func__);
	inventory->is_started = true;
	set_least(inventory);
	inventory->was_started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory)
{
	if (!inventory)
		return dpumap_fail_null(__func__);
	inventory->is_started = false;
	set_least(inventory);
	return DOCA_SUCCESS;
}

static doca_error_t refuse_stopped(const struct doca_buf_inventory *inventory, const char *function)
{
	return dpumap_fail(DOCA_ERROR_BAD_STATE,
			   "%s: inventory %p is not started: call doca_buf_inventory_start()",
			   function, (const void *)inventory);
}

doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory, uint32_t num_elements)
{
	if (!inventory)
		return dpumap_fail_null(__func__);
	if (!num_elements || num_elements > UINT32_MAX - inventory->num_elements)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "inventory %p has %u of at most %u bufs: cannot add %u",
				   (void *)inventory, inventory->num_elements, UINT32_MAX,
				   num_elements);
	if (!inventory->is_started)
		return refuse_stopped(inventory, __func__);
	return grow(inventory, num_elements);
}

/* An error of the map goes first: waiting for a free buf would not help. */
static doca_error_t refuse_map_or_empty(const struct doca_buf_inventory *inventory,
					const struct doca_mmap *mmap, const void *addr, size_t len)
{
	if (dpumap_inventory_num_free(inventory) ||
	    !dpumap_mmap_buf_fits(mmap, (uintptr_t)addr, len))
		return dpumap_mmap_refuse_buf(mmap, (uintptr_t)addr, len);
	return dpumap_fail_info(DOCA_ERROR_NO_MEMORY, "inventory %p: all %u bufs are in use",
				(const void *)inventory, inventory->num_elements);
}

static doca_error_t refuse_data(const void *addr, size_t len, const void *data, size_t data_len)
{
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "buf of %zu bytes at %p: its data, %zu bytes at %p, is not inside", len,
			   addr, data_len, data);
}

static inline bool is_inside(const void *addr, size_t len, const void *data, size_t data_len)
{
	return dpumap_is_inside((uintptr_t)addr, len, (uintptr_t)data, data_len);
}

__attribute__((cold, noinline)) static doca_error_t
refuse_get(struct doca_buf_inventory *inventory, struct doca_mmap *mmap, void *addr, size_t len,
	   void *data, size_t data_len, struct doca_buf **buf)
{
	static const char *const function = "doca_buf_inventory_buf_get_by_args";

	if (!inventory || !mmap || !buf)
		return dpumap_fail_null(function);
	if (!is_inside(addr, len, data, data_len))
		return refuse_data(addr, len, data, data_len);
	if (!inventory->is_started)
		return refuse_stopped(inventory, function);
	return refuse_map_or_empty(inventory, mmap, addr, len);
}

doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory,
						struct doca_mmap *mmap, void *addr, size_t len,
						void *data, size_t data_len, struct doca_buf **buf)
{
	if (doca_unlikely(!mmap) || !dpumap_mmap_buf_fits(mmap, (uintptr_t)addr, len) ||
	    !is_inside(addr, len, data, data_len) || doca_unlikely(!inventory) ||
	    doca_unlikely(inventory->top <= inventory->least) || doca_unlikely(!buf))
		return refuse_get(inventory, mmap, addr, len, data, data_len, buf);
	*buf = dpumap_buf_allocate(inventory, mmap, addr, len, data, data_len);
	return DOCA_SUCCESS;
}

static bool can_copy(const struct doca_buf_inventory *inventory, const struct doca_buf *src)
{
	return dpumap_inventory_num_free(inventory) &&
	       dpumap_mmap_buf_fits(src->mmap, (uintptr_t)src->head, src->len);
}

static struct doca_buf *copy(struct doca_buf_inventory *inventory, const struct doca_buf *src)
{
	struct doca_buf *buf = dpumap_buf_allocate(inventory, src->mmap, src->head, src->len,
						   src->data, src->data_len);

	buf->is_inner = src->is_inner;
	buf->has_next = src->has_next;
	return buf;
}

doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory,
					const struct doca_buf *src_buf, struct doca_buf **dst_buf)
{
	struct doca_buf *first = NULL, **link = &first;
	doca_error_t result;

	if (!inventory || !src_buf || !dst_buf)
		return dpumap_fail_null(__func__);
	if (!inventory->is_started)
		return refuse_stopped(inventory, __func__);
	result = dpumap_buf_check_head(src_buf, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	for (; src_buf; src_buf = src_buf->next) {
		if (!can_copy(inventory, src_buf)) {
			result = refuse_map_or_empty(inventory, src_buf->mmap, src_buf->head,
						     src_buf->len);
			dpumap_buf_put_list(first);
			return result;
		}
		*link = copy(inventory, src_buf);
		link = &(*link)->next;
	}
	*dst_buf = first;
	return DOCA_SUCCESS;
}

__attribute__((cold, noinline)) static doca_error_t
refuse_reuse(const struct doca_buf *buf, void *addr, size_t len, void *data, size_t data_len)
{
	static const char *const function = "doca_buf_inventory_buf_reuse_by_args";

	if (!buf)
		return dpumap_fail_null(function);
	if (!buf->refcount)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s: buf %p is not in use: allocate it again", function,
				   (const void *)buf);
	return refuse_data(addr, len, data, data_len);
}

doca_error_t doca_buf_inventory_buf_reuse_by_args(struct doca_buf *buf, void *addr, size_t len,
						  void *data, size_t data_len)
{
	if (doca_unlikely(!buf || !buf->refcount) || !is_inside(addr, len, data, data_len))
		return refuse_reuse(buf, addr, len, data, data_len);
	if (!dpumap_mmap_buf_fits(buf->mmap, (uintptr_t)addr, len))
		return dpumap_mmap_refuse_buf(buf->mmap, (uintptr_t)addr, len);
	buf->head = addr;
	buf->len = len;
	buf->data = data;
	buf->data_len = data_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory,
					      union doca_data user_data)
{
	if (!inventory)
		return dpumap_fail_null(__func__);
	if (inventory->was_started)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: inventory %p was started already",
				   __func__, (void *)inventory);
	inventory->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory,
					      union doca_data *user_data)
{
	if (!inventory || !user_data)
		return dpumap_fail_null(__func__);
	*user_data = inventory->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory,
						 uint32_t *num_of_elements)
{
	if (!inventory || !num_of_elements)
		return dpumap_fail_null(__func__);
	*num_of_elements = inventory->num_elements;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inventory,
						      uint32_t *num_of_free_elements)
{
	if (!inventory || !num_of_free_elements)
		return dpumap_fail_null(__func__);
	*num_of_free_elements = dpumap_inventory_num_free(inventory);
	return DOCA_SUCCESS;
}
