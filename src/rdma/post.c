/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/post.h"

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/mmap/resolve.h"
#include "core/pe/pe.h"
#include "device/queue/rdma_quick.h"
#include "log/log.h"
#include "rdma/connection.h"
#include "rdma/manager.h"
#include "rdma/prepare.h"
#include "rdma/task.h"

#define POLL_BATCH 16
/* An unreachable peer fails tasks earlier; one that does not receive never does. */
#define PATIENCE_S 3

/* --- lists ------------------------------------------------------------------------------------ */

static inline void append(struct rdma_list *list, struct rdma_task *task)
{
	task->next = NULL;
	if (list->first)
		list->last->next = task;
	else
		list->first = task;
	list->last = task;
}

static inline struct rdma_task *take_first(struct rdma_list *list)
{
	struct rdma_task *task = list->first;

	if (task)
		list->first = task->next;
	return task;
}

/* --- posting ---------------------------------------------------------------------------------- */

static void fail_task(struct rdma_task *task, doca_error_t result)
{
	if (task->base.status == DOCA_SUCCESS)
		task->base.status = result;
	task->is_posted = true;
}

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
		fail_task(task, result);
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

/* --- finishing -------------------------------------------------------------------------------- */

static inline bool is_finished(const struct doca_rdma_connection *connection,
			       const struct rdma_task *task)
{
	return task->is_posted && (int32_t)(connection->completed - task->end) >= 0;
}

static inline void finish(struct doca_rdma_connection *connection)
{
	struct rdma_task *first = connection->submitted.first, *last = NULL, *task = first;
	struct doca_rdma *rdma = connection->rdma;

	for (; task && is_finished(connection, task); task = task->next) {
		rdma->num_unended--;
		last = task;
	}
	if (doca_unlikely(!last))
		return;
	connection->submitted.first = task;
	last->next = NULL;
	if (rdma->finished.first)
		rdma->finished.last->next = first;
	else
		rdma->finished.first = first;
	rdma->finished.last = last;
}

static void post_waiting(struct doca_rdma *rdma)
{
	struct doca_rdma_connection *connection, *next = rdma->waiting;

	rdma->waiting = NULL;
	while ((connection = next)) {
		struct rdma_task *task = connection->waiting;

		next = connection->next_waiting;
		connection->waiting = NULL;
		while (task && post(connection, task))
			task = task->next;
		if (task)
			wait_for_room(connection, task);
		finish(connection);
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
	append(&connection->submitted, task);
	connection->rdma->num_unended++;
	if (doca_unlikely(task->base.status != DOCA_SUCCESS))
		finish(connection);
}

static void submit_receive(struct doca_rdma *rdma, struct rdma_task *task)
{
	struct dpumap_rdma_piece pieces[DPUMAP_MAX_LIST_LEN];
	doca_error_t result;
	uint32_t num;

	task->result_connection = NULL;
	result = local_pieces(task, pieces, &num);
	if (doca_likely(result == DOCA_SUCCESS))
		result = rdma->has_wound_down
				 ? DOCA_ERROR_SHUTDOWN
				 : dpumap_rdma_queue_receive(rdma->queue, pieces, num, task);
	if (doca_likely(result == DOCA_SUCCESS))
		return;
	task->base.status = result;
	append(&rdma->finished, task);
}

/* A task that never reaches a queue. It keeps its place among those of its connection. */
static void submit_bad(struct doca_rdma *rdma, struct rdma_task *task)
{
	struct doca_rdma_connection *connection = task->connection;

	task->is_posted = true;
	if (task->kind == RDMA_RECEIVE || !connection || connection->rdma != rdma) {
		append(&rdma->finished, task);
		return;
	}
	task->end = connection->qp ? dpumap_rdma_qp_posted(connection->qp) : connection->completed;
	append(&connection->submitted, task);
	rdma->num_unended++;
	finish(connection);
}

static void submit_any(struct doca_rdma *rdma, struct rdma_task *task)
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

	submit_any(rdma, task);
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
			  !connection->qp || !dpumap_rdma_quick_has_room(connection->qp)))
		return NULL;
	return connection->qp;
}

