/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/pe/task_pool.h"

#include <inttypes.h>
#include <stdlib.h>

#include "log/log.h"

doca_error_t dpumap_task_pool_configure(struct task_pool *pool, const struct doca_ctx *ctx,
					uint32_t num_tasks, uint32_t max)
{
	if (!num_tasks || num_tasks > max)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s context %p: invalid number of tasks %" PRIu32
				   ", must be 1 to %" PRIu32,
				   ctx->ops->name, (const void *)ctx, num_tasks, max);
	pool->num_tasks = num_tasks;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_task_pool_create(struct task_pool *pool, struct doca_ctx *ctx, size_t size)
{
	dpumap_task_pool_destroy(pool);
	if (!pool->num_tasks)
		return DOCA_SUCCESS;
	pool->tasks = calloc(pool->num_tasks, size);
	if (!pool->tasks)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "%s context %p: no memory for %" PRIu32 " tasks", ctx->ops->name,
				   (void *)ctx, pool->num_tasks);
	for (uint32_t i = pool->num_tasks; i--;) {
		struct doca_task *task = (void *)((char *)pool->tasks + i * size);

		task->ctx = ctx;
		task->pool = pool;
		dpumap_task_pool_put(task);
	}
	return DOCA_SUCCESS;
}

void dpumap_task_pool_destroy(struct task_pool *pool)
{
	free(pool->tasks);
	pool->tasks = NULL;
	pool->free = NULL;
}

__attribute__((cold)) doca_error_t dpumap_task_pool_refuse(const struct task_pool *pool,
							   const struct doca_ctx *ctx,
							   const char *function)
{
	if (ctx->state != DOCA_CTX_STATE_RUNNING)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: %s context %p is not running",
				   function, ctx->ops->name, (const void *)ctx);
	return dpumap_fail_info(DOCA_ERROR_NO_MEMORY,
				"%s: %s context %p: all %" PRIu32 " tasks are allocated", function,
				ctx->ops->name, (const void *)ctx, pool->num_tasks);
}
