/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_mmap_advise: tasks that invalidate caches. Memory is coherent with devices on the machines
 * that this library supports, so a submitted task is finished at once. It waits in a list until
 * progress reports it.
 */
#include <stdlib.h>

#include <doca_mmap_advise.h>

#include "core/buf/buf.h"
#include "core/mmap/resolve.h"
#include "core/pe/pe.h"
#include "core/pe/task_pool.h"
#include "log/log.h"

struct doca_mmap_advise_task_invalidate_cache {
	struct doca_task base;
	struct doca_buf *buf;
};

struct doca_mmap_advise {
	struct doca_ctx ctx;
	doca_mmap_advise_task_invalidate_cache_completion_cb_t success_cb, error_cb;
	struct task_pool pool;
	struct task_list submitted;
};

static struct doca_mmap_advise *advise_of(const struct doca_ctx *ctx)
{
	return (struct doca_mmap_advise *)ctx;
}

static struct doca_mmap_advise_task_invalidate_cache *task_of(const struct doca_task *task)
{
	return (struct doca_mmap_advise_task_invalidate_cache *)task;
}

/* --- the context ------------------------------------------------------------------------------ */

static doca_error_t start(struct doca_ctx *ctx)
{
	struct task_pool *pool = &advise_of(ctx)->pool;

	if (!pool->num_tasks)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "advise context %p: call "
				   "doca_mmap_advise_task_invalidate_cache_set_conf() before "
				   "starting it",
				   (void *)ctx);
	return dpumap_task_pool_create(pool, ctx,
				       sizeof(struct doca_mmap_advise_task_invalidate_cache));
}

static doca_error_t stop(struct doca_ctx *ctx)
{
	(void)ctx;
	return DOCA_SUCCESS;
}

static void free_advise(struct doca_ctx *ctx)
{
	struct doca_mmap_advise *advise = advise_of(ctx);

	dpumap_task_pool_destroy(&advise->pool);
	free(advise);
}

static doca_error_t check(const struct doca_task *task)
{
	const struct doca_buf *buf = task_of(task)->buf;
	const struct dpumap_region *region;
	doca_error_t result = DOCA_SUCCESS;

	if (!buf)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "advise task: the buf is NULL");
	for (; buf && result == DOCA_SUCCESS; buf = buf->next) {
		if (!buf->refcount)
			return dpumap_fail(DOCA_ERROR_BAD_STATE,
					   "advise task: buf %p is not in use", (const void *)buf);
		result = dpumap_mmap_resolve(buf->mmap, task->ctx->dev, &region);
	}
	return result;
}

static doca_error_t submit(struct doca_task *task, uint32_t flags)
{
	(void)flags;
	task->status = check(task);
	dpumap_task_list_append(&advise_of(task->ctx)->submitted, task);
	dpumap_pe_wake(task->ctx->pe);
	return DOCA_SUCCESS;
}

static struct doca_task *poll_first(struct doca_ctx *ctx)
{
	return dpumap_task_list_take(&advise_of(ctx)->submitted);
}

static void complete(struct doca_task *base)
{
	const struct doca_mmap_advise *advise = advise_of(base->ctx);

	if (base->status == DOCA_SUCCESS)
		advise->success_cb(task_of(base), base->user_data, advise->ctx.user_data);
	else
		advise->error_cb(task_of(base), base->user_data, advise->ctx.user_data);
}

static doca_error_t arm(struct doca_ctx *ctx)
{
	(void)ctx;
	return DOCA_SUCCESS;
}

static bool is_ready(struct doca_ctx *ctx)
{
	return advise_of(ctx)->submitted.first;
}

static const struct ctx_ops advise_ops = {
	.name = "advise",
	.start = start,
	.stop = stop,
	.free = free_advise,
	.submit = submit,
	.check = check,
	.progress = dpumap_ctx_progress,
	.poll = poll_first,
	.complete = complete,
	.arm = arm,
	.is_ready = is_ready,
};

doca_error_t doca_mmap_advise_create(struct doca_dev *dev, struct doca_mmap_advise **mmap_advise)
{
	struct doca_mmap_advise *created;

	if (!dev || !mmap_advise)
		return dpumap_fail_null(__func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for an advise context");
	dpumap_ctx_init(&created->ctx, &advise_ops, dev);
	*mmap_advise = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_advise_destroy(struct doca_mmap_advise *mmap_advise)
{
	if (!mmap_advise)
		return dpumap_fail_null(__func__);
	return dpumap_ctx_destroy(&mmap_advise->ctx);
}

struct doca_ctx *doca_mmap_advise_as_ctx(struct doca_mmap_advise *mmap_advise)
{
	return mmap_advise ? &mmap_advise->ctx : NULL;
}

doca_error_t
doca_mmap_advise_cap_task_cache_invalidate_is_supported(const struct doca_devinfo *devinfo)
{
	return devinfo ? DOCA_SUCCESS : dpumap_fail_null(__func__);
}

doca_error_t
doca_mmap_advise_task_cache_invalidate_get_max_buf_size(const struct doca_devinfo *devinfo,
							uint64_t *buf_size)
{
	if (!devinfo || !buf_size)
		return dpumap_fail_null(__func__);
	*buf_size = UINT64_MAX;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_advise_task_invalidate_cache_set_conf(
	struct doca_mmap_advise *mmap_advise,
	doca_mmap_advise_task_invalidate_cache_completion_cb_t success_cb,
	doca_mmap_advise_task_invalidate_cache_completion_cb_t error_cb, uint32_t num_tasks)
{
	doca_error_t result;

	if (!mmap_advise || !success_cb || !error_cb)
		return dpumap_fail_null(__func__);
	if (mmap_advise->ctx.state != DOCA_CTX_STATE_IDLE)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "%s: advise context %p is not IDLE: stop it first", __func__,
				   (void *)mmap_advise);
	result = dpumap_task_pool_configure(&mmap_advise->pool, &mmap_advise->ctx, num_tasks,
					    UINT32_MAX);
	if (result != DOCA_SUCCESS)
		return result;
	mmap_advise->success_cb = success_cb;
	mmap_advise->error_cb = error_cb;
	return DOCA_SUCCESS;
}

/* --- tasks ------------------------------------------------------------------------------------ */

doca_error_t doca_mmap_advise_task_invalidate_cache_alloc_init(
	struct doca_mmap_advise *mmap_advise, struct doca_buf *buf, union doca_data user_data,
	struct doca_mmap_advise_task_invalidate_cache **task)
{
	struct doca_mmap_advise_task_invalidate_cache *taken;

	if (!mmap_advise || !task)
		return dpumap_fail_null(__func__);
	if (!dpumap_task_pool_has_task(&mmap_advise->pool, &mmap_advise->ctx))
		return dpumap_task_pool_refuse(&mmap_advise->pool, &mmap_advise->ctx, __func__);
	taken = task_of(dpumap_task_pool_take(&mmap_advise->pool, user_data));
	taken->buf = buf;
	*task = taken;
	return DOCA_SUCCESS;
}

struct doca_task *doca_mmap_advise_task_invalidate_cache_as_doca_task(
	struct doca_mmap_advise_task_invalidate_cache *task)
{
	return task ? &task->base : NULL;
}

void doca_mmap_advise_task_invalidate_cache_set_buf(
	struct doca_mmap_advise_task_invalidate_cache *task, struct doca_buf *buf)
{
	task->buf = buf;
}

struct doca_buf *doca_mmap_advise_task_invalidate_cache_get_buf(
	const struct doca_mmap_advise_task_invalidate_cache *task)
{
	return task->buf;
}
