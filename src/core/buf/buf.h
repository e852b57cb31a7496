/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The buffer object. inventory.c allocates bufs; buf.c reads them, counts references to them,
 * chains them and frees them.
 */
#ifndef DPUMAP_CORE_BUF_BUF_H
#define DPUMAP_CORE_BUF_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>

#define DPUMAP_BUF_SIZE 64 /* one cache line: getting and putting a buf touch no other */

struct buf_slab;

struct doca_buf {
	uint8_t *head;
	size_t len;
	uint8_t *data;
	size_t data_len;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *next; /* of its list */
	uint16_t refcount;     /* 0 while the buf is free */
	bool is_inner;	       /* in a list, not its head */
	bool counted;	       /* by mmap; if not, mmap may be destroyed before the buf */
} __attribute__((aligned(DPUMAP_BUF_SIZE)));

_Static_assert(sizeof(struct doca_buf) == DPUMAP_BUF_SIZE, "size of a buf");

struct doca_buf_inventory {
	struct doca_buf **free; /* a stack: the buf that was put last is still in the cache */
	uint32_t num_free;
	uint32_t num_elements;
	bool is_started;
	bool was_started;
	union doca_data user_data;
	struct buf_slab *slabs;
};

/* Data below head wraps to an offset beyond len. */
static inline bool dpumap_buf_is_inside(const void *head, size_t len, const void *data,
					size_t data_len)
{
	size_t offset = (uintptr_t)data - (uintptr_t)head;

	return offset <= len && data_len <= len - offset;
}

/* Log and return why buf is not in use or not the head of its list; else DOCA_SUCCESS. */
doca_error_t dpumap_buf_check_head(const struct doca_buf *buf, const char *function);

/* Return a buf and those after it in its list to their inventories. */
void dpumap_buf_put_list(struct doca_buf *buf);

#endif
