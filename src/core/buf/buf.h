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
	union {
		struct {
			uint16_t refcount; /* 0 while the buf is free */
			bool is_inner;	   /* in a list, not its head */
			bool has_next : 1;
			bool counted : 1; /* by mmap; if not, mmap may be destroyed before the buf */
		};
		uint32_t use; /* all four at once: see dpumap_buf_use() */
	};
} __attribute__((aligned(DPUMAP_BUF_SIZE)));

_Static_assert(sizeof(struct doca_buf) == DPUMAP_BUF_SIZE, "size of a buf");

/* The use of a buf with one reference that is not in a list. */
static inline uint32_t dpumap_buf_use(bool counted)
{
	const struct doca_buf buf = {.refcount = 1, .counted = counted};

	return buf.use;
}

struct doca_buf_inventory {
	struct doca_buf **top;	 /* of a stack: the buf that was put last is still in the cache */
	struct doca_buf **free;	 /* its bottom */
	struct doca_buf **least; /* where allocating ends: the bottom, or while stopped its limit */
	uint32_t num_elements;
	bool is_started;
	bool was_started;
	union doca_data user_data;
	struct buf_slab *slabs;
};

/* How many more bufs can be allocated. */
static inline uint32_t dpumap_inventory_num_free(const struct doca_buf_inventory *inventory)
{
	return (uint32_t)(inventory->top - inventory->free);
}

static inline uint32_t dpumap_inventory_num_used(const struct doca_buf_inventory *inventory)
{
	return inventory->num_elements - dpumap_inventory_num_free(inventory);
}

/* Log and return why buf is not in use or not the head of its list; else DOCA_SUCCESS. */
doca_error_t dpumap_buf_check_head(const struct doca_buf *buf, const char *function);

/* Return a buf and those after it in its list to their inventories. */
void dpumap_buf_put_list(struct doca_buf *buf);

#endif
