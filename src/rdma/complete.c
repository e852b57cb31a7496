/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/task.h"

#include "device/queue/rdma_fast.h"
#include "rdma/manager.h"
#include "rdma/stop.h"
#include "rdma/task_list.h"

#define POLL_BATCH 16

/* --- completions ------------------------------------------------------------------------------ */

/* INVALID_VALUE: the peer refused a message that is too long, or a request that it does not permit. */
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
	for (struct rdma_task *task = rdma_task_of(connection->submitted.first);
	     task && task->is_posted && (int32_t)(done->number - task->end) >= 0;
	     task = rdma_task_of(task->base.next))
		rdma_task_fail(task, done->before);
}

/*
 * Fail the task of that work request. DRIVER: the device did not get some work requests; fail all tasks
 * that it has not completed. `done` is a value, so that the caller need not have it in memory.
 */
static void note_failure(struct doca_rdma_connection *connection, struct dpumap_rdma_done done)
{
	struct rdma_task *task;

	if (done.status == DOCA_ERROR_DRIVER) {
		for (task = rdma_task_of(connection->submitted.first); task;
		     task = rdma_task_of(task->base.next))
			if ((int32_t)(task->end - connection->completed) > 0)
				rdma_task_fail(task, done.status);
		return;
	}
	if (done.before != DOCA_SUCCESS)
		fail_before(connection, &done);
	connection->completed = done.number;
	rdma_connection_finish(connection);
	task = rdma_task_of(connection->submitted.first);
	if (task)
		rdma_task_fail(task, status_of(task, done.status));
}

static inline void on_posted(const struct dpumap_rdma_done *done)
{
	struct doca_rdma_connection *connection = done->owner;

	if (doca_unlikely(done->status != DOCA_SUCCESS))
		note_failure(connection, *done);
	connection->completed = done->number + 1;
	rdma_connection_finish(connection);
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
	       rdma->ctx.state == DOCA_CTX_STATE_RUNNING && !rdma->is_stopping;
}

static inline void on_receive(struct doca_rdma *rdma, const struct dpumap_rdma_done *done)
{
	struct rdma_task *task = done->cookie;

	if (doca_unlikely(is_to_repeat(rdma, done))) {
		dpumap_rdma_execute(rdma, task);
		return;
	}
	task->base.status = done->status;
	task->result_connection = done->owner;
	if (doca_likely(done->status == DOCA_SUCCESS)) {
		task->result_len = done->len;
		task->result_imm = done->imm;
		task->opcode = opcodes[done->kind];
	}
	dpumap_task_list_append(&rdma->finished, &task->base);
}

/* The device completes nothing any more: fail all tasks of connections. */
static void fail_all(struct doca_rdma *rdma, doca_error_t result)
{
	for (struct doca_rdma_connection *c = rdma->connections; c; c = c->next) {
		for (struct rdma_task *task = rdma_task_of(c->submitted.first); task;
		     task = rdma_task_of(task->base.next)) {
			rdma_task_fail(task, result);
			task->end = c->completed;
		}
		c->waiting = NULL;
		rdma_connection_finish(c);
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

static uint32_t take_fast(struct doca_rdma *rdma)
{
	struct dpumap_rdma_queue *queue = rdma->queue;
	const struct mlx5_cqe64 *cqe;
	uint32_t n = 0;

	for (; n < POLL_BATCH && (cqe = dpumap_rdma_fast_next(queue)); n++) {
		struct dpumap_rdma_done done;

		if (dpumap_rdma_fast_is_receive(cqe)) {
			if (doca_likely(dpumap_rdma_fast_take_receive(queue, cqe, &done)))
				on_receive(rdma, &done);
		} else if (doca_likely(dpumap_rdma_fast_take_send(queue, cqe, &done))) {
			on_posted(&done);
		}
	}
	return n;
}

/* Return the number of completions, at most POLL_BATCH. */
static uint32_t take_completions(struct doca_rdma *rdma)
{
	uint32_t n =
		dpumap_rdma_fast_is_possible(rdma->queue) ? take_fast(rdma) : take_slowly(rdma);

	if (doca_unlikely(rdma->waiting && n))
		dpumap_rdma_post_waiting(rdma);
	return n;
}

void dpumap_rdma_take_completions(struct doca_rdma *rdma)
{
	while (take_completions(rdma) == POLL_BATCH)
		;
}

/* --- progress --------------------------------------------------------------------------------- */

/* A failed task stops the context unless a callback of the connection reports its end. */
static bool stops_context(const struct rdma_task *task)
{
	const struct doca_rdma_connection *connection =
		task->kind == RDMA_RECEIVE ? task->result_connection : task->connection;

	return task->base.status != DOCA_SUCCESS && !(connection && connection->reports_end);
}

/* Report a connection before its first message, which may arrive before the event of the manager. */
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
	if (doca_unlikely(rdma->is_stopping && !rdma->is_flushed))
		dpumap_rdma_continue_stop(rdma);
	task = rdma_task_of(dpumap_task_list_take(&rdma->finished));
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

	if (!rdma->finished.first && !dpumap_rdma_fast_is_empty(rdma->queue))
		take_completions(rdma);
	task = rdma_task_of(rdma->finished.first);
	if (!task)
		return false;
	if (doca_unlikely(task->base.status != DOCA_SUCCESS))
		return dpumap_ctx_progress(ctx);
	rdma->finished.first = task->base.next;
	dpumap_ctx_before_callback(ctx, &task->base);
	dpumap_rdma_task_succeed(task);
	dpumap_ctx_after_callback(ctx, &task->base);
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
	return rdma->finished.first || dpumap_rdma_is_to_end(rdma);
}
