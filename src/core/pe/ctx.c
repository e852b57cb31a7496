/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/pe/ctx.h"

#include <inttypes.h>

#include "core/pe/pe.h"
#include "core/pe/task_pool.h"
#include "log/log.h"

static const char *const state_names[] = {"IDLE", "STARTING", "RUNNING", "STOPPING"};

void dpumap_ctx_init(struct doca_ctx *ctx, const struct ctx_ops *ops, struct doca_dev *dev)
{
	ctx->ops = ops;
	ctx->dev = dev;
	ctx->refs = 1;
	if (dev)
		dpumap_dev_add_user(dev);
}

void dpumap_ctx_release(struct doca_ctx *ctx)
{
	if (ctx->pe)
		dpumap_pe_disconnect(ctx);
	if (ctx->dev)
		dpumap_dev_remove_user(ctx->dev);
	dpumap_ctx_put(ctx);
}

doca_error_t dpumap_ctx_destroy(struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_IDLE)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "%s context %p is %s, with %zu tasks allocated; stop it first",
				   ctx->ops->name, (void *)ctx, state_names[ctx->state],
				   ctx->num_allocated);
	dpumap_ctx_release(ctx);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_ctx_check_idle(const struct doca_ctx *ctx, const char *function)
{
	if (ctx->state == DOCA_CTX_STATE_IDLE)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: %s context %p is %s", function,
			   ctx->ops->name, (const void *)ctx, state_names[ctx->state]);
}

static void set_state(struct doca_ctx *ctx, enum doca_ctx_states next)
{
	enum doca_ctx_states prev = ctx->state;

	ctx->state = next;
	ctx->is_slow = next == DOCA_CTX_STATE_STOPPING || ctx->has_early;
	if (ctx->state_cb)
		ctx->state_cb(ctx->user_data, ctx, prev, next);
}

static doca_error_t stop_now(struct doca_ctx *ctx)
{
	doca_error_t result = ctx->ops->stop(ctx);

	if (result == DOCA_SUCCESS) {
		set_state(ctx, DOCA_CTX_STATE_IDLE);
		return DOCA_SUCCESS;
	}
	if (result != DOCA_ERROR_IN_PROGRESS)
		return DOCA_ERROR_UNEXPECTED;
	if (ctx->state != DOCA_CTX_STATE_STOPPING)
		set_state(ctx, DOCA_CTX_STATE_STOPPING);
	/* The state callback may have stopped it. */
	return ctx->state == DOCA_CTX_STATE_IDLE ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
}

doca_error_t dpumap_ctx_try_stop(struct doca_ctx *ctx)
{
	if (doca_likely(ctx->state != DOCA_CTX_STATE_STOPPING))
		return DOCA_SUCCESS;
	if (ctx->num_inflight || ctx->num_allocated || ctx->busy)
		return DOCA_ERROR_IN_PROGRESS;
	return stop_now(ctx);
}

void dpumap_ctx_catch_up(struct doca_ctx *ctx, struct doca_task *task)
{
	dpumap_ctx_get(ctx);
	if (task)
		dpumap_task_release_early(task);
	dpumap_ctx_try_stop(ctx);
	dpumap_ctx_put(ctx);
}

static void begin_stop(struct doca_ctx *ctx)
{
	if (ctx->ops->flush)
		ctx->ops->flush(ctx);
	if (ctx->ops->begin_stop)
		ctx->ops->begin_stop(ctx);
}

void dpumap_ctx_begin_stop(struct doca_ctx *ctx)
{
	if (ctx->state != DOCA_CTX_STATE_RUNNING)
		return;
	begin_stop(ctx);
	set_state(ctx, DOCA_CTX_STATE_STOPPING);
}

void dpumap_ctx_complete_task(struct doca_ctx *ctx, struct doca_task *task)
{
	dpumap_ctx_get(ctx);
	if (doca_unlikely(task->status != DOCA_SUCCESS) && !ctx->ops->survives_failure)
		dpumap_ctx_begin_stop(ctx);
	dpumap_ctx_before_callback(ctx, task);
	ctx->ops->complete(task);
	dpumap_ctx_after_callback(ctx, task);
	dpumap_ctx_put(ctx);
}

bool dpumap_ctx_progress(struct doca_ctx *ctx)
{
	struct doca_task *task = ctx->ops->poll(ctx);

	if (!task)
		return false;
	dpumap_ctx_complete_task(ctx, task);
	return true;
}

/* Any other failure means that the resources could not be allocated. */
static doca_error_t start_error(doca_error_t result)
{
	switch (result) {
	case DOCA_SUCCESS:
	case DOCA_ERROR_IN_PROGRESS:
	case DOCA_ERROR_IN_USE:
	case DOCA_ERROR_NOT_SUPPORTED:
	case DOCA_ERROR_BAD_STATE:
		return result;
	default:
		return DOCA_ERROR_INITIALIZATION;
	}
}

doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
	doca_error_t result;

	if (!ctx)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (!ctx->pe)
		return dpumap_fail(
			DOCA_ERROR_NOT_CONNECTED,
			"%s context %p has no progress engine: call doca_pe_connect_ctx() first",
			ctx->ops->name, (void *)ctx);
	result = start_error(ctx->ops->start(ctx));
	if (result == DOCA_ERROR_IN_PROGRESS)
		dpumap_pe_wake(ctx->pe);
	if (result == DOCA_SUCCESS)
		set_state(ctx, DOCA_CTX_STATE_RUNNING);
	else if (result == DOCA_ERROR_IN_PROGRESS)
		set_state(ctx, DOCA_CTX_STATE_STARTING);
	return result;
}

/* If a resource cannot be destroyed now, the engine tries again. */
static doca_error_t abort_start(struct doca_ctx *ctx)
{
	doca_error_t result = stop_now(ctx);

	if (result == DOCA_ERROR_UNEXPECTED)
		set_state(ctx, DOCA_CTX_STATE_STOPPING);
	return result;
}

bool dpumap_ctx_poll_start(struct doca_ctx *ctx)
{
	doca_error_t result = ctx->ops->poll_start(ctx);

	if (result == DOCA_ERROR_IN_PROGRESS)
		return false;
	dpumap_ctx_get(ctx);
	if (result == DOCA_SUCCESS)
		set_state(ctx, DOCA_CTX_STATE_RUNNING);
	else
		(void)abort_start(ctx);
	dpumap_ctx_put(ctx);
	return true;
}

static doca_error_t stop(struct doca_ctx *ctx)
{
	if (ctx->state == DOCA_CTX_STATE_IDLE)
		return DOCA_SUCCESS;
	if (ctx->state == DOCA_CTX_STATE_STARTING)
		return abort_start(ctx);
	if (ctx->state == DOCA_CTX_STATE_RUNNING) {
		begin_stop(ctx);
		if (!ctx->num_inflight && !ctx->num_allocated && !ctx->busy)
			return stop_now(ctx);
		set_state(ctx, DOCA_CTX_STATE_STOPPING);
	}
	return dpumap_ctx_try_stop(ctx);
}

doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
	doca_error_t result;

	if (!ctx)
		return dpumap_fail_null(__func__);
	dpumap_ctx_get(ctx);
	result = stop(ctx);
	dpumap_ctx_put(ctx);
	return result;
}

doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx, size_t *num_inflight_tasks)
{
	if (!ctx || !num_inflight_tasks)
		return dpumap_fail_null(__func__);
	*num_inflight_tasks = ctx->num_inflight;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data)
{
	if (!ctx)
		return dpumap_fail_null(__func__);
	ctx->user_data = user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data)
{
	if (!ctx || !user_data)
		return dpumap_fail_null(__func__);
	*user_data = ctx->user_data;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
					   doca_ctx_state_changed_callback_t cb)
{
	if (!ctx)
		return dpumap_fail_null(__func__);
	ctx->state_cb = cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state)
{
	if (!ctx || !state)
		return dpumap_fail_null(__func__);
	*state = ctx->state;
	return DOCA_SUCCESS;
}

void doca_ctx_flush_tasks(struct doca_ctx *ctx)
{
	if (ctx && ctx->state != DOCA_CTX_STATE_IDLE && ctx->ops->flush)
		ctx->ops->flush(ctx);
}

static doca_error_t refuse_datapath(const struct doca_ctx *ctx, const void *device,
				    const char *function)
{
	doca_error_t result;

	if (!ctx || !device)
		return dpumap_fail_null(function);
	result = dpumap_ctx_check_idle(ctx, function);
	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: contexts are driven by the CPU only",
			   function);
}

doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev)
{
	return refuse_datapath(ctx, gpu_dev, __func__);
}

doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev)
{
	return refuse_datapath(ctx, dpa_dev, __func__);
}

/* A context without a device has no completions of one. */
static uint32_t num_vectors(const struct doca_ctx *ctx)
{
	return ctx->dev ? dpumap_device_num_vectors(ctx->dev->device) : 1;
}

doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_ctx *ctx,
						     uint32_t *num_completion_vectors)
{
	if (!ctx || !num_completion_vectors)
		return dpumap_fail_null(__func__);
	*num_completion_vectors = num_vectors(ctx);
	return DOCA_SUCCESS;
}

doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t completion_vector)
{
	uint32_t num;
	doca_error_t result;

	if (!ctx)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	num = num_vectors(ctx);
	if (completion_vector >= num)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s context %p: invalid completion vector %" PRIu32
				   ": there are %" PRIu32,
				   ctx->ops->name, (void *)ctx, completion_vector, num);
	ctx->vector = completion_vector;
	return DOCA_SUCCESS;
}
