/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Allocating a buf from an inventory, or from the inventory of a pool. */
#ifndef DPUMAP_CORE_BUF_ALLOCATE_H
#define DPUMAP_CORE_BUF_ALLOCATE_H

#include "core/buf/buf.h"
#include "core/mmap/bufs.h"

/* The buf to allocate next. The inventory has one. */
static inline struct doca_buf *dpumap_buf_next_free(const struct doca_buf_inventory *inventory)
{
	return inventory->top[-1];
}

/* Allocate the next free buf, which gets these bytes. All of it is checked. */
static inline struct doca_buf *dpumap_buf_allocate(struct doca_buf_inventory *inventory,
						   struct doca_mmap *mmap, void *head, size_t len,
						   void *data, size_t data_len)
{
	struct doca_buf *buf = dpumap_buf_next_free(inventory);

	inventory->top--;
	buf->head = head;
	buf->len = len;
	buf->data = data;
	buf->data_len = data_len;
	buf->mmap = mmap;
	if (doca_unlikely(!dpumap_mmap_counts_bufs(mmap))) {
		buf->use = dpumap_buf_use(false);
		return buf;
	}
	buf->use = dpumap_buf_use(true);
	mmap->num_bufs++;
	return buf;
}

#endif
