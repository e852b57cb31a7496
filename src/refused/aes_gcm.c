/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* doca_aes_gcm: encryption. */
#include <doca_aes_gcm.h>

#include "refused/refused.h"

REFUSED_OBJECT(doca_aes_gcm)
REFUSED_CALL(doca_aes_gcm_cap_get_max_num_tasks, struct doca_aes_gcm *object,
	     uint32_t *max_num_tasks)
REFUSED_CALL(doca_aes_gcm_key_create, struct doca_aes_gcm *object, const void *raw_key,
	     enum doca_aes_gcm_key_type key_type, struct doca_aes_gcm_key **key)
REFUSED_CALL(doca_aes_gcm_key_destroy, struct doca_aes_gcm_key *object)

#define FIELD(name, field, type)                                                                   \
	REFUSED_SET(doca_aes_gcm_task_##name##_set_##field, struct doca_aes_gcm_task_##name *task, \
		    type field)                                                                    \
	REFUSED_GET(type, doca_aes_gcm_task_##name##_get_##field,                                  \
		    const struct doca_aes_gcm_task_##name *task)

#define TASK(name)                                                                            \
	REFUSED_CAP(doca_aes_gcm_cap_task_##name##_is_supported,                              \
		    const struct doca_devinfo *devinfo)                                       \
	REFUSED_CAP(doca_aes_gcm_cap_task_##name##_is_tag_96_supported,                       \
		    const struct doca_devinfo *devinfo)                                       \
	REFUSED_CAP(doca_aes_gcm_cap_task_##name##_is_tag_128_supported,                      \
		    const struct doca_devinfo *devinfo)                                       \
	REFUSED_CAP(doca_aes_gcm_cap_task_##name##_is_key_type_supported,                     \
		    const struct doca_devinfo *devinfo, enum doca_aes_gcm_key_type key_type)  \
	REFUSED_CAP_GET(doca_aes_gcm_cap_task_##name##_get_max_iv_len,                        \
			const struct doca_devinfo *devinfo, uint32_t *out)                    \
	REFUSED_CAP_GET(doca_aes_gcm_cap_task_##name##_get_max_buf_size,                      \
			const struct doca_devinfo *devinfo, uint64_t *out)                    \
	REFUSED_CAP_GET(doca_aes_gcm_cap_task_##name##_get_max_list_buf_num_elem,             \
			const struct doca_devinfo *devinfo, uint32_t *out)                    \
	REFUSED_TASK(doca_aes_gcm, doca_aes_gcm_task_##name, uint32_t)                        \
	REFUSED_CALL(doca_aes_gcm_task_##name##_alloc_init, struct doca_aes_gcm *object,      \
		     const struct doca_buf *src, struct doca_buf *dst,                        \
		     struct doca_aes_gcm_key *key, const uint8_t *iv, uint32_t iv_len,        \
		     uint32_t tag_size, uint32_t aad_size, union doca_data user_data,         \
		     struct doca_aes_gcm_task_##name **task)                                  \
	FIELD(name, src, const struct doca_buf *)                                             \
	FIELD(name, dst, struct doca_buf *)                                                   \
	FIELD(name, key, struct doca_aes_gcm_key *)                                           \
	FIELD(name, tag_size, uint32_t)                                                       \
	FIELD(name, aad_size, uint32_t)                                                       \
	REFUSED_SET(doca_aes_gcm_task_##name##_set_iv, struct doca_aes_gcm_task_##name *task, \
		    const uint8_t *iv, uint32_t iv_len)                                       \
	REFUSED_GET(const uint8_t *, doca_aes_gcm_task_##name##_get_iv,                       \
		    const struct doca_aes_gcm_task_##name *task, uint32_t *iv_len)

TASK(encrypt)
TASK(decrypt)
