/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "compress/compress.h"

#include <stdlib.h>

#include "core/pe/pe.h"
#include "log/log.h"

#define MAX_TASKS 8192

/* Of all kinds together: each task has a place in the queue. */
static uint32_t max_tasks(const struct doca_compress *compress)
{
	uint32_t depth = dpumap_device_caps(compress->ctx.dev->device)->max_queue_depth;

	return depth < MAX_TASKS ? depth : MAX_TASKS;
}

static uint32_t num_tasks(const struct doca_compress *compress)
{
	uint32_t sum = 0;

	for (unsigned int kind = 0; kind < COMPRESS_NUM_KINDS; kind++)
		sum += compress->pools[kind].pool.num_tasks;
	return sum;
}

static doca_error_t create_queue(struct doca_compress *compress)
{
	struct dpumap_device *device = compress->ctx.dev->device;
	struct dpumap_queue_attr attr = {
		.depth = num_tasks(compress),
		.vector = compress->ctx.vector,
	};
	doca_error_t result;

	result = dpumap_pe_get_events(compress->ctx.pe, compress->ctx.dev, &compress->events);
	if (result != DOCA_SUCCESS)
		return result;
	attr.events = compress->events;
	result = dpumap_queue_create(device, &attr, &compress->queue);
	if (result != DOCA_SUCCESS)
		goto put_events;
	result = dpumap_sq_open_streams(compress->queue, &compress->sq);
	if (result != DOCA_SUCCESS)
		goto destroy_queue;
	compress->completed = 0;
	compress->failed = false;
	return DOCA_SUCCESS;

destroy_queue:
	dpumap_queue_destroy(compress->queue);
put_events:
	dpumap_pe_put_events(compress->ctx.pe, compress->events);
	return result;
}

static doca_error_t start(struct doca_ctx *ctx)
{
	struct doca_compress *compress = dpumap_compress_of(ctx);
	doca_error_t result = DOCA_SUCCESS;

	if (!num_tasks(compress))
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "compress context %p: call doca_compress_task_..._set_conf() "
				   "before starting it",
				   (void *)ctx);
	for (unsigned int kind = 0; kind < COMPRESS_NUM_KINDS && result == DOCA_SUCCESS; kind++)
		if (compress->pools[kind].pool.num_tasks)
			result = dpumap_task_pool_create(&compress->pools[kind].pool, ctx,
							 sizeof(struct compress_task));
	return result == DOCA_SUCCESS ? create_queue(compress) : result;
}

static doca_error_t stop(struct doca_ctx *ctx)
{
	struct doca_compress *compress = dpumap_compress_of(ctx);
	doca_error_t result = dpumap_queue_destroy(compress->queue);

	if (result != DOCA_SUCCESS)
		return result;
	dpumap_sq_close(compress->sq);
	dpumap_pe_put_events(ctx->pe, compress->events);
	return DOCA_SUCCESS;
}

static void free_compress(struct doca_ctx *ctx)
{
	struct doca_compress *compress = dpumap_compress_of(ctx);

	for (unsigned int kind = 0; kind < COMPRESS_NUM_KINDS; kind++)
		dpumap_task_pool_destroy(&compress->pools[kind].pool);
	free(compress);
}

static doca_error_t arm(struct doca_ctx *ctx)
{
	dpumap_sq_arm(dpumap_compress_of(ctx)->sq);
	return DOCA_SUCCESS;
}

static const struct ctx_ops compress_ops = {
	.name = "compress",
	.survives_failure = true,
	.start = start,
	.stop = stop,
	.free = free_compress,
	.submit = dpumap_compress_submit,
	.check = dpumap_compress_check,
	.flush = dpumap_compress_flush,
	.progress = dpumap_ctx_progress,
	.poll = dpumap_compress_poll,
	.complete = dpumap_compress_complete,
	.enter_graph = dpumap_compress_enter_graph,
	.arm = arm,
	.is_ready = dpumap_compress_is_ready,
};

doca_error_t doca_compress_create(struct doca_dev *dev, struct doca_compress **compress)
{
	const struct dpumap_caps *caps;
	struct doca_compress *created;

	if (!dev || !compress)
		return dpumap_fail_null(__func__);
	caps = dpumap_device_caps(dev->device);
	if (!caps->max_compress_len && !caps->max_decompress_len)
		return dpumap_fail(DOCA_ERROR_INITIALIZATION, "%s has no compression engine",
				   dpumap_hca_name(dev->info.hca));
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a compress context");
	created->is_newer = caps->engine & DPUMAP_ENGINE_NEWER;
	dpumap_ctx_init(&created->ctx, &compress_ops, dev);
	*compress = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_compress_destroy(struct doca_compress *compress)
{
	if (!compress)
		return dpumap_fail_null(__func__);
	return dpumap_ctx_destroy(&compress->ctx);
}

struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress)
{
	return compress ? &compress->ctx : NULL;
}

doca_error_t doca_compress_cap_get_max_num_tasks(struct doca_compress *compress,
						 uint32_t *max_num_tasks)
{
	if (!compress || !max_num_tasks)
		return dpumap_fail_null(__func__);
	*max_num_tasks = max_tasks(compress);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_compress_configure(struct doca_compress *compress, enum compress_kind kind,
				       compress_callback *success, compress_callback *error,
				       uint32_t num, const char *function)
{
	const struct dpumap_caps *caps;
	struct compress_pool *pool;
	doca_error_t result;

	if (!compress || !success || !error)
		return dpumap_fail_null(function);
	caps = dpumap_device_caps(compress->ctx.dev->device);
	pool = &compress->pools[kind];
	result = dpumap_ctx_check_idle(&compress->ctx, function);
	if (result != DOCA_SUCCESS)
		return result;
	if (!dpumap_compress_max_len(caps, kind))
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: the engine of %s lacks this",
				   function, dpumap_hca_name(compress->ctx.dev->info.hca));
	result = dpumap_task_pool_configure(&pool->pool, &compress->ctx, num,
					    max_tasks(compress) - num_tasks(compress) +
						    pool->pool.num_tasks);
	if (result != DOCA_SUCCESS)
		return result;
	pool->max_len = dpumap_compress_max_len(caps, kind);
	pool->success = success;
	pool->error = error;
	return DOCA_SUCCESS;
}
