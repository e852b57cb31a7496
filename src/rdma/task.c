/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/task.h"

#include <inttypes.h>

#include "log/log.h"

static doca_error_t check_conf(const struct doca_rdma *rdma, uint32_t num_tasks,
			       const char *function)
{
	uint32_t max = dpumap_device_caps(rdma->ctx.dev->device)->max_queue_depth;
	doca_error_t result = dpumap_ctx_check_idle(&rdma->ctx, function);

	if (result != DOCA_SUCCESS)
		return result;
	if (!num_tasks || num_tasks > max)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA context %p: invalid number of tasks %" PRIu32
				   ", must be 1 to %" PRIu32,
				   (const void *)rdma, num_tasks, max);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_read_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_read_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_read_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	doca_error_t result;

	if (!rdma || !successful_task_completion_cb || !error_task_completion_cb)
		return dpumap_fail_null(__func__);
	result = check_conf(rdma, num_tasks, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	rdma->read_cb = successful_task_completion_cb;
	rdma->read_error_cb = error_task_completion_cb;
	rdma->reads.num_tasks = num_tasks;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_write_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_write_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_write_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	doca_error_t result;

	if (!rdma || !successful_task_completion_cb || !error_task_completion_cb)
		return dpumap_fail_null(__func__);
	result = check_conf(rdma, num_tasks, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	rdma->write_cb = successful_task_completion_cb;
	rdma->write_error_cb = error_task_completion_cb;
	rdma->writes.num_tasks = num_tasks;
	return DOCA_SUCCESS;
}

static doca_error_t allocate(struct rdma_pool *pool, struct doca_rdma_connection *connection,
			     struct rdma_task **task)
{
	struct doca_rdma *rdma = connection->rdma;
	struct rdma_task *taken = pool->free;

	if (!taken)
		return dpumap_fail_quiet(DOCA_ERROR_NO_MEMORY,
					 "RDMA context %p: all %" PRIu32 " tasks are allocated",
					 (void *)rdma, pool->num_tasks);
	pool->free = taken->next;
	rdma->ctx.num_allocated++;
	taken->base.allocated = true;
	taken->base.status = DOCA_SUCCESS;
	taken->connection = connection;
	*task = taken;
	return DOCA_SUCCESS;
}

static doca_error_t check_allocation(const struct doca_rdma *rdma,
				     const struct doca_rdma_connection *connection,
				     const char *function)
{
	if (rdma->ctx.state != DOCA_CTX_STATE_RUNNING)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: RDMA context %p is not running",
				   function, (const void *)rdma);
	if (connection->rdma != rdma)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: connection %p does not belong to RDMA context %p", function,
				   (const void *)connection, (const void *)rdma);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_read_allocate_init(struct doca_rdma *rdma,
					       struct doca_rdma_connection *rdma_connection,
					       const struct doca_buf *src_buf,
					       struct doca_buf *dst_buf, union doca_data user_data,
					       struct doca_rdma_task_read **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (!rdma || !rdma_connection || !task)
		return dpumap_fail_null(__func__);
	result = check_allocation(rdma, rdma_connection, __func__);
	if (result == DOCA_SUCCESS)
		result = allocate(&rdma->reads, rdma_connection, &taken);
	if (result != DOCA_SUCCESS)
		return result;
	taken->base.user_data = user_data;
	taken->src = src_buf;
	taken->dst = dst_buf;
	*task = (struct doca_rdma_task_read *)taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_write_allocate_init(struct doca_rdma *rdma,
						struct doca_rdma_connection *rdma_connection,
						const struct doca_buf *src_buf,
						struct doca_buf *dst_buf, union doca_data user_data,
						struct doca_rdma_task_write **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (!rdma || !rdma_connection || !task)
		return dpumap_fail_null(__func__);
	result = check_allocation(rdma, rdma_connection, __func__);
	if (result == DOCA_SUCCESS)
		result = allocate(&rdma->writes, rdma_connection, &taken);
	if (result != DOCA_SUCCESS)
		return result;
	taken->base.user_data = user_data;
	taken->src = src_buf;
	taken->dst = dst_buf;
	*task = (struct doca_rdma_task_write *)taken;
	return DOCA_SUCCESS;
}

struct doca_task *doca_rdma_task_read_as_task(struct doca_rdma_task_read *task)
{
	return task ? &task->task.base : NULL;
}

void doca_rdma_task_read_set_src_buf(struct doca_rdma_task_read *task,
				     const struct doca_buf *src_buf)
{
	task->task.src = src_buf;
}

const struct doca_buf *doca_rdma_task_read_get_src_buf(const struct doca_rdma_task_read *task)
{
	return task->task.src;
}

void doca_rdma_task_read_set_dst_buf(struct doca_rdma_task_read *task, struct doca_buf *dst_buf)
{
	task->task.dst = dst_buf;
}

struct doca_buf *doca_rdma_task_read_get_dst_buf(const struct doca_rdma_task_read *task)
{
	return task->task.dst;
}

struct doca_task *doca_rdma_task_write_as_task(struct doca_rdma_task_write *task)
{
	return task ? &task->task.base : NULL;
}

void doca_rdma_task_write_set_src_buf(struct doca_rdma_task_write *task,
				      const struct doca_buf *src_buf)
{
	task->task.src = src_buf;
}

const struct doca_buf *doca_rdma_task_write_get_src_buf(const struct doca_rdma_task_write *task)
{
	return task->task.src;
}

void doca_rdma_task_write_set_dst_buf(struct doca_rdma_task_write *task, struct doca_buf *dst_buf)
{
	task->task.dst = dst_buf;
}

struct doca_buf *doca_rdma_task_write_get_dst_buf(const struct doca_rdma_task_write *task)
{
	return task->task.dst;
}

void dpumap_rdma_task_complete(struct doca_task *base)
{
	struct rdma_task *task = (struct rdma_task *)base;
	struct doca_rdma *rdma = dpumap_rdma_of(base->ctx);
	bool good = base->status == DOCA_SUCCESS;

	if (good)
		dpumap_buf_grow(task->dst, task->len);
	if (dpumap_task_complete_node(base))
		return;
	if (task->is_read)
		(good ? rdma->read_cb : rdma->read_error_cb)((struct doca_rdma_task_read *)task,
							     base->user_data, rdma->ctx.user_data);
	else
		(good ? rdma->write_cb : rdma->write_error_cb)(
			(struct doca_rdma_task_write *)task, base->user_data, rdma->ctx.user_data);
}

/* Each completion looks for a node. */
void dpumap_rdma_enter_graph(struct doca_ctx *ctx)
{
	(void)ctx;
}

void dpumap_rdma_task_release(struct doca_task *base)
{
	struct rdma_task *task = (struct rdma_task *)base;
	struct doca_rdma *rdma = dpumap_rdma_of(base->ctx);
	struct rdma_pool *pool = task->is_read ? &rdma->reads : &rdma->writes;

	task->next = pool->free;
	pool->free = task;
}
