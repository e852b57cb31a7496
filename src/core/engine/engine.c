/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/engine/engine.h"

#include <stdlib.h>

#include "core/pe/pe.h"
#include "log/log.h"

#define MAX_TASKS 8192

static struct engine_task *task_of(const struct doca_task *task)
{
	return (struct engine_task *)task;
}

void dpumap_engine_init(struct engine_ctx *engine, const struct ctx_ops *ctx_ops,
			const struct engine_ops *ops, struct doca_dev *dev)
{
	engine->ops = ops;
	dpumap_ctx_init(&engine->ctx, ctx_ops, dev);
}

/* --- settings --------------------------------------------------------------------------------- */

static uint32_t max_tasks(const struct engine_ctx *engine)
{
	uint32_t depth = dpumap_device_caps(engine->ctx.dev->device)->max_queue_depth;

	return depth < MAX_TASKS ? depth : MAX_TASKS;
}

static uint32_t num_tasks(const struct engine_ctx *engine)
{
	uint32_t sum = 0;

	for (uint32_t kind = 0; kind < engine->num_kinds; kind++)
		sum += engine->pools[kind].pool.num_tasks;
	return sum;
}

doca_error_t dpumap_engine_get_max_tasks(const struct engine_ctx *engine, uint32_t *max,
					 const char *function)
{
	if (!engine || !max)
		return dpumap_fail_null(function);
	*max = max_tasks(engine);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_engine_configure(struct engine_ctx *engine, uint32_t kind,
				     engine_callback *success, engine_callback *error, uint32_t num,
				     const char *function)
{
	struct engine_pool *pool;
	doca_error_t result;

	if (!engine || !success || !error)
		return dpumap_fail_null(function);
	pool = &engine->pools[kind];
	result = dpumap_ctx_check_idle(&engine->ctx, function);
	if (result != DOCA_SUCCESS)
		return result;
	if (!pool->is_supported)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: the engine of %s lacks this",
				   function, dpumap_hca_name(engine->ctx.dev->info.hca));
	result = dpumap_task_pool_configure(&pool->pool, &engine->ctx, num,
					    max_tasks(engine) - num_tasks(engine) +
						    pool->pool.num_tasks);
	if (result != DOCA_SUCCESS)
		return result;
	pool->success = success;
	pool->error = error;
	return DOCA_SUCCESS;
}

/* --- starting and stopping -------------------------------------------------------------------- */

static doca_error_t create_queue(struct engine_ctx *engine)
{
	struct dpumap_device *device = engine->ctx.dev->device;
	struct dpumap_queue_attr attr = {
		.depth = num_tasks(engine),
		.vector = engine->ctx.vector,
	};
	doca_error_t result;

	result = dpumap_pe_get_events(engine->ctx.pe, engine->ctx.dev, &engine->events);
	if (result != DOCA_SUCCESS)
		return result;
	attr.events = engine->events;
	result = dpumap_queue_create(device, &attr, &engine->queue);
	if (result != DOCA_SUCCESS)
		goto put_events;
	result = engine->ops->open(engine->queue, &engine->sq);
	if (result != DOCA_SUCCESS)
		goto destroy_queue;
	engine->completed = 0;
	engine->failed = false;
	return DOCA_SUCCESS;

destroy_queue:
	dpumap_queue_destroy(engine->queue);
put_events:
	dpumap_pe_put_events(engine->ctx.pe, engine->events);
	return result;
}

doca_error_t dpumap_engine_start(struct doca_ctx *ctx)
{
	struct engine_ctx *engine = dpumap_engine_of(ctx);
	doca_error_t result = DOCA_SUCCESS;

	if (!num_tasks(engine))
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s context %p: configure its tasks (..._set_conf()) before "
				   "starting it",
				   engine->ops->what, (void *)ctx);
	for (uint32_t kind = 0; kind < engine->num_kinds && result == DOCA_SUCCESS; kind++)
		if (engine->pools[kind].pool.num_tasks)
			result = dpumap_task_pool_create(&engine->pools[kind].pool, ctx,
							 engine->ops->task_size);
	return result == DOCA_SUCCESS ? create_queue(engine) : result;
}

doca_error_t dpumap_engine_stop(struct doca_ctx *ctx)
{
	struct engine_ctx *engine = dpumap_engine_of(ctx);
	doca_error_t result = dpumap_queue_destroy(engine->queue);

	if (result != DOCA_SUCCESS)
		return result;
	dpumap_sq_close(engine->sq);
	dpumap_pe_put_events(ctx->pe, engine->events);
	return DOCA_SUCCESS;
}

void dpumap_engine_free(struct doca_ctx *ctx)
{
	struct engine_ctx *engine = dpumap_engine_of(ctx);

	for (uint32_t kind = 0; kind < engine->num_kinds; kind++)
		dpumap_task_pool_destroy(&engine->pools[kind].pool);
	free(engine);
}

/* --- submitting ------------------------------------------------------------------------------- */

