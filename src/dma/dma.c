/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dma/dma.h"

#include <stdlib.h>

#include "core/dev/caps.h"
#include "core/pe/pe.h"
#include "log/log.h"

static struct doca_dma *dma_of(struct doca_ctx *ctx)
{
	return (struct doca_dma *)ctx;
}

/* At least enough for the pieces of one task with long lists. */
static uint32_t queue_depth(const struct doca_dma *dma)
{
	uint32_t max = dpumap_device_caps(dma->ctx.dev->device)->max_queue_depth;
	uint32_t tasks = dma->pool.num_tasks;
	uint32_t depth = tasks < DPUMAP_MAX_LIST_LEN ? DPUMAP_MAX_LIST_LEN : tasks;

	return depth < max ? depth : max;
}

static doca_error_t create_queue(struct doca_dma *dma)
{
	struct dpumap_queue_attr attr = {
		.depth = queue_depth(dma),
		.vector = dma->ctx.vector,
	};
	doca_error_t result;

	result = dpumap_queue_check_copies(dma->ctx.dev->device);
	if (result == DOCA_SUCCESS)
		result = dpumap_pe_get_events(dma->ctx.pe, dma->ctx.dev, &dma->events);
	if (result != DOCA_SUCCESS)
		return result;
	attr.events = dma->events;
	result = dpumap_queue_create(dma->ctx.dev->device, &attr, &dma->queue);
	if (result != DOCA_SUCCESS)
		goto put_events;
	result = dpumap_sq_open(dma->queue, &dma->sq);
	if (result != DOCA_SUCCESS)
		goto destroy_queue;
	dma->max_len = dpumap_queue_max_len(dma->queue);
	dma->fast_max_len = dma->sq ? dma->max_len : 0;
	dma->posted = dma->completed = 0;
	dma->failed = false;
	return DOCA_SUCCESS;

destroy_queue:
	dpumap_queue_destroy(dma->queue);
put_events:
	dpumap_pe_put_events(dma->ctx.pe, dma->events);
	return result;
}

static doca_error_t start(struct doca_ctx *ctx)
{
	struct doca_dma *dma = dma_of(ctx);
	doca_error_t result;

	if (!dma->pool.num_tasks)
		return dpumap_fail(
			DOCA_ERROR_BAD_STATE,
			"DMA context %p: call doca_dma_task_memcpy_set_conf() before starting it",
			(void *)ctx);
	dma->success_cb = dma->user_success_cb;
	result = dpumap_task_pool_create(&dma->pool, ctx, sizeof(struct doca_dma_task_memcpy));
	if (result != DOCA_SUCCESS)
		return result;
	return create_queue(dma);
}

static doca_error_t stop(struct doca_ctx *ctx)
{
	struct doca_dma *dma = dma_of(ctx);
	doca_error_t result;

	result = dpumap_queue_destroy(dma->queue);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_sq_close(dma->sq);
	dpumap_pe_put_events(ctx->pe, dma->events);
	return DOCA_SUCCESS;
}

static void free_dma(struct doca_ctx *ctx)
{
	struct doca_dma *dma = dma_of(ctx);

	dpumap_task_pool_destroy(&dma->pool);
	free(dma);
}

static doca_error_t arm(struct doca_ctx *ctx)
{
	struct doca_dma *dma = dma_of(ctx);

	if (!dma->sq)
		return dpumap_queue_arm(dma->queue);
	dpumap_sq_arm(dma->sq);
	return DOCA_SUCCESS;
}

static const struct ctx_ops dma_ops = {
	.name = "DMA",
	.start = start,
	.stop = stop,
	.free = free_dma,
	.submit = dpumap_dma_task_submit,
	.check = dpumap_dma_task_check,
	.flush = dpumap_dma_flush,
	.progress = dpumap_dma_task_progress,
	.complete = dpumap_dma_task_complete,
	.enter_graph = dpumap_dma_enter_graph,
	.arm = arm,
	.is_ready = dpumap_dma_is_ready,
};

doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma)
{
	struct doca_dma *created;

	if (!dev || !dma)
		return dpumap_fail_null(__func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a DMA context");
	dpumap_ctx_init(&created->ctx, &dma_ops, dev);
	*dma = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_destroy(struct doca_dma *dma)
{
	if (!dma)
		return dpumap_fail_null(__func__);
	return dpumap_ctx_destroy(&dma->ctx);
}

struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma)
{
	return dma ? &dma->ctx : NULL;
}

doca_error_t doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo)
{
	struct dpumap_caps caps;
	doca_error_t result;

	if (!devinfo)
		return dpumap_fail_null(__func__);
	result = dpumap_hca_get_caps(devinfo->hca, &caps);
	if (result == DOCA_SUCCESS && !caps.max_copy_len)
		result = dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s does not support DMA",
					  dpumap_hca_name(devinfo->hca));
	return result;
}

doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *devinfo,
						       uint64_t *max_buf_size)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, max_buf_size, &caps);

	if (result == DOCA_SUCCESS)
		*max_buf_size = caps.max_copy_len;
	return result;
}

doca_error_t doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							   uint32_t *max_buf_list_len)
{
	if (!devinfo || !max_buf_list_len)
		return dpumap_fail_null(__func__);
	*max_buf_list_len = DPUMAP_MAX_LIST_LEN;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma, uint32_t *max_num_tasks)
{
	if (!dma || !max_num_tasks)
		return dpumap_fail_null(__func__);
	*max_num_tasks = dpumap_device_caps(dma->ctx.dev->device)->max_queue_depth;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_task_memcpy_set_conf(struct doca_dma *dma,
					   doca_dma_task_memcpy_completion_cb_t task_completion_cb,
					   doca_dma_task_memcpy_completion_cb_t task_error_cb,
					   uint32_t num_memcpy_tasks)
{
	uint32_t max;
	doca_error_t result;

	if (!dma || !task_completion_cb || !task_error_cb)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&dma->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	max = dpumap_device_caps(dma->ctx.dev->device)->max_queue_depth;
	result = dpumap_task_pool_configure(&dma->pool, &dma->ctx, num_memcpy_tasks, max);
	if (result != DOCA_SUCCESS)
		return result;
	dma->user_success_cb = task_completion_cb;
	dma->error_cb = task_error_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_dma_get_gpu_handle(struct doca_dma *dma, struct doca_gpu_dma **gpu_dma)
{
	if (!dma || !gpu_dma)
		return dpumap_fail_null(__func__);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: contexts are driven by the CPU only",
			   __func__);
}

doca_error_t doca_dma_set_ordered_completions(struct doca_dma *dma, uint8_t ordered_completions)
{
	doca_error_t result;

	if (!dma)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&dma->ctx, __func__);
	if (result == DOCA_SUCCESS)
		dma->ordered = !!ordered_completions;
	return result;
}

doca_error_t doca_dma_get_ordered_completions(struct doca_dma *dma, uint8_t *ordered_completions)
{
	if (!dma || !ordered_completions)
		return dpumap_fail_null(__func__);
	*ordered_completions = dma->ordered;
	return DOCA_SUCCESS;
}
