/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A pool is an inventory whose n-th buf is always over the n-th piece of a map. */
#include <inttypes.h>
#include <stdlib.h>

#include <doca_buf_pool.h>
#include <doca_common_defines.h>

#include "core/buf/allocate.h"
#include "log/log.h"

struct doca_buf_pool {
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *bufs; /* those of the inventory, which never grows */
	size_t element_size;
	size_t alignment;
	size_t distance;      /* between two pieces; this and the next while the pool is started */
	uint64_t first_piece; /* address */
	bool is_started;
	union doca_data user_data;
};

static doca_error_t check_numbers(size_t num_elements, size_t element_size)
{
	if (!num_elements || num_elements > UINT32_MAX)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "a buf pool must have 1 to %u elements, not %zu", UINT32_MAX,
				   num_elements);
	if (!element_size)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "the elements of a buf pool must have at least 1 byte");
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size,
				  const struct doca_mmap *mmap, struct doca_buf_pool **buf_pool)
{
	struct doca_buf_pool *created;
	doca_error_t result;

	if (!mmap || !buf_pool)
		return dpumap_fail_null(__func__);
	result = check_numbers(num_elements, element_size);
	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a buf pool");
	result = doca_buf_inventory_create(num_elements, &created->inventory);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	created->mmap = (struct doca_mmap *)mmap; /* it counts its bufs */
	created->bufs = dpumap_buf_next_free(created->inventory);
	created->element_size = element_size;
	created->alignment = 1;
	*buf_pool = created;
	return DOCA_SUCCESS;
}

static doca_error_t check_unused(const struct doca_buf_pool *pool, const char *function)
{
	uint32_t num_used = dpumap_inventory_num_used(pool->inventory);

	if (!num_used)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_IN_USE,
			   "%s: buf pool %p: %" PRIu32 " of its %" PRIu32
			   " bufs are allocated; release them first",
			   function, (const void *)pool, num_used, pool->inventory->num_elements);
}

doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool)
{
	doca_error_t result;

	if (!buf_pool)
		return dpumap_fail_null(__func__);
	result = check_unused(buf_pool, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	(void)doca_buf_inventory_destroy(buf_pool->inventory);
	free(buf_pool);
	return DOCA_SUCCESS;
}

/* Round up to a multiple of a power of two; false if that overflows. */
static bool align(uint64_t *number, size_t alignment)
{
	uint64_t mask = (uint64_t)alignment - 1;

	if (__builtin_add_overflow(*number, mask, number))
		return false;
	*number &= ~mask;
	return true;
}

/* Place the pieces; false if they are not all within the range. */
static bool place_pieces(struct doca_buf_pool *pool, const struct dpumap_range *range)
{
	uint64_t first = range->addr, distance = pool->element_size, last;
	uint32_t n = pool->inventory->num_elements;

	if (!align(&first, pool->alignment) || !align(&distance, pool->alignment) ||
	    __builtin_mul_overflow(distance, (uint64_t)n - 1, &last) ||
	    __builtin_add_overflow(last, first - range->addr, &last) || last > range->len ||
	    pool->element_size > range->len - last)
		return false;
	pool->first_piece = first;
	pool->distance = distance;
	return true;
}

doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool)
{
	const struct dpumap_range *range;

	if (!buf_pool)
		return dpumap_fail_null(__func__);
	if (buf_pool->is_started)
		return DOCA_SUCCESS;
	if (!dpumap_mmap_is_usable(buf_pool->mmap))
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "buf pool %p: map %p is not started: call doca_mmap_start()",
				   (void *)buf_pool, (void *)buf_pool->mmap);
	range = &buf_pool->mmap->range;
	if (!place_pieces(buf_pool, range))
		return dpumap_fail(DOCA_ERROR_INITIALIZATION,
				   "buf pool %p: %" PRIu32 " elements of %zu bytes, aligned to "
				   "%zu, do not fit into map %p, %" PRIu64 " bytes at 0x%" PRIx64,
				   (void *)buf_pool, buf_pool->inventory->num_elements,
				   buf_pool->element_size, buf_pool->alignment,
				   (void *)buf_pool->mmap, range->len, range->addr);
	buf_pool->is_started = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool)
{
	doca_error_t result;

	if (!buf_pool)
		return dpumap_fail_null(__func__);
	result = check_unused(buf_pool, __func__);
	if (result == DOCA_SUCCESS)
		buf_pool->is_started = false;
	return result;
}

__attribute__((cold, noinline)) static doca_error_t refuse_alloc(const struct doca_buf_pool *pool,
								 struct doca_buf **buf)
{
	static const char *const function = "doca_buf_pool_buf_alloc";

	if (!pool || !buf)
		return dpumap_fail_null(function);
	if (!pool->is_started)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s: buf pool %p is not started: call doca_buf_pool_start()",
				   function, (const void *)pool);
	return dpumap_fail_info(DOCA_ERROR_EMPTY, "buf pool %p: all %" PRIu32 " bufs are allocated",
				(const void *)pool, pool->inventory->num_elements);
}

doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf)
{
	void *piece;
	size_t n;

	if (doca_unlikely(!buf_pool || !buf || !buf_pool->is_started ||
			  !dpumap_inventory_num_free(buf_pool->inventory)))
		return refuse_alloc(buf_pool, buf);
	n = (size_t)(dpumap_buf_next_free(buf_pool->inventory) - buf_pool->bufs);
	piece = (void *)(uintptr_t)(buf_pool->first_piece + n * buf_pool->distance);
	if (!dpumap_mmap_buf_fits(buf_pool->mmap, (uintptr_t)piece, buf_pool->element_size))
		return dpumap_mmap_refuse_buf(buf_pool->mmap, (uintptr_t)piece,
					      buf_pool->element_size);
	*buf = dpumap_buf_allocate(buf_pool->inventory, buf_pool->mmap, piece,
				   buf_pool->element_size, piece, 0);
	return DOCA_SUCCESS;
}

static doca_error_t check_stopped(const struct doca_buf_pool *pool, const char *function)
{
	if (!pool)
		return dpumap_fail_null(function);
	if (pool->is_started)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s: buf pool %p is started: call doca_buf_pool_stop() first",
				   function, (const void *)pool);
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool, union doca_data user_data)
{
	doca_error_t result = check_stopped(buf_pool, __func__);

	if (result == DOCA_SUCCESS)
		buf_pool->user_data = user_data;
	return result;
}

doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool,
					 union doca_data *user_data)
{
	if (!buf_pool || !user_data)
		return dpumap_fail_null(__func__);
	*user_data = buf_pool->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool,
						 size_t element_alignment)
{
	doca_error_t result = check_stopped(buf_pool, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (!element_alignment || (element_alignment & (element_alignment - 1)))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "buf pool %p: the alignment must be a power of two, not %zu",
				   (void *)buf_pool, element_alignment);
	buf_pool->alignment = element_alignment;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool,
						 size_t *element_alignment)
{
	if (!buf_pool || !element_alignment)
		return dpumap_fail_null(__func__);
	*element_alignment = buf_pool->alignment;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool,
					    uint32_t *num_elements)
{
	if (!buf_pool || !num_elements)
		return dpumap_fail_null(__func__);
	*num_elements = buf_pool->inventory->num_elements;
	return DOCA_SUCCESS;
}

doca_error_t doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool,
						 uint32_t *num_free_elements)
{
	if (!buf_pool || !num_free_elements)
		return dpumap_fail_null(__func__);
	*num_free_elements = dpumap_inventory_num_free(buf_pool->inventory);
	return DOCA_SUCCESS;
}
