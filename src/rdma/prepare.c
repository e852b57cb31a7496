/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/prepare.h"

#include <inttypes.h>

#include "core/mmap/resolve.h"
#include "log/log.h"
#include "sync_event/remote_net.h"

#define COUNTER_LEN 8u /* of atomics and sync events */

__attribute__((cold, noinline)) static doca_error_t refuse_null(const char *buf)
{
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "RDMA task: the %s buf is NULL", buf);
}

__attribute__((cold, noinline)) static doca_error_t refuse_len(const struct rdma_task *task,
							       size_t min, size_t len)
{
	return dpumap_fail(DOCA_ERROR_IO_FAILED,
			   "RDMA task: invalid length of %zu bytes, must be %zu to %" PRIu32, len,
			   min, dpumap_rdma_of(task->base.ctx)->max_len);
}

__attribute__((cold, noinline)) static doca_error_t refuse_list(uint32_t len, uint32_t max)
{
	return dpumap_fail(DOCA_ERROR_IO_FAILED,
			   "RDMA task: a list of %" PRIu32 " bufs is too long, at most %" PRIu32,
			   len, max);
}

__attribute__((cold, noinline)) static doca_error_t refuse_room(size_t len, size_t room)
{
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "RDMA task: %zu bytes of data do not fit into %zu bytes of room", len,
			   room);
}

/* --- local bufs ------------------------------------------------------------------------------- */

/* buf may be NULL. */
static inline doca_error_t set_local(struct rdma_task *task, const struct doca_buf *buf,
				     dpumap_buf_part_fn *part, size_t *len)
{
	struct dpumap_buf_total total = dpumap_buf_sum(buf, part);
	uint32_t max = dpumap_rdma_max_list(task);

	if (doca_unlikely(total.elements > max))
		return refuse_list(total.elements, max);
	task->local = buf;
	*len = total.len;
	return DOCA_SUCCESS;
}

static inline doca_error_t set_len(struct rdma_task *task, size_t min, size_t len)
{
	if (doca_unlikely(len < min || len > dpumap_rdma_of(task->base.ctx)->max_len))
		return refuse_len(task, min, len);
	task->len = len;
	return DOCA_SUCCESS;
}

/* --- remote bufs: only the head counts -------------------------------------------------------- */

static inline doca_error_t set_peer(struct rdma_task *task, const struct doca_buf *buf,
				    const uint8_t *at)
{
	task->peer_addr = (uintptr_t)at;
	return dpumap_mmap_resolve_peer(buf->mmap, task->base.ctx->dev, &task->peer_key);
}

/* Nothing is read or written. */
static doca_error_t set_nothing(struct rdma_task *task)
{
	task->local = NULL;
	task->len = 0;
	task->peer_key = 0;
	task->peer_addr = 0;
	return DOCA_SUCCESS;
}

/* --- kinds ------------------------------------------------------------------------------------ */

static doca_error_t prepare_receive(struct rdma_task *task)
{
	size_t len = 0;
	doca_error_t result = set_local(task, task->dst, dpumap_buf_room, &len);

	return result == DOCA_SUCCESS ? set_len(task, 0, len) : result;
}

static doca_error_t prepare_send(struct rdma_task *task)
{
	size_t len = 0;
	doca_error_t result = set_local(task, task->src, dpumap_buf_data, &len);

	return result == DOCA_SUCCESS ? set_len(task, 0, len) : result;
}

static inline doca_error_t check_both(const struct rdma_task *task)
{
	if (doca_likely(task->src && task->dst))
		return DOCA_SUCCESS;
	return refuse_null(task->src ? "destination" : "source");
}

static doca_error_t prepare_read(struct rdma_task *task)
{
	doca_error_t result;
	size_t len, room = 0;

	if (!task->src && !task->dst)
		return set_nothing(task);
	result = check_both(task);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	len = dpumap_buf_data(task->src);
	result = set_len(task, 1, len);
	if (doca_likely(result == DOCA_SUCCESS))
		result = set_local(task, task->dst, dpumap_buf_room, &room);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	if (doca_unlikely(len > room))
		return refuse_room(len, room);
	return set_peer(task, task->src, task->src->data);
}

static doca_error_t prepare_write(struct rdma_task *task)
{
	doca_error_t result;
	size_t len = 0;

	if (!task->src && !task->dst)
		return set_nothing(task);
	result = check_both(task);
	if (doca_likely(result == DOCA_SUCCESS))
		result = set_local(task, task->src, dpumap_buf_data, &len);
	if (doca_likely(result == DOCA_SUCCESS))
		result = set_len(task, 1, len);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	if (doca_unlikely(len > dpumap_buf_room(task->dst)))
		return refuse_room(len, dpumap_buf_room(task->dst));
	return set_peer(task, task->dst, task->dst->data + task->dst->data_len);
}

