/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/post.h"

#include <inttypes.h>

#include "core/mmap/resolve.h"
#include "core/pe/pe.h"
#include "log/log.h"

/* --- checking --------------------------------------------------------------------------------- */

static doca_error_t measure(const struct rdma_task *task, size_t *len)
{
	uint64_t max = task->connection->max_len;
	struct dpumap_buf_total from, to;

	if (!task->src || !task->dst)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "RDMA task: the %s buf is NULL",
				   task->src ? "destination" : "source");
	from = dpumap_buf_sum(task->src, dpumap_buf_data);
	to = dpumap_buf_sum(task->dst, dpumap_buf_room);
	if (!from.len || from.len > max)
		return dpumap_fail(DOCA_ERROR_IO_FAILED,
				   "RDMA task: invalid length of %zu bytes, must be 1 to %" PRIu64,
				   from.len, max);
	if (from.elements > DPUMAP_MAX_LIST_LEN || to.elements > DPUMAP_MAX_LIST_LEN)
		return dpumap_fail(DOCA_ERROR_IO_FAILED,
				   "RDMA task: lists of %" PRIu32 " and %" PRIu32
				   " bufs are too long, at most %d",
				   from.elements, to.elements, DPUMAP_MAX_LIST_LEN);
	if (from.len > to.len)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA task: %zu bytes of data do not fit into %zu bytes of room",
				   from.len, to.len);
	*len = from.len;
	return DOCA_SUCCESS;
}

static doca_error_t check_local(const struct rdma_task *task, const struct doca_buf *buf)
{
	const struct dpumap_region *region;
	doca_error_t result = DOCA_SUCCESS;

	for (; buf && result == DOCA_SUCCESS; buf = buf->next)
		result = dpumap_mmap_resolve(buf->mmap, task->base.ctx->dev, &region);
	return result;
}

static doca_error_t check_peer(const struct rdma_task *task, const struct doca_buf *buf)
{
	doca_error_t result = DOCA_SUCCESS;
	uint32_t key;

	for (; buf && result == DOCA_SUCCESS; buf = buf->next)
		result = dpumap_mmap_resolve_peer(buf->mmap, task->base.ctx->dev, &key);
	return result;
}

static doca_error_t check_connected(const struct doca_rdma_connection *connection)
{
	if (connection->state == RDMA_CONNECTED)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_NOT_CONNECTED,
			   "RDMA task: connection %p is not connected: call doca_rdma_connect()",
			   (const void *)connection);
}

doca_error_t dpumap_rdma_task_check(const struct doca_task *base)
{
	const struct rdma_task *task = (const struct rdma_task *)base;
	doca_error_t result;
	size_t len;

	result = check_connected(task->connection);
	if (result == DOCA_SUCCESS)
		result = measure(task, &len);
	if (result == DOCA_SUCCESS)
		result = check_peer(task, task->is_read ? task->src : task->dst);
	if (result == DOCA_SUCCESS)
		result = check_local(task, task->is_read ? task->dst : task->src);
	return result;
}

/* --- posting ---------------------------------------------------------------------------------- */

/* The longest piece that is in one source buf and one destination buf. */
static doca_error_t next_piece(struct rdma_task *task, struct dpumap_transfer *piece)
{
	const struct doca_dev *dev = task->base.ctx->dev;
	size_t from = dpumap_buf_left(&task->from, dpumap_buf_data);
	size_t to = dpumap_buf_left(&task->to, dpumap_buf_room);
	const struct dpumap_buf_place *here = task->is_read ? &task->to : &task->from;
	const struct dpumap_buf_place *there = task->is_read ? &task->from : &task->to;
	uintptr_t src = dpumap_buf_data_at(&task->from);
	uintptr_t dst = dpumap_buf_room_at(&task->to);
	doca_error_t result;

	piece->is_read = task->is_read;
	piece->len = from < to ? from : to;
	if (!piece->len)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA task: its bufs were changed after submission");
	piece->local_addr = task->is_read ? dst : src;
	piece->peer_addr = task->is_read ? src : dst;
	result = dpumap_mmap_resolve_peer(there->buf->mmap, dev, &piece->peer_key);
	if (result == DOCA_SUCCESS)
		result = dpumap_mmap_resolve(here->buf->mmap, dev, &piece->local);
	return result;
}

static void fail_task(struct rdma_task *task, doca_error_t result)
{
	if (task->base.status == DOCA_SUCCESS)
		task->base.status = result;
	task->unposted = 0;
}