static inline void note_posted(struct doca_rdma *rdma, struct rdma_task *task, uint32_t end)
{
	task->end = end;
	task->is_posted = true;
	append(&task->connection->submitted, task);
	rdma->num_unended++;
}

/* This and the following return false if nothing was done. */
static inline bool receive_quickly(struct doca_rdma *rdma, struct rdma_task *task)
{
	const struct doca_buf *dst = task->dst;
	size_t len;

	if (doca_unlikely(!dst || rdma->has_wound_down ||
			  !dpumap_rdma_quick_has_receive(rdma->queue)))
		return false;
	len = dpumap_buf_room(dst);
	if (!is_piece(rdma, dst, len))
		return false;
	task->result_connection = NULL;
	dpumap_rdma_quick_receive(rdma->queue, piece_of(dst, dst->data + dst->data_len, len), task);
	return true;
}

static inline bool send_quickly(struct doca_rdma *rdma, struct rdma_task *task)
{
	struct dpumap_rdma_qp *qp = find_qp(rdma, task);
	const struct doca_buf *src = task->src;

	if (doca_unlikely(!qp || !src) || !is_piece(rdma, src, src->data_len))
		return false;
	note_posted(rdma, task, dpumap_rdma_quick_post(qp, DPUMAP_RDMA_SEND, data_of(src), 0, 0));
	return true;
}

/* A write or a read: of the data of the source, into the room of the destination. */
static inline __attribute__((always_inline)) bool
move_quickly(struct doca_rdma *rdma, struct rdma_task *task, enum dpumap_rdma_op op)
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
		    dpumap_rdma_quick_post(
			    qp, op, piece_of(local, is_write ? src->data : to, src->data_len), key,
			    (uintptr_t)(is_write ? to : src->data)));
	return true;
}

static inline bool write_quickly(struct doca_rdma *rdma, struct rdma_task *task)
{
	return move_quickly(rdma, task, DPUMAP_RDMA_WRITE);
}

