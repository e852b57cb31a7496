/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* doca_sha: hashes. */
#include <doca_sha.h>

#include "refused/refused.h"

REFUSED_OBJECT(doca_sha)
REFUSED_CAP_GET(doca_sha_cap_get_max_list_buf_num_elem, const struct doca_devinfo *devinfo,
		uint32_t *out)
REFUSED_CAP_GET(doca_sha_cap_get_max_src_buf_size, const struct doca_devinfo *devinfo,
		uint64_t *out)
REFUSED_CAP_GET(doca_sha_cap_get_min_dst_buf_size, const struct doca_devinfo *devinfo,
		enum doca_sha_algorithm algorithm, uint32_t *out)
REFUSED_CAP_GET(doca_sha_cap_get_partial_hash_block_size, const struct doca_devinfo *devinfo,
		enum doca_sha_algorithm algorithm, uint32_t *out)
REFUSED_CALL(doca_sha_cap_get_max_num_tasks, struct doca_sha *object, uint32_t *max_num_tasks)

#define TASK(name)                                                                                \
	REFUSED_CAP(doca_sha_cap_task_##name##_get_supported, const struct doca_devinfo *devinfo, \
		    enum doca_sha_algorithm algorithm)                                            \
	REFUSED_TASK(doca_sha, doca_sha_task_##name, uint8_t)                                     \
	REFUSED_CALL(doca_sha_task_##name##_alloc_init, struct doca_sha *object,                  \
		     enum doca_sha_algorithm algorithm, const struct doca_buf *src,               \
		     struct doca_buf *dst, union doca_data user_data,                             \
		     struct doca_sha_task_##name **task)                                          \
	REFUSED_CALL(doca_sha_task_##name##_set_src, struct doca_sha_task_##name *object,         \
		     const struct doca_buf *src)                                                  \
	REFUSED_CALL(doca_sha_task_##name##_set_dst, struct doca_sha_task_##name *object,         \
		     struct doca_buf *dst)                                                        \
	REFUSED_CALL(doca_sha_task_##name##_set_algorithm, struct doca_sha_task_##name *object,   \
		     enum doca_sha_algorithm algorithm)                                           \
	REFUSED_GET(const struct doca_buf *, doca_sha_task_##name##_get_src,                      \
		    const struct doca_sha_task_##name *task)                                      \
	REFUSED_GET(const struct doca_buf *, doca_sha_task_##name##_get_dst,                      \
		    const struct doca_sha_task_##name *task)                                      \
	REFUSED_GET(enum doca_sha_algorithm, doca_sha_task_##name##_get_algorithm,                \
		    const struct doca_sha_task_##name *task)

TASK(hash)
TASK(partial_hash)
REFUSED_CALL(doca_sha_task_partial_hash_reset, struct doca_sha_task_partial_hash *object)
REFUSED_CALL(doca_sha_task_partial_hash_set_is_final_buf, struct doca_sha_task_partial_hash *object)
REFUSED_GET(uint8_t, doca_sha_task_partial_hash_get_is_final,
	    const struct doca_sha_task_partial_hash *task)
REFUSED_GET(uint8_t, doca_sha_task_partial_hash_get_has_result,
	    const struct doca_sha_task_partial_hash *task)