/* False: the queue is full. */
static bool post(struct doca_rdma_connection *connection, struct rdma_task *task)
{
	struct dpumap_transfer piece;
	doca_error_t result;

	if (dpumap_queue_has_failed(connection->queue))
		fail_task(task, DOCA_ERROR_SHUTDOWN);
	while (task->unposted) {
		result = next_piece(task, &piece);
		if (result == DOCA_SUCCESS)
			result = dpumap_queue_transfer_later(connection->queue, &piece);
		if (result == DOCA_ERROR_AGAIN)
			return false;
		if (result != DOCA_SUCCESS) {
			fail_task(task, result);
			break;
		}
		task->pieces++;
		task->unposted -= piece.len;
		task->from.offset += piece.len;
		task->to.offset += piece.len;
	}
	return true;
}

/* If posting fails, the next poll fails the tasks. */
static void flush(const struct doca_rdma_connection *connection)
{
	if (dpumap_queue_flush(connection->queue) != DOCA_SUCCESS)
		dpumap_pe_wake(connection->rdma->ctx.pe);
}

static void post_waiting(struct doca_rdma_connection *connection)
{
	while (connection->waiting && post(connection, connection->waiting))
		connection->waiting = connection->waiting->next;
	flush(connection);
}

static bool is_finished(const struct rdma_task *task)
{
	return !task->pieces && !task->unposted;
}

static void append(struct doca_rdma_connection *connection, struct rdma_task *task)
{
	if (connection->first)
		connection->last->next = task;
	else
		connection->first = task;
	connection->last = task;
}

doca_error_t dpumap_rdma_task_submit(struct doca_task *base, uint32_t flags)
{
	struct rdma_task *task = (struct rdma_task *)base;
	struct doca_rdma_connection *connection = task->connection;

	task->next = NULL;
	task->pieces = 0;
	task->len = 0;
	base->status = check_connected(connection);
	if (base->status == DOCA_SUCCESS)
		base->status = measure(task, &task->len);
	task->unposted = task->len;
	task->from = (struct dpumap_buf_place){.buf = task->src};
	task->to = (struct dpumap_buf_place){.buf = task->dst};
	if (!connection->waiting && !post(connection, task))
		connection->waiting = task;
	if (flags & DOCA_TASK_SUBMIT_FLAG_FLUSH)
		flush(connection);
	append(connection, task);
	if (is_finished(task))
		dpumap_pe_wake(base->ctx->pe);
	return DOCA_SUCCESS;
}

void dpumap_rdma_flush(struct doca_ctx *ctx)
{
	for (struct doca_rdma_connection *c = dpumap_rdma_of(ctx)->connections; c; c = c->next)
		flush(c);
}

/* --- completing ------------------------------------------------------------------------------- */

/* The queue completes nothing any more: fail all tasks in flight. */
static void fail_all(struct doca_rdma_connection *connection, doca_error_t result)
{
	for (struct rdma_task *task = connection->first; task; task = task->next) {
		fail_task(task, result);
		task->pieces = 0;
	}
	connection->waiting = NULL;
}

/* Take one completion, of the first task; false if there is none. */
static bool poll_queue(struct doca_rdma_connection *connection)
{
	struct dpumap_dma_completion completion;
	doca_error_t result;
	uint32_t n;

	result = dpumap_queue_poll(connection->queue, &completion, 1, &n);
	if (result != DOCA_SUCCESS) {
		fail_all(connection, result);
		return true;
	}
	if (!n)
		return false;
	connection->first->pieces--;
	if (completion.status != DOCA_SUCCESS)
		fail_task(connection->first, completion.status);
	if (connection->waiting)
		post_waiting(connection);
	return true;
}

/* Take completions; true if the first task is finished. */
static bool is_ready(struct doca_rdma_connection *connection)
{
	struct rdma_task *task = connection->first;

	if (!task)
		return false;
	while (!is_finished(task))
		if (!poll_queue(connection))
			return false;
	return true;
}

static struct rdma_task *poll_connection(struct doca_rdma_connection *connection)
{
	struct rdma_task *task = connection->first;

	if (!is_ready(connection))
		return NULL;
	connection->first = task->next;
	return task;
}

static struct doca_rdma_connection *next_connection(const struct doca_rdma *rdma,
						    const struct doca_rdma_connection *connection)
{
	return connection->next ? connection->next : rdma->connections;
}

struct doca_task *dpumap_rdma_task_poll(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = dpumap_rdma_of(ctx);
	struct doca_rdma_connection *connection =
		rdma->next_polled ? rdma->next_polled : rdma->connections;
	struct rdma_task *task = NULL;

	for (uint16_t i = 0; i < rdma->num_connections && !task; i++) {
		task = poll_connection(connection);
		connection = next_connection(rdma, connection);
	}
	rdma->next_polled = connection;
	return task ? &task->base : NULL;
}

bool dpumap_rdma_is_ready(struct doca_ctx *ctx)
{
	struct doca_rdma_connection *c = dpumap_rdma_of(ctx)->connections;

	while (c && !is_ready(c))
		c = c->next;
	return c != NULL;
}