/* The old value arrives in the room of the head of the result buf. */
static doca_error_t set_result(struct rdma_task *task, const struct doca_buf *buf)
{
	if (!buf)
		return refuse_null("result");
	if (dpumap_buf_room(buf) < COUNTER_LEN)
		return refuse_room(COUNTER_LEN, dpumap_buf_room(buf));
	task->local = buf;
	task->len = COUNTER_LEN;
	return DOCA_SUCCESS;
}

static doca_error_t prepare_atomic(struct rdma_task *task)
{
	const struct doca_buf *dst = task->dst;
	doca_error_t result = set_result(task, task->result);
	size_t left;

	if (result != DOCA_SUCCESS)
		return result;
	if (!dst)
		return refuse_null("destination");
	left = (size_t)(dst->head + dst->len - dst->data);
	if (left < COUNTER_LEN)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA task: the destination buf has %zu bytes from its data on, "
				   "an atomic operation needs %u",
				   left, COUNTER_LEN);
	if ((uintptr_t)dst->data % COUNTER_LEN)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA task: %p is not a multiple of %u, as the address of an "
				   "atomic operation must be",
				   (const void *)dst->data, COUNTER_LEN);
	return set_peer(task, dst, dst->data);
}

static doca_error_t set_event(struct rdma_task *task)
{
	struct dpumap_remote_counter counter;
	doca_error_t result;

	if (!task->event)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "RDMA task: the sync event is NULL");
	result = dpumap_sync_event_remote_net_find(task->event, task->base.ctx->dev, &counter);
	if (result != DOCA_SUCCESS)
		return result;
	task->peer_key = counter.key;
	task->peer_addr = counter.addr;
	return DOCA_SUCCESS;
}

static doca_error_t prepare_event_get(struct rdma_task *task)
{
	doca_error_t result;
	size_t room = 0;

	if (!task->dst)
		return refuse_null("destination");
	result = set_local(task, task->dst, dpumap_buf_room, &room);
	if (result != DOCA_SUCCESS)
		return result;
	if (room < COUNTER_LEN)
		return refuse_room(COUNTER_LEN, room);
	task->len = COUNTER_LEN;
	return set_event(task);
}

static doca_error_t prepare_event_set(struct rdma_task *task)
{
	doca_error_t result;
	size_t len = 0;

	if (!task->src)
		return refuse_null("source");
	result = set_local(task, task->src, dpumap_buf_data, &len);
	if (result != DOCA_SUCCESS)
		return result;
	if (len != COUNTER_LEN)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA task: the value of a sync event has %u bytes, not %zu",
				   COUNTER_LEN, len);
	task->len = COUNTER_LEN;
	return set_event(task);
}

static doca_error_t prepare_event_add(struct rdma_task *task)
{
	doca_error_t result = set_result(task, task->result);

	return result == DOCA_SUCCESS ? set_event(task) : result;
}

static inline doca_error_t check_connection(const struct rdma_task *task)
{
	const struct doca_rdma_connection *connection = task->connection;

	if (doca_likely(connection && connection->rdma == dpumap_rdma_of(task->base.ctx) &&
			connection->state == RDMA_CONNECTED))
		return DOCA_SUCCESS;
	if (!connection || connection->rdma != dpumap_rdma_of(task->base.ctx))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA task: connection %p does not belong to RDMA context %p",
				   (const void *)connection, (const void *)task->base.ctx);
	return dpumap_fail(DOCA_ERROR_NOT_CONNECTED,
			   "RDMA task: connection %p is not connected: call doca_rdma_connect()",
			   (const void *)connection);
}

doca_error_t dpumap_rdma_prepare(struct rdma_task *task)
{
	doca_error_t result;

	if (task->kind == RDMA_RECEIVE)
		return prepare_receive(task);
	result = check_connection(task);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	switch (task->kind) {
	case RDMA_SEND:
	case RDMA_SEND_IMM:
		return prepare_send(task);
	case RDMA_READ:
		return prepare_read(task);
	case RDMA_WRITE:
	case RDMA_WRITE_IMM:
		return prepare_write(task);
	case RDMA_EVENT_GET:
		return prepare_event_get(task);
	case RDMA_EVENT_SET:
		return prepare_event_set(task);
	case RDMA_EVENT_ADD:
		return prepare_event_add(task);
	default:
		return prepare_atomic(task);
	}
}

doca_error_t dpumap_rdma_task_check(const struct doca_task *base)
{
	struct rdma_task task = *(const struct rdma_task *)base;
	const struct dpumap_region *region;
	doca_error_t result = dpumap_rdma_prepare(&task);

	if (result != DOCA_SUCCESS)
		return result;
	for (const struct doca_buf *buf = task.local; buf && result == DOCA_SUCCESS;
	     buf = buf->next)
		result = dpumap_mmap_resolve(buf->mmap, base->ctx->dev, &region);
	return result;
}
