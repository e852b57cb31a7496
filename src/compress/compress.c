/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "compress/compress.h"

#include <stdlib.h>

#include "log/log.h"

static const struct engine_ops engine_ops = {
	.what = "compress",
	.task_size = sizeof(struct compress_task),
	.open = dpumap_sq_open_streams,
	.log_data_error = dpumap_compress_log_data_error,
	.call = dpumap_compress_calls,
};

static const struct ctx_ops compress_ops = {
	.name = "compress",
	.submit = dpumap_compress_submit,
	.check = dpumap_compress_check,
	.complete = dpumap_compress_complete,
	ENGINE_CTX_OPS,
};

static void find_kinds(struct doca_compress *compress, const struct dpumap_caps *caps)
{
	for (unsigned int kind = 0; kind < COMPRESS_NUM_KINDS; kind++) {
		compress->max_len[kind] = dpumap_compress_max_len(caps, (enum compress_kind)kind);
		compress->pools[kind].is_supported = compress->max_len[kind];
	}
	compress->engine.pools = compress->pools;
	compress->engine.num_kinds = COMPRESS_NUM_KINDS;
	compress->is_newer = caps->engine & DPUMAP_ENGINE_NEWER;
}

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
	find_kinds(created, caps);
	dpumap_engine_init(&created->engine, &compress_ops, &engine_ops, dev);
	*compress = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_compress_destroy(struct doca_compress *compress)
{
	if (!compress)
		return dpumap_fail_null(__func__);
	return dpumap_ctx_destroy(&compress->engine.ctx);
}

struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress)
{
	return compress ? &compress->engine.ctx : NULL;
}

doca_error_t doca_compress_cap_get_max_num_tasks(struct doca_compress *compress,
						 uint32_t *max_num_tasks)
{
	return dpumap_engine_get_max_tasks(compress ? &compress->engine : NULL, max_num_tasks,
					   __func__);
}
