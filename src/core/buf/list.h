/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lists of bufs as tasks use them: the data of a source, and the room after the data of a
 * destination.
 */
#ifndef DPUMAP_CORE_BUF_LIST_H
#define DPUMAP_CORE_BUF_LIST_H

#include "core/buf/buf.h"

#define DPUMAP_MAX_LIST_LEN 64

/* Free bytes after the data. */
static inline size_t dpumap_buf_room(const struct doca_buf *buf)
{
	return (size_t)(buf->head + buf->len - buf->data) - buf->data_len;
}

static inline size_t dpumap_buf_data(const struct doca_buf *buf)
{
	return buf->data_len;
}

typedef size_t dpumap_buf_part_fn(const struct doca_buf *buf);

struct dpumap_buf_total {
	size_t len;
	uint32_t elements;
};

static inline struct dpumap_buf_total dpumap_buf_sum(const struct doca_buf *buf,
						     dpumap_buf_part_fn *part)
{
	struct dpumap_buf_total total = {0};

	for (; buf; buf = buf->next, total.elements++)
		total.len += part(buf);
	return total;
}

/* The position of a task in a list. */
struct dpumap_buf_position {
	const struct doca_buf *buf;
	size_t offset; /* in the data or room of buf */
};

/* Skip used-up bufs and return what is left in the next; 0 if the user changed the bufs. */
static inline size_t dpumap_buf_left(struct dpumap_buf_position *position, dpumap_buf_part_fn *part)
{
	size_t len;

	while (position->buf->next && position->offset == part(position->buf)) {
		position->buf = position->buf->next;
		position->offset = 0;
	}
	len = part(position->buf);
	return len > position->offset ? len - position->offset : 0;
}

/* The address of a position in data, or in room. */
static inline uintptr_t dpumap_buf_data_at(const struct dpumap_buf_position *position)
{
	return (uintptr_t)position->buf->data + position->offset;
}

static inline uintptr_t dpumap_buf_room_at(const struct dpumap_buf_position *position)
{
	return (uintptr_t)position->buf->data + position->buf->data_len + position->offset;
}

/* Count written room as data. The caller has checked that there is enough room. */
static inline void dpumap_buf_grow(struct doca_buf *buf, size_t len)
{
	for (; len && buf->next; buf = buf->next) {
		size_t room = dpumap_buf_room(buf), part = room < len ? room : len;

		buf->data_len += part;
		len -= part;
	}
	if (len)
		buf->data_len += len;
}

#endif
