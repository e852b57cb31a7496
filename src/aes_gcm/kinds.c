/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The functions of users that both kinds of tasks have alike. */
#include "aes_gcm/aes_gcm.h"

#include "log/log.h"

#define CAPS(name, kind)                                                                       \
	doca_error_t doca_aes_gcm_cap_task_##name##_is_supported(                              \
		const struct doca_devinfo *devinfo)                                            \
	{                                                                                      \
		return dpumap_aes_gcm_is_supported(devinfo, kind, __func__);                   \
	}                                                                                      \
	doca_error_t doca_aes_gcm_cap_task_##name##_is_tag_96_supported(                       \
		const struct doca_devinfo *devinfo)                                            \
	{                                                                                      \
		return dpumap_aes_gcm_has_tag(devinfo, kind, DPUMAP_CRYPTO_TAG_96, __func__);  \
	}                                                                                      \
	doca_error_t doca_aes_gcm_cap_task_##name##_is_tag_128_supported(                      \
		const struct doca_devinfo *devinfo)                                            \
	{                                                                                      \
		return dpumap_aes_gcm_has_tag(devinfo, kind, DPUMAP_CRYPTO_TAG_128, __func__); \
	}                                                                                      \
	doca_error_t doca_aes_gcm_cap_task_##name##_is_key_type_supported(                     \
		const struct doca_devinfo *devinfo, enum doca_aes_gcm_key_type key_type)       \
	{                                                                                      \
		return dpumap_aes_gcm_has_key_type(devinfo, kind, key_type, __func__);         \
	}                                                                                      \
	doca_error_t doca_aes_gcm_cap_task_##name##_get_max_iv_len(                            \
		const struct doca_devinfo *devinfo, uint32_t *max_iv_len)                      \
	{                                                                                      \
		return dpumap_aes_gcm_get_max_iv_len(devinfo, kind, max_iv_len, __func__);     \
	}                                                                                      \
	doca_error_t doca_aes_gcm_cap_task_##name##_get_max_buf_size(                          \
		const struct doca_devinfo *devinfo, uint64_t *max_buf_size)                    \
	{                                                                                      \
		return dpumap_aes_gcm_get_max_len(devinfo, kind, max_buf_size, __func__);      \
	}                                                                                      \
	doca_error_t doca_aes_gcm_cap_task_##name##_get_max_list_buf_num_elem(                 \
		const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem)               \
	{                                                                                      \
		return dpumap_aes_gcm_get_max_list_len(devinfo, kind, max_list_num_elem,       \
						       __func__);                              \
	}

#define FIELD(name, field, type) ENGINE_FIELD(doca_aes_gcm, name, field, type)

#define TASK(name, kind)                                                                          \
	ENGINE_TASK(doca_aes_gcm, name, kind, struct aes_gcm_task)                                \
	FIELD(name, src, const struct doca_buf *)                                                 \
	FIELD(name, dst, struct doca_buf *)                                                       \
	FIELD(name, key, struct doca_aes_gcm_key *)                                               \
	FIELD(name, tag_size, uint32_t)                                                           \
	FIELD(name, aad_size, uint32_t)                                                           \
	doca_error_t doca_aes_gcm_task_##name##_alloc_init(                                       \
		struct doca_aes_gcm *aes_gcm, const struct doca_buf *src_buf,                     \
		struct doca_buf *dst_buf, struct doca_aes_gcm_key *key, const uint8_t *iv,        \
		uint32_t iv_len, uint32_t tag_size, uint32_t aad_size, union doca_data user_data, \
		struct doca_aes_gcm_task_##name **task)                                           \
	{                                                                                         \
		struct doca_aes_gcm_task_##name *taken;                                           \
		doca_error_t result;                                                              \
                                                                                                  \
		if (!aes_gcm || !task)                                                            \
			return dpumap_fail_null(__func__);                                        \
		taken = (struct doca_aes_gcm_task_##name *)dpumap_engine_take(                    \
			&aes_gcm->engine, kind, user_data, &result, __func__);                    \
		if (!taken)                                                                       \
			return result;                                                            \
		taken->task.src = src_buf;                                                        \
		taken->task.dst = dst_buf;                                                        \
		taken->task.key = key;                                                            \
		taken->task.tag_size = tag_size;                                                  \
		taken->task.aad_size = aad_size;                                                  \
		dpumap_aes_gcm_set_iv(&taken->task, iv, iv_len);                                  \
		*task = taken;                                                                    \
		return DOCA_SUCCESS;                                                              \
	}                                                                                         \
	void doca_aes_gcm_task_##name##_set_iv(struct doca_aes_gcm_task_##name *task,             \
					       const uint8_t *iv, uint32_t iv_len)                \
	{                                                                                         \
		dpumap_aes_gcm_set_iv(&task->task, iv, iv_len);                                   \
	}                                                                                         \
	const uint8_t *doca_aes_gcm_task_##name##_get_iv(                                         \
		const struct doca_aes_gcm_task_##name *task, uint32_t *iv_len)                    \
	{                                                                                         \
		*iv_len = task->task.iv_len;                                                      \
		return task->task.iv;                                                             \
	}

CAPS(encrypt, AES_GCM_ENCRYPT)
CAPS(decrypt, AES_GCM_DECRYPT)
TASK(encrypt, AES_GCM_ENCRYPT)
TASK(decrypt, AES_GCM_DECRYPT)

void (*const dpumap_aes_gcm_calls[AES_GCM_NUM_KINDS])(struct engine_task *, engine_callback *) = {
	[AES_GCM_ENCRYPT] = call_encrypt,
	[AES_GCM_DECRYPT] = call_decrypt,
};
