/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "aes_gcm/aes_gcm.h"

#include <stdlib.h>

#include "log/log.h"

static size_t len_of(enum doca_aes_gcm_key_type type)
{
	return type == DOCA_AES_GCM_KEY_256 ? 32 : 16;
}

static doca_error_t check_type(const struct doca_aes_gcm *aes_gcm, enum doca_aes_gcm_key_type type)
{
	const uint32_t need = dpumap_aes_gcm_need(AES_GCM_ENCRYPT, type) |
			      dpumap_aes_gcm_need(AES_GCM_DECRYPT, type);

	if (!need)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "invalid type of keys %d", (int)type);
	if (!(aes_gcm->crypto & need))
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s does not support keys of type %d",
				   dpumap_hca_name(aes_gcm->engine.ctx.dev->info.hca), (int)type);
	return DOCA_SUCCESS;
}

doca_error_t doca_aes_gcm_key_create(struct doca_aes_gcm *aes_gcm, const void *raw_key,
				     enum doca_aes_gcm_key_type key_type,
				     struct doca_aes_gcm_key **key)
{
	struct doca_aes_gcm_key *created;
	doca_error_t result;

	if (!aes_gcm || !raw_key || !key)
		return dpumap_fail_null(__func__);
	result = check_type(aes_gcm, key_type);
	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for an AES-GCM key");
	result = dpumap_dek_create(aes_gcm->engine.ctx.dev->device, raw_key, len_of(key_type),
				   &created->dek);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	created->aes_gcm = aes_gcm;
	created->type = key_type;
	aes_gcm->num_keys++;
	*key = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_aes_gcm_key_destroy(struct doca_aes_gcm_key *key)
{
	doca_error_t result;

	if (!key)
		return dpumap_fail_null(__func__);
	if (key->num_inflight)
		return dpumap_fail(DOCA_ERROR_IN_USE, "AES-GCM key %p: %zu tasks in flight use it",
				   (void *)key, key->num_inflight);
	result = dpumap_dek_destroy(key->aes_gcm->engine.ctx.dev->device, &key->dek);
	if (result != DOCA_SUCCESS)
		return result;
	key->aes_gcm->num_keys--;
	free(key);
	return DOCA_SUCCESS;
}
