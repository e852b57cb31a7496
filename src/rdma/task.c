/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/task.h"

#include "log/log.h"
#include "rdma/prepare.h"

/* --- pools ------------------------------------------------------------------------------------ */

doca_error_t dpumap_rdma_create_pools(struct doca_rdma *rdma)
{
	doca_error_t result = DOCA_SUCCESS;

	for (int kind = 0; kind < RDMA_NUM_KINDS && result == DOCA_SUCCESS; kind++)
		result = dpumap_task_pool_create(&rdma->pools[kind].pool, &rdma->ctx,
						 sizeof(struct rdma_task));
	return result;
}

void dpumap_rdma_free_pools(struct doca_rdma *rdma)
{
	for (int kind = 0; kind < RDMA_NUM_KINDS; kind++)
		dpumap_task_pool_destroy(&rdma->pools[kind].pool);
}

uint64_t dpumap_rdma_num_tasks(const struct doca_rdma *rdma)
{
	uint64_t num = 0;

	for (int kind = 0; kind < RDMA_NUM_KINDS; kind++)
		if (kind != RDMA_RECEIVE)
			num += rdma->pools[kind].pool.num_tasks;
	return num;
}

static uint32_t max_tasks(const struct doca_rdma *rdma, enum rdma_kind kind)
{
	const struct dpumap_caps *caps = dpumap_device_caps(rdma->ctx.dev->device);

	if (kind == RDMA_RECEIVE && caps->max_recv_depth < caps->max_queue_depth)
		return caps->max_recv_depth;
	return caps->max_queue_depth;
}

doca_error_t dpumap_rdma_configure(struct doca_rdma *rdma, enum rdma_kind kind,
				   rdma_callback *success, rdma_callback *error, uint32_t num_tasks,
				   const char *function)
{
	doca_error_t result;

	if (!rdma || !success || !error)
		return dpumap_fail_null(function);
	result = dpumap_ctx_check_idle(&rdma->ctx, function);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_task_pool_configure(&rdma->pools[kind].pool, &rdma->ctx, num_tasks,
					    max_tasks(rdma, kind));
	if (result != DOCA_SUCCESS)
		return result;
	rdma->pools[kind].success = success;
	rdma->pools[kind].error = error;
	return DOCA_SUCCESS;
}

/* --- allocation ------------------------------------------------------------------------------- */

__attribute__((cold, noinline)) static doca_error_t
refuse_allocation(const struct doca_rdma *rdma, const struct doca_rdma_connection *connection,
		  enum rdma_kind kind, const char *function)
{
	if (!rdma || (!connection && kind != RDMA_RECEIVE))
		return dpumap_fail_null(function);
	if (rdma->ctx.state == DOCA_CTX_STATE_RUNNING && connection && connection->rdma != rdma)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: connection %p does not belong to RDMA context %p", function,
				   (const void *)connection, (const void *)rdma);
	return dpumap_task_pool_refuse(&rdma->pools[kind].pool, &rdma->ctx, function);
}

doca_error_t dpumap_rdma_allocate(struct doca_rdma *rdma, struct doca_rdma_connection *connection,
				  enum rdma_kind kind, union doca_data user_data,
				  struct rdma_task **task, const char *function)
{
	struct rdma_task *taken;

	if (doca_unlikely(!rdma || (!connection && kind != RDMA_RECEIVE) ||
			  (connection && connection->rdma != rdma) ||
			  !dpumap_task_pool_has_task(&rdma->pools[kind].pool, &rdma->ctx)))
		return refuse_allocation(rdma, connection, kind, function);
	taken = (struct rdma_task *)dpumap_task_pool_take(&rdma->pools[kind].pool, user_data);
	taken->kind = kind;
	taken->connection = connection;
	*task = taken;
	return DOCA_SUCCESS;
}

/* --- completion ------------------------------------------------------------------------------- */

/* Count what arrived as data of the local destination. */
static void grow(struct rdma_task *task)
{
	enum rdma_kind kind = task->kind;

	if (kind == RDMA_RECEIVE) {
		if (task->opcode != DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM)
			dpumap_buf_grow(task->dst, task->result_len);
	} else if (dpumap_rdma_sends_data(kind)) {
		return;
	} else if (kind == RDMA_READ || kind == RDMA_EVENT_GET) {
		task->result_len = (uint32_t)task->len;
		dpumap_buf_grow(task->dst, task->len);
	} else { /* atomic */
		task->result->data_len += task->len;
	}
}

static inline const struct rdma_pool *pool_of(const struct rdma_task *task)
{
	return (const struct rdma_pool *)task->base.pool;
}

void dpumap_rdma_task_succeed(struct rdma_task *task)
{
	grow(task);
	if (!dpumap_task_complete_node(&task->base))
		dpumap_rdma_call(task, pool_of(task)->success);
}

void dpumap_rdma_task_complete(struct doca_task *base)
{
	struct rdma_task *task = (struct rdma_task *)base;

	if (base->status == DOCA_SUCCESS)
		dpumap_rdma_task_succeed(task);
	else if (!dpumap_task_complete_node(base))
		dpumap_rdma_call(task, pool_of(task)->error);
}

/* Each completion looks for a node. */
void dpumap_rdma_enter_graph(struct doca_ctx *ctx)
{
	(void)ctx;
}
