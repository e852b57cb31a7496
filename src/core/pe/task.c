/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/pe/ctx.h"
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

__attribute__((cold, noinline)) static void refuse_free(const struct doca_task *task)
{
	dpumap_log(DPUMAP_LOG_ERROR, "task %p cannot be freed: %s", (const void *)task,
		   task->submitted ? "its callback has not run yet" : "it is freed already");
}

/* The context may be waiting for this task to become IDLE. */
static __attribute__((noinline)) void free_and_try_stop(struct doca_task *task)
{
	struct doca_ctx *ctx = dpumap_ctx_get(task->ctx);

	ctx->ops->release(task);
	dpumap_ctx_try_stop(ctx);
	dpumap_ctx_put(ctx);
}

/* A task in flight, or one that is freed already. */
__attribute__((cold, noinline)) static void free_unusual(struct doca_task *task)
{
	struct doca_ctx *ctx = task->ctx;

	if (!task->allocated || !ctx->ops->free_inflight || !ctx->ops->free_inflight(task)) {
		refuse_free(task);
		return;
	}
	task->submitted = false;
	task->allocated = false;
	ctx->num_inflight--;
	ctx->num_allocated--;
	dpumap_ctx_get(ctx);
	dpumap_ctx_try_stop(ctx);
	dpumap_ctx_put(ctx);
}

void doca_task_free(struct doca_task *task)
{
	struct doca_ctx *ctx;

	if (doca_unlikely(!task))
		return;
	if (doca_unlikely(task->submitted || !task->allocated)) {
		free_unusual(task);
		return;
	}
	ctx = task->ctx;
	task->allocated = false;
	ctx->num_allocated--;
	if (doca_likely(ctx->state != DOCA_CTX_STATE_STOPPING))
		ctx->ops->release(task);
	else
		free_and_try_stop(task);
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
