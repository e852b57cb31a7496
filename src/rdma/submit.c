/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/task.h"

#include "core/mmap/resolve.h"
#include "core/pe/pe.h"
#include "device/queue/rdma_fast.h"
#include "log/log.h"
#include "rdma/prepare.h"
#include "rdma/task_list.h"

/* --- posting ---------------------------------------------------------------------------------- */

/* The local pieces of a task: parts of its bufs. */
static inline doca_error_t collect(const struct rdma_task *task, dpumap_buf_part_fn *part,
				   struct dpumap_rdma_piece *pieces, uint32_t *num)
{
	bool is_data = part == dpumap_buf_data;
	const struct dpumap_region *region = NULL;
	const struct doca_buf *buf = task->local;
	uint32_t n = 0, max = dpumap_rdma_max_list(task);
	size_t left = task->len;
	doca_error_t result;

	for (; left && buf && n < max; buf = buf->next) {
		size_t len = part(buf);

		if (len > left)
			len = left;
		if (doca_unlikely(!len))
			continue;
		result = dpumap_mmap_resolve(buf->mmap, task->base.ctx->dev, &region);
		if (doca_unlikely(result != DOCA_SUCCESS))
			return result;
		pieces[n++] = dpumap_rdma_piece(
			region, (uintptr_t)(is_data ? buf->data : buf->data + buf->data_len), len);
		left -= len;
	}
	if (doca_unlikely(left))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA task: its bufs were changed after submission");
	*num = n;
	return DOCA_SUCCESS;
}

static doca_error_t local_pieces(const struct rdma_task *task, struct dpumap_rdma_piece *pieces,
				 uint32_t *num)
{
	return dpumap_rdma_sends_data(task->kind) ? collect(task, dpumap_buf_data, pieces, num)
						  : collect(task, dpumap_buf_room, pieces, num);
}

static const enum dpumap_rdma_op ops[RDMA_NUM_KINDS] = {
	[RDMA_SEND] = DPUMAP_RDMA_SEND,		  [RDMA_SEND_IMM] = DPUMAP_RDMA_SEND_IMM,
	[RDMA_READ] = DPUMAP_RDMA_READ,		  [RDMA_WRITE] = DPUMAP_RDMA_WRITE,
	[RDMA_WRITE_IMM] = DPUMAP_RDMA_WRITE_IMM, [RDMA_CMP_SWP] = DPUMAP_RDMA_CMP_SWP,
	[RDMA_FETCH_ADD] = DPUMAP_RDMA_FETCH_ADD, [RDMA_EVENT_GET] = DPUMAP_RDMA_READ,
	[RDMA_EVENT_SET] = DPUMAP_RDMA_WRITE,	  [RDMA_EVENT_ADD] = DPUMAP_RDMA_FETCH_ADD,
};

/* A task is one work request. */
static inline doca_error_t post_request(const struct doca_rdma_connection *connection,
					const struct rdma_task *task)
{
	struct dpumap_rdma_piece pieces[DPUMAP_MAX_LIST_LEN];
	struct dpumap_rdma_request request;
	doca_error_t result = local_pieces(task, pieces, &request.num_pieces);

	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	if (doca_unlikely(!connection->qp))
		return DOCA_ERROR_SHUTDOWN;
	request.op = ops[task->kind];
	request.pieces = pieces;
	request.imm = task->imm;
	request.peer_key = task->peer_key;
	request.peer_addr = task->peer_addr;
	request.operand = task->operand;
	request.swap = task->swap;
	return dpumap_rdma_qp_post(connection->qp, &request);
}

/* False: the queue is full. */
static inline bool post(const struct doca_rdma_connection *connection, struct rdma_task *task)
{
	doca_error_t result;

	if (doca_unlikely(task->is_posted))
		return true;
	result = post_request(connection, task);
	if (doca_unlikely(result == DOCA_ERROR_AGAIN))
		return false;
	if (doca_unlikely(result != DOCA_SUCCESS)) {
		rdma_task_fail(task, result);
		return true;
	}
	task->end = dpumap_rdma_qp_posted(connection->qp);
	task->is_posted = true;
	return true;
}

static void wait_for_room(struct doca_rdma_connection *connection, struct rdma_task *task)
{
	struct doca_rdma *rdma = connection->rdma;

	connection->waiting = task;
	connection->next_waiting = rdma->waiting;
	rdma->waiting = connection;
}

/* --- submission ------------------------------------------------------------------------------- */

void dpumap_rdma_post_waiting(struct doca_rdma *rdma)
{
	struct doca_rdma_connection *connection, *next = rdma->waiting;

	rdma->waiting = NULL;
	while ((connection = next)) {
		struct rdma_task *task = connection->waiting;

		next = connection->next_waiting;
		connection->waiting = NULL;
		while (task && post(connection, task))
			task = rdma_task_of(task->base.next);
		if (task)
			wait_for_room(connection, task);
		rdma_connection_finish(connection);
	}
	dpumap_rdma_queue_flush(rdma->queue);
}

