/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/pe/task_pool.h"

#include "log/log.h"

__attribute__((cold, noinline)) static doca_error_t refuse(const struct doca_task *task)
{
	return dpumap_fail(DOCA_ERROR_BAD_STATE, "task %p: its %s context %p is not running",
			   (const void *)task, task->ctx->ops->name, (void *)task->ctx);
}

static inline doca_error_t submit(struct doca_task *task, uint32_t flags)
{
	struct doca_ctx *ctx = task->ctx;

	if (doca_unlikely(ctx->state != DOCA_CTX_STATE_RUNNING))
		return refuse(task);
	task->submitted = true;
	ctx->num_inflight++;
	return ctx->ops->submit(task, flags);
}

doca_error_t doca_task_submit(struct doca_task *task)
{
	return submit(task, DOCA_TASK_SUBMIT_FLAG_FLUSH);
}

doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags)
{
	return submit(task, flags);
}

doca_error_t doca_task_try_submit(struct doca_task *task)
{
	doca_error_t result;

	if (!task)
		return dpumap_fail_null(__func__);
	if (task->submitted)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "task %p is submitted already",
				   (void *)task);
	if (task->ctx->state != DOCA_CTX_STATE_RUNNING)
		return refuse(task);
	result = task->ctx->ops->check(task);
	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_INVALID_VALUE;
	return submit(task, DOCA_TASK_SUBMIT_FLAG_FLUSH);
}

/* --- freeing ---------------------------------------------------------------------------------- */

static inline void release(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;

	task->allocated = DPUMAP_TASK_FREE;
	ctx->num_allocated--;
	if (doca_unlikely(ctx->ops->release != NULL))
		ctx->ops->release(task);
	dpumap_task_pool_put(task);
}

/* The context may be waiting for this task to become IDLE. */
static __attribute__((noinline)) void free_and_try_stop(struct doca_task *task)
{
	struct doca_ctx *ctx = dpumap_ctx_get(task->ctx);

	release(task);
	dpumap_ctx_try_stop(ctx);
	dpumap_ctx_put(ctx);
}

static void free_inflight(struct doca_task *task)
{
	struct doca_ctx *ctx = dpumap_ctx_get(task->ctx);

	task->submitted = false;
	task->allocated = DPUMAP_TASK_FREE;
	ctx->num_inflight--;
	ctx->num_allocated--;
	dpumap_ctx_try_stop(ctx);
	dpumap_ctx_put(ctx);
}

/* A program that frees everything after an error does so with many tasks. */
static void free_early(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;

	task->allocated = DPUMAP_TASK_FREED_EARLY;
	if (ctx->has_early)
		return;
	ctx->has_early = ctx->is_slow = true;
	dpumap_log(
		DPUMAP_LOG_WARNING,
		"task %p of %s context %p is freed before its callback has run: the library frees "
		"it after its callback, and other such tasks of the context without a message",
		(void *)task, ctx->ops->name, (void *)ctx);
}

/* The callback may have submitted it again. */
void dpumap_task_release_early(struct doca_task *task)
{
	if (task->allocated == DPUMAP_TASK_FREED_EARLY && !task->submitted)
		free_and_try_stop(task);
}

/* A task in flight, one whose callback is running after it was freed early, or a free one. */
__attribute__((cold, noinline)) static void free_slow(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;

	if (task->allocated == DPUMAP_TASK_FREED_EARLY)
		dpumap_task_release_early(task);
	else if (!task->allocated)
		dpumap_log(DPUMAP_LOG_ERROR, "task %p cannot be freed: it is freed already",
			   (void *)task);
	else if (ctx->ops->frees_inflight)
		free_inflight(task);
	else
		free_early(task);
}

void doca_task_free(struct doca_task *task)
{
	struct doca_ctx *ctx;

	if (doca_unlikely(!task))
		return;
	if (doca_unlikely(task->submitted || task->allocated != DPUMAP_TASK_ALLOCATED)) {
		free_slow(task);
		return;
	}
	ctx = task->ctx;
	if (doca_unlikely(ctx->state == DOCA_CTX_STATE_STOPPING)) {
		free_and_try_stop(task);
		return;
	}
	release(task);
}

doca_error_t doca_task_get_status(const struct doca_task *task)
{
	return task ? task->status : dpumap_fail_null(__func__);
}

void doca_task_set_user_data(struct doca_task *task, union doca_data user_data)
{
	task->user_data = user_data;
}

union doca_data doca_task_get_user_data(const struct doca_task *task)
{
	return task->user_data;
}

struct doca_ctx *doca_task_get_ctx(const struct doca_task *task)
{
	return task->ctx;
}