__attribute__((cold, noinline)) static doca_error_t
refuse_access(const struct engine_ctx *engine, const struct doca_buf *buf, dpumap_desc_status_t why)
{
	if (why == DPUMAP_DESC_ERR_DENIED)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "%s task: map %p does not permit the access", engine->ops->what,
				   (const void *)buf->mmap);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s task: buf %p is outside map %p",
			   engine->ops->what, (const void *)buf, (const void *)buf->mmap);
}

doca_error_t dpumap_engine_find_key(const struct engine_ctx *engine, const struct doca_buf *buf,
				    uint32_t op, struct engine_piece *piece)
{
	const struct dpumap_region *region = NULL;
	dpumap_desc_status_t status;
	doca_error_t result = dpumap_mmap_resolve(buf->mmap, engine->ctx.dev, &region);

	if (!region)
		return result;
	status = dpumap_mmap_check_ops(buf->mmap, piece->at.addr, piece->at.len, op);
	if (status != DPUMAP_DESC_OK)
		return refuse_access(engine, buf, status);
	piece->key = dpumap_sq_key(region);
	piece->at.key = &piece->key;
	return DOCA_SUCCESS;
}

void dpumap_engine_log_bufs(const struct engine_ctx *engine, const struct doca_buf *src,
			    const struct doca_buf *dst)
{
	if (!src || !dst)
		dpumap_log_line(DPUMAP_LOG_ERROR, DOCA_ERROR_INVALID_VALUE,
				"%s task: the %s buf is NULL", engine->ops->what,
				src ? "destination" : "source");
	else
		dpumap_log_line(DPUMAP_LOG_ERROR, DOCA_ERROR_INVALID_VALUE,
				"%s task: the %s is a list of bufs, and must be one buf",
				engine->ops->what, src->next ? "source" : "destination");
}

struct engine_task *dpumap_engine_take(struct engine_ctx *engine, uint32_t kind,
				       union doca_data user_data, doca_error_t *why,
				       const char *function)
{
	struct task_pool *pool = &engine->pools[kind].pool;
	struct engine_task *task;

	if (doca_unlikely(!dpumap_task_pool_has_task(pool, &engine->ctx))) {
		*why = dpumap_task_pool_refuse(pool, &engine->ctx, function);
		return NULL;
	}
	task = task_of(dpumap_task_pool_take(pool, user_data));
	task->kind = kind;
	*why = DOCA_SUCCESS;
	return task;
}

void dpumap_engine_flush(struct doca_ctx *ctx)
{
	dpumap_sq_flush(dpumap_engine_of(ctx)->sq);
}

/* --- completing ------------------------------------------------------------------------------- */

static inline bool is_finished(const struct engine_ctx *engine, const struct doca_task *task)
{
	return (int32_t)(engine->completed - task_of(task)->number) > 0;
}

/* The last work request that is completed has failed. */
__attribute__((cold, noinline)) static void fail_last(struct engine_ctx *engine,
						      const struct dpumap_sq_completion *completion)
{
	struct doca_task *task = engine->submitted.first;

	while (task && task_of(task)->number + 1 != completion->end)
		task = task->next;
	if (!task)
		return;
	task->status = completion->status;
	engine->failed = !completion->data;
	if (completion->data)
		engine->ops->log_data_error(task, completion->data);
}

/* Take one completion; false if there is none. */
static bool take_completion(struct engine_ctx *engine)
{
	struct dpumap_sq_completion completion;

	if (!dpumap_sq_poll(engine->sq, &completion))
		return false;
	engine->completed = completion.end;
	if (doca_unlikely(completion.status != DOCA_SUCCESS))
		fail_last(engine, &completion);
	return true;
}

static bool has_finished(struct engine_ctx *engine)
{
	const struct doca_task *task = engine->submitted.first;

	if (!task)
		return false;
	while (!is_finished(engine, task))
		if (!take_completion(engine))
			return false;
	return true;
}

bool dpumap_engine_is_ready(struct doca_ctx *ctx)
{
	return has_finished(dpumap_engine_of(ctx));
}

struct doca_task *dpumap_engine_poll(struct doca_ctx *ctx)
{
	struct engine_ctx *engine = dpumap_engine_of(ctx);

	if (!has_finished(engine))
		return NULL;
	if (doca_unlikely(engine->failed))
		dpumap_ctx_begin_stop(ctx);
	return dpumap_task_list_take(&engine->submitted);
}

void dpumap_engine_complete(struct doca_task *task, bool good)
{
	const struct engine_pool *pool = (const struct engine_pool *)task->pool;

	if (!dpumap_task_complete_node(task))
		dpumap_engine_of(task->ctx)->ops->call[task_of(task)->kind](
			task_of(task), good ? pool->success : pool->error);
}

doca_error_t dpumap_engine_arm(struct doca_ctx *ctx)
{
	dpumap_sq_arm(dpumap_engine_of(ctx)->sq);
	return DOCA_SUCCESS;
}

void dpumap_engine_enter_graph(struct doca_ctx *ctx)
{
	(void)ctx;
}