static void submit_to_connection(struct rdma_task *task)
{
	struct doca_rdma_connection *connection = task->connection;

	task->end = connection->completed;
	if (connection->waiting)
		goto append;
	if (doca_unlikely(!post(connection, task)))
		wait_for_room(connection, task);
append:
	dpumap_task_list_append(&connection->submitted, &task->base);
	connection->rdma->num_unended++;
	if (doca_unlikely(task->base.status != DOCA_SUCCESS))
		rdma_connection_finish(connection);
}

static void submit_receive(struct doca_rdma *rdma, struct rdma_task *task)
{
	struct dpumap_rdma_piece pieces[DPUMAP_MAX_LIST_LEN];
	doca_error_t result;
	uint32_t num;

	task->result_connection = NULL;
	result = local_pieces(task, pieces, &num);
	if (doca_likely(result == DOCA_SUCCESS))
		result = rdma->is_flushed
				 ? DOCA_ERROR_SHUTDOWN
				 : dpumap_rdma_queue_receive(rdma->queue, pieces, num, task);
	if (doca_likely(result == DOCA_SUCCESS))
		return;
	task->base.status = result;
	dpumap_task_list_append(&rdma->finished, &task->base);
}

/* A task that never reaches a queue. It keeps its place among those of its connection. */
static void submit_bad(struct doca_rdma *rdma, struct rdma_task *task)
{
	struct doca_rdma_connection *connection = task->connection;

	task->is_posted = true;
	if (task->kind == RDMA_RECEIVE || !connection || connection->rdma != rdma) {
		dpumap_task_list_append(&rdma->finished, &task->base);
		return;
	}
	task->end = connection->qp ? dpumap_rdma_qp_posted(connection->qp) : connection->completed;
	dpumap_task_list_append(&connection->submitted, &task->base);
	rdma->num_unended++;
	rdma_connection_finish(connection);
}

void dpumap_rdma_execute(struct doca_rdma *rdma, struct rdma_task *task)
{
	struct doca_task *base = &task->base;

	task->is_posted = false;
	base->status = dpumap_rdma_prepare(task);
	if (doca_unlikely(base->status != DOCA_SUCCESS))
		submit_bad(rdma, task);
	else if (task->kind == RDMA_RECEIVE)
		submit_receive(rdma, task);
	else
		submit_to_connection(task);
	if (doca_unlikely(base->status != DOCA_SUCCESS))
		dpumap_pe_wake(base->ctx->pe);
}

/* Apart, so that the usual case saves no registers. */
static __attribute__((noinline)) doca_error_t flush(const struct doca_rdma *rdma)
{
	dpumap_rdma_queue_flush(rdma->queue);
	return DOCA_SUCCESS;
}

static __attribute__((noinline)) doca_error_t submit_slowly(struct rdma_task *task, uint32_t flags)
{
	struct doca_rdma *rdma = dpumap_rdma_of(task->base.ctx);

	dpumap_rdma_execute(rdma, task);
	return flags & DOCA_TASK_SUBMIT_FLAG_FLUSH ? flush(rdma) : DOCA_SUCCESS;
}

/* --- the usual case: one local buf, no error, nothing waits ----------------------------------- */

/* Whether these bytes of a buf are one piece that may be posted. */
static inline bool is_piece(const struct doca_rdma *rdma, const struct doca_buf *buf, size_t len)
{
	return doca_likely(!buf->next && len - 1 < rdma->max_len) &&
	       dpumap_mmap_has_fast_key(buf->mmap, rdma->ctx.dev);
}

static inline struct dpumap_rdma_piece piece_of(const struct doca_buf *buf, const uint8_t *at,
						size_t len)
{
	const struct doca_mmap *mmap = buf->mmap;

	return (struct dpumap_rdma_piece){.addr = (uintptr_t)at + mmap->fast_key.iova_offset,
					  .len = (uint32_t)len,
					  .key = mmap->fast_key.lkey};
}

static inline struct dpumap_rdma_piece data_of(const struct doca_buf *buf)
{
	return piece_of(buf, buf->data, buf->data_len);
}

static inline bool find_peer_key(const struct doca_mmap *mmap, const struct doca_dev *dev,
				 uint32_t *key)
{
	const struct mmap_slot *slot = &mmap->slots[0];

	*key = slot->peer_key;
	return mmap->num_slots && slot->dev == dev && slot->peer_key && dpumap_mmap_is_usable(mmap);
}

/* NULL if the task may not be posted yet, or not at all. */
static inline struct dpumap_rdma_qp *find_qp(const struct doca_rdma *rdma,
					     const struct rdma_task *task)
{
	const struct doca_rdma_connection *connection = task->connection;

	if (doca_unlikely(!connection || connection->rdma != rdma ||
			  connection->state != RDMA_CONNECTED || connection->waiting ||
			  !connection->qp || !dpumap_rdma_fast_has_room(connection->qp)))
		return NULL;
	return connection->qp;
}