static inline bool read_quickly(struct doca_rdma *rdma, struct rdma_task *task)
{
	return move_quickly(rdma, task, DPUMAP_RDMA_READ);
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

SUBMIT(receive_quickly)
SUBMIT(send_quickly)
SUBMIT(write_quickly)
SUBMIT(read_quickly)

static doca_error_t (*const submits[RDMA_NUM_KINDS])(struct rdma_task *task, uint32_t flags) = {
	[RDMA_RECEIVE] = submit_receive_quickly, [RDMA_SEND] = submit_send_quickly,
	[RDMA_SEND_IMM] = submit_slowly,	 [RDMA_READ] = submit_read_quickly,
	[RDMA_WRITE] = submit_write_quickly,	 [RDMA_WRITE_IMM] = submit_slowly,
	[RDMA_CMP_SWP] = submit_slowly,		 [RDMA_FETCH_ADD] = submit_slowly,
	[RDMA_EVENT_GET] = submit_slowly,	 [RDMA_EVENT_SET] = submit_slowly,
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

/* --- completions ------------------------------------------------------------------------------ */

/* A peer refuses a request for lack of room, or since the connection does not permit it. */
static doca_error_t status_of(const struct rdma_task *task, doca_error_t status)
{
	bool is_message = task->kind == RDMA_SEND || task->kind == RDMA_SEND_IMM;

	return status == DOCA_ERROR_INVALID_VALUE && !is_message ? DOCA_ERROR_NOT_PERMITTED
								 : status;
}

/* A device may flush several work requests with one completion. */
static void fail_before(const struct doca_rdma_connection *connection,
			const struct dpumap_rdma_done *done)
{
	for (struct rdma_task *task = connection->submitted.first;
	     task && task->is_posted && (int32_t)(done->number - task->end) >= 0; task = task->next)
		fail_task(task, done->before);
}

/*
 * Fail the task of that work request; if the device did not get some, all of them. By value, so that the
 * caller need not have it in memory.
 */
static void note_failure(struct doca_rdma_connection *connection, struct dpumap_rdma_done done)
{
	struct rdma_task *task;

	if (done.status == DOCA_ERROR_DRIVER) {
		for (task = connection->submitted.first; task; task = task->next)
			if ((int32_t)(task->end - connection->completed) > 0)
				fail_task(task, done.status);
		return;
	}
	if (done.before != DOCA_SUCCESS)
		fail_before(connection, &done);
	connection->completed = done.number;
	finish(connection);
	task = connection->submitted.first;
	if (task)
		fail_task(task, status_of(task, done.status));
}

static inline void on_posted(const struct dpumap_rdma_done *done)
{
	struct doca_rdma_connection *connection = done->owner;

	if (doca_unlikely(done->status != DOCA_SUCCESS))
		note_failure(connection, *done);
	connection->completed = done->number + 1;
	finish(connection);
}

static const enum doca_rdma_opcode opcodes[] = {
	[DPUMAP_RDMA_RECEIVED_SEND] = DOCA_RDMA_OPCODE_RECV_SEND,
	[DPUMAP_RDMA_RECEIVED_SEND_IMM] = DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM,
	[DPUMAP_RDMA_RECEIVED_WRITE_IMM] = DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM,
};

/* The end of a connection whose message had arrived in part; the receive is for any connection. */
static bool is_to_repeat(const struct doca_rdma *rdma, const struct dpumap_rdma_done *done)
{
	return done->status == DOCA_ERROR_SHUTDOWN && done->owner &&
	       rdma->ctx.state == DOCA_CTX_STATE_RUNNING && !rdma->is_winding_down;
}

static inline void on_receive(struct doca_rdma *rdma, const struct dpumap_rdma_done *done)
{
	struct rdma_task *task = done->cookie;

	if (doca_unlikely(is_to_repeat(rdma, done))) {
		submit_any(rdma, task);
		return;
	}
	task->base.status = done->status;
	task->result_connection = done->owner;
	if (doca_likely(done->status == DOCA_SUCCESS)) {
		task->result_len = done->len;
		task->result_imm = done->imm;
		task->opcode = opcodes[done->kind];
	}
	append(&rdma->finished, task);
}

/* The device completes nothing any more: fail all tasks of connections. */
static void fail_all(struct doca_rdma *rdma, doca_error_t result)
{
	for (struct doca_rdma_connection *c = rdma->connections; c; c = c->next) {
		for (struct rdma_task *task = c->submitted.first; task; task = task->next) {
			fail_task(task, result);
			task->end = c->completed;
		}
		c->waiting = NULL;
		finish(c);
	}
	rdma->waiting = NULL;
}

static __attribute__((noinline)) uint32_t take_slowly(struct doca_rdma *rdma)
{
	struct dpumap_rdma_done done[POLL_BATCH];
	doca_error_t result;
	uint32_t n = 0;

	result = dpumap_rdma_queue_poll(rdma->queue, done, POLL_BATCH, &n);
	if (doca_unlikely(result != DOCA_SUCCESS && rdma->num_unended))
		fail_all(rdma, result);
	for (uint32_t i = 0; i < n; i++)
		if (done[i].is_receive)
			on_receive(rdma, &done[i]);
		else
			on_posted(&done[i]);
	return n;
}

static uint32_t take_quickly(struct doca_rdma *rdma)
{
	struct dpumap_rdma_queue *queue = rdma->queue;
	const struct mlx5_cqe64 *cqe;
	uint32_t n = 0;

	for (; n < POLL_BATCH && (cqe = dpumap_rdma_quick_next(queue)); n++) {
		struct dpumap_rdma_done done;

		if (dpumap_rdma_quick_is_receive(cqe)) {
			if (doca_likely(dpumap_rdma_quick_take_receive(queue, cqe, &done)))
				on_receive(rdma, &done);
		} else if (doca_likely(dpumap_rdma_quick_take_send(queue, cqe, &done))) {
			on_posted(&done);
		}
	}
	return n;
}

/* Returns how many there were, at most POLL_BATCH. */
static uint32_t take_completions(struct doca_rdma *rdma)
{
	uint32_t n =
		dpumap_rdma_quick_is_usual(rdma->queue) ? take_quickly(rdma) : take_slowly(rdma);

	if (doca_unlikely(rdma->waiting && n))
		post_waiting(rdma);
	return n;
}

static void take_all_completions(struct doca_rdma *rdma)
{
	while (take_completions(rdma) == POLL_BATCH)
		;
}

/* --- the end of connections and of the context ------------------------------------------------ */

static void forget_waiting(struct doca_rdma_connection *connection)
{
	struct doca_rdma_connection **at = &connection->rdma->waiting;

	while (*at && *at != connection)
		at = &(*at)->next_waiting;
	if (*at)
		*at = connection->next_waiting;
	connection->waiting = NULL;
}

doca_error_t dpumap_rdma_end_connection(struct doca_rdma_connection *connection)
{
	struct doca_rdma *rdma = connection->rdma;
	doca_error_t result;

	if (!connection->qp)
		return DOCA_SUCCESS;
	result = dpumap_rdma_qp_destroy(connection->qp);
	if (result != DOCA_SUCCESS)
		return result;
	connection->qp = NULL;
	forget_waiting(connection);
	/* What the device had completed comes first; it refers to the connection. */
	take_all_completions(rdma);
	for (struct rdma_task *task = connection->submitted.first; task; task = task->next) {
		fail_task(task, DOCA_ERROR_SHUTDOWN);
		task->end = connection->completed;
	}
	finish(connection);
	if (rdma->finished.first)
		dpumap_pe_wake(rdma->ctx.pe);
	return DOCA_SUCCESS;
}

/* -- winding down -- */

static void close_timer(struct doca_rdma *rdma)
{
	if (rdma->timer < 0)
		return;
	dpumap_pe_unwatch(rdma->ctx.pe, rdma->timer);
	close(rdma->timer);
	rdma->timer = -1;
}

/* So that a program that sleeps wakes up in time. */
static bool open_timer(struct doca_rdma *rdma)
{
	const struct itimerspec spec = {.it_value = {.tv_sec = PATIENCE_S}};

	rdma->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (rdma->timer < 0) {
		dpumap_log(
			DPUMAP_LOG_WARNING,
			"RDMA context %p: creating a timer failed: %s; tasks are flushed at once",
			(void *)rdma, strerror(errno));
		return false;
	}
	if (timerfd_settime(rdma->timer, 0, &spec, NULL) ||
	    dpumap_pe_watch(rdma->ctx.pe, rdma->timer) != DOCA_SUCCESS) {
		close(rdma->timer);
		rdma->timer = -1;
		return false;
	}
	return true;
}

static doca_error_t end_all(struct doca_rdma *rdma)
{
	doca_error_t result = dpumap_rdma_connections_end(rdma);

	if (result == DOCA_SUCCESS)
		result = dpumap_rdma_queue_stop(rdma->queue);
	if (result != DOCA_SUCCESS)
		return result;
	rdma->has_wound_down = true;
	close_timer(rdma);
	take_all_completions(rdma);
	if (rdma->finished.first)
		dpumap_pe_wake(rdma->ctx.pe);
	return DOCA_SUCCESS;
}

void dpumap_rdma_wind_down(struct doca_rdma *rdma)
{
	if (rdma->is_winding_down)
		return;
	rdma->is_winding_down = true;
	rdma->is_usual = false;
	if (!rdma->num_unended || !open_timer(rdma))
		dpumap_pe_wake(rdma->ctx.pe);
}

static bool has_timed_out(struct doca_rdma *rdma)
{
	uint64_t times;

	if (rdma->timer >= 0 && read(rdma->timer, &times, sizeof(times)) < 0)
		return false;
	close_timer(rdma);
	return true;
}

/* The last task of a connection has finished, and only receives are left. */
static bool is_to_end(const struct doca_rdma *rdma)
{
	return rdma->is_winding_down && !rdma->has_wound_down && !rdma->num_unended;
}

static void continue_to_wind_down(struct doca_rdma *rdma)
{
	if (!rdma->num_unended || has_timed_out(rdma))
		(void)end_all(rdma);
}

doca_error_t dpumap_rdma_close_queue(struct doca_rdma *rdma)
{
	doca_error_t result = rdma->has_wound_down ? DOCA_SUCCESS : end_all(rdma);

	if (result == DOCA_SUCCESS)
		result = dpumap_rdma_queue_destroy(rdma->queue);
	if (result == DOCA_SUCCESS)
		rdma->queue = NULL;
	return result;
}

/* --- progress --------------------------------------------------------------------------------- */

/* Of a connection whose end the program learns by no callback. */
static bool stops_context(const struct rdma_task *task)
{
	const struct doca_rdma_connection *connection =
		task->kind == RDMA_RECEIVE ? task->result_connection : task->connection;

	return task->base.status != DOCA_SUCCESS && !(connection && connection->reports_end);
}

/* A message may arrive before the event of the connection manager: the program learns of both in order. */
static void report_connection(const struct rdma_task *task)
{
	if (task->kind == RDMA_RECEIVE && task->base.status == DOCA_SUCCESS)
		dpumap_rdma_manager_established(task->result_connection);
}

struct doca_task *dpumap_rdma_task_poll(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = dpumap_rdma_of(ctx);
	struct rdma_task *task;

	if (!rdma->finished.first)
		take_completions(rdma);
	if (doca_unlikely(rdma->is_winding_down && !rdma->has_wound_down))
		continue_to_wind_down(rdma);
	task = take_first(&rdma->finished);
	if (!task)
		return NULL;
	if (doca_unlikely(stops_context(task)))
		dpumap_ctx_begin_stop(ctx);
	if (doca_unlikely(rdma->cm))
		report_connection(task);
	return &task->base;
}

bool dpumap_rdma_task_progress(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = dpumap_rdma_of(ctx);
	struct rdma_task *task;

	if (!rdma->finished.first && !dpumap_rdma_quick_is_empty(rdma->queue))
		take_completions(rdma);
	task = rdma->finished.first;
	if (!task)
		return false;
	if (doca_unlikely(task->base.status != DOCA_SUCCESS))
		return dpumap_ctx_progress(ctx);
	rdma->finished.first = task->next;
	dpumap_ctx_before_callback(ctx, &task->base);
	dpumap_rdma_task_succeed(task);
	dpumap_ctx_after_callback(ctx);
	return true;
}

doca_error_t dpumap_rdma_arm(struct doca_ctx *ctx)
{
	return dpumap_rdma_queue_arm(dpumap_rdma_of(ctx)->queue);
}

bool dpumap_rdma_is_ready(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = dpumap_rdma_of(ctx);

	if (!rdma->finished.first)
		take_completions(rdma);
	return rdma->finished.first || is_to_end(rdma);
}

/* --- the queue -------------------------------------------------------------------------------- */

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Of all connections together. */
static uint32_t num_sends(const struct doca_rdma *rdma)
{
	uint32_t max = dpumap_device_caps(rdma->ctx.dev->device)->max_queue_depth;
	uint64_t num = dpumap_rdma_num_tasks(rdma);

	if (!num)
		return 1;
	return num < max ? (uint32_t)num : max;
}

uint32_t dpumap_rdma_queue_depth(const struct doca_rdma *rdma)
{
	return smaller(num_sends(rdma), rdma->settings.send_queue_size);
}

doca_error_t dpumap_rdma_open_queue(struct doca_rdma *rdma)
{
	struct dpumap_device *device = rdma->ctx.dev->device;
	struct dpumap_rdma_queue_attr attr;

	rdma->max_len = dpumap_device_caps(device)->max_message_len;
	rdma->is_usual = !rdma->cm;
	rdma->is_winding_down = rdma->has_wound_down = false;
	rdma->timer = -1;
	rdma->num_unended = 0;
	attr = (struct dpumap_rdma_queue_attr){
		.num_sends = num_sends(rdma),
		.num_recvs = rdma->pools[RDMA_RECEIVE].num_tasks,
		.max_recv_pieces = rdma->settings.max_receive_list,
		.max_qps = rdma->settings.max_connections,
		.events = rdma->events,
		.vector = rdma->ctx.vector,
	};
	return dpumap_rdma_queue_create(device, &attr, &rdma->queue);
}
