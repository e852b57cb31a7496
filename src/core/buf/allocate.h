/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Allocating a buf from an inventory, or from the inventory of a pool. */
#ifndef DPUMAP_CORE_BUF_ALLOCATE_H
#define DPUMAP_CORE_BUF_ALLOCATE_H

#include "core/buf/buf.h"
#include "core/mmap/bufs.h"

/* The buf to allocate next. The inventory has one. */
static inline struct doca_buf *dpumap_buf_next_free(const struct doca_buf_inventory *inventory)
{
	return inventory->free[inventory->num_free - 1];
}

/* Allocate the next free buf, whose bytes are set. */
static inline doca_error_t dpumap_buf_allocate(struct doca_buf_inventory *inventory,
					       struct doca_mmap *mmap, struct doca_buf **buf)
{
	struct doca_buf *next = dpumap_buf_next_free(inventory);
	doca_error_t result;

	result = dpumap_mmap_buf_take(mmap, (uintptr_t)next->head, next->len);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	inventory->num_free--;
	next->mmap = mmap;
	next->refcount = 1;
	next->counted = dpumap_mmap_counts_bufs(mmap);
	*buf = next;
	return DOCA_SUCCESS;
}

#endif