static inline void note_posted(struct doca_rdma *rdma, struct rdma_task *task, uint32_t end)
{
	task->end = end;
	task->is_posted = true;
	dpumap_task_list_append(&task->connection->submitted, &task->base);
	rdma->num_unended++;
}

/* This and the following return false if nothing was done. */
static inline bool receive_fast(struct doca_rdma *rdma, struct rdma_task *task)
{
	const struct doca_buf *dst = task->dst;
	size_t len;

	if (doca_unlikely(!dst || rdma->is_flushed || !dpumap_rdma_fast_has_receive(rdma->queue)))
		return false;
	len = dpumap_buf_room(dst);
	if (!is_piece(rdma, dst, len))
		return false;
	task->result_connection = NULL;
	dpumap_rdma_fast_receive(rdma->queue, piece_of(dst, dst->data + dst->data_len, len), task);
	return true;
}

static inline bool send_fast(struct doca_rdma *rdma, struct rdma_task *task)
{
	struct dpumap_rdma_qp *qp = find_qp(rdma, task);
	const struct doca_buf *src = task->src;

	if (doca_unlikely(!qp || !src) || !is_piece(rdma, src, src->data_len))
		return false;
	note_posted(rdma, task, dpumap_rdma_fast_post(qp, DPUMAP_RDMA_SEND, data_of(src), 0, 0));
	return true;
}

/* A write or a read: of the data of the source, into the room of the destination. */
static inline __attribute__((always_inline)) bool
move_fast(struct doca_rdma *rdma, struct rdma_task *task, enum dpumap_rdma_op op)
{
	struct dpumap_rdma_qp *qp = find_qp(rdma, task);
	const struct doca_buf *src = task->src, *dst = task->dst;
	bool is_write = op == DPUMAP_RDMA_WRITE;
	const struct doca_buf *local = is_write ? src : dst, *remote = is_write ? dst : src;
	const uint8_t *to;
	uint32_t key;

	if (doca_unlikely(!qp || !src || !dst || src->data_len > dpumap_buf_room(dst)) ||
	    !is_piece(rdma, local, src->data_len) ||
	    doca_unlikely(!find_peer_key(remote->mmap, rdma->ctx.dev, &key)))
		return false;
	to = dst->data + dst->data_len;
	task->len = src->data_len;
	note_posted(rdma, task,
		    dpumap_rdma_fast_post(qp, op,
					  piece_of(local, is_write ? src->data : to, src->data_len),
					  key, (uintptr_t)(is_write ? to : src->data)));
	return true;
}

static inline bool write_fast(struct doca_rdma *rdma, struct rdma_task *task)
{
	return move_fast(rdma, task, DPUMAP_RDMA_WRITE);
}

static inline bool read_fast(struct doca_rdma *rdma, struct rdma_task *task)
{
	return move_fast(rdma, task, DPUMAP_RDMA_READ);
}

/* One function for each kind saves few registers. */
#define SUBMIT(name)                                                                     \
	static doca_error_t submit_##name(struct rdma_task *task, uint32_t flags)        \
	{                                                                                \
		struct doca_rdma *rdma = dpumap_rdma_of(task->base.ctx);                 \
                                                                                         \
		if (doca_unlikely(!name(rdma, task)))                                    \
			return submit_slowly(task, flags);                               \
		return flags & DOCA_TASK_SUBMIT_FLAG_FLUSH ? flush(rdma) : DOCA_SUCCESS; \
	}

SUBMIT(receive_fast)
SUBMIT(send_fast)
SUBMIT(write_fast)
SUBMIT(read_fast)

static doca_error_t (*const submits[RDMA_NUM_KINDS])(struct rdma_task *task, uint32_t flags) = {
	[RDMA_RECEIVE] = submit_receive_fast, [RDMA_SEND] = submit_send_fast,
	[RDMA_SEND_IMM] = submit_slowly,      [RDMA_READ] = submit_read_fast,
	[RDMA_WRITE] = submit_write_fast,     [RDMA_WRITE_IMM] = submit_slowly,
	[RDMA_CMP_SWP] = submit_slowly,	      [RDMA_FETCH_ADD] = submit_slowly,
	[RDMA_EVENT_GET] = submit_slowly,     [RDMA_EVENT_SET] = submit_slowly,
	[RDMA_EVENT_ADD] = submit_slowly,
};

doca_error_t dpumap_rdma_task_submit(struct doca_task *base, uint32_t flags)
{
	struct rdma_task *task = (struct rdma_task *)base;

	base->status = DOCA_SUCCESS;
	return submits[task->kind](task, flags);
}

void dpumap_rdma_flush(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = dpumap_rdma_of(ctx);

	if (rdma->queue)
		dpumap_rdma_queue_flush(rdma->queue);
}
