/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "aes_gcm/aes_gcm.h"

#include <stdlib.h>

#include "log/log.h"

static const struct engine_ops engine_ops = {
	.what = "AES-GCM",
	.task_size = sizeof(struct aes_gcm_task),
	.open = dpumap_sq_open_crypto,
	.log_data_error = dpumap_aes_gcm_log_data_error,
	.call = dpumap_aes_gcm_calls,
};

static const struct ctx_ops aes_gcm_ops = {
	.name = "AES-GCM",
	.submit = dpumap_aes_gcm_submit,
	.check = dpumap_aes_gcm_check,
	.complete = dpumap_aes_gcm_complete,
	ENGINE_CTX_OPS,
};

doca_error_t doca_aes_gcm_create(struct doca_dev *dev, struct doca_aes_gcm **aes_gcm)
{
	const struct dpumap_caps *caps;
	struct doca_aes_gcm *created;

	if (!dev || !aes_gcm)
		return dpumap_fail_null(__func__);
	caps = dpumap_device_caps(dev->device);
	if (!caps->max_crypto_len)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s has no engine for AES-GCM",
				   dpumap_hca_name(dev->info.hca));
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for an AES-GCM context");
	created->max_len = caps->max_crypto_len;
	created->crypto = caps->crypto;
	created->engine.pools = created->pools;
	created->engine.num_kinds = AES_GCM_NUM_KINDS;
	for (unsigned int kind = 0; kind < AES_GCM_NUM_KINDS; kind++)
		created->pools[kind].is_supported =
			dpumap_aes_gcm_has_kind(caps->crypto, (enum aes_gcm_kind)kind);
	dpumap_engine_init(&created->engine, &aes_gcm_ops, &engine_ops, dev);
	*aes_gcm = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_aes_gcm_destroy(struct doca_aes_gcm *aes_gcm)
{
	if (!aes_gcm)
		return dpumap_fail_null(__func__);
	if (aes_gcm->num_keys)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "AES-GCM context %p has %zu keys; call "
				   "doca_aes_gcm_key_destroy() first",
				   (void *)aes_gcm, aes_gcm->num_keys);
	return dpumap_ctx_destroy(&aes_gcm->engine.ctx);
}

struct doca_ctx *doca_aes_gcm_as_ctx(struct doca_aes_gcm *aes_gcm)
{
	return aes_gcm ? &aes_gcm->engine.ctx : NULL;
}

doca_error_t doca_aes_gcm_cap_get_max_num_tasks(struct doca_aes_gcm *aes_gcm,
						uint32_t *max_num_tasks)
{
	return dpumap_engine_get_max_tasks(aes_gcm ? &aes_gcm->engine : NULL, max_num_tasks,
					   __func__);
}
