/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* doca_ec: erasure coding. */
#include <doca_erasure_coding.h>

#include "refused/refused.h"

REFUSED_OBJECT(doca_ec)
REFUSED_CAP_GET(doca_ec_cap_get_max_block_size, const struct doca_devinfo *devinfo, uint64_t *out)
REFUSED_CAP_GET(doca_ec_cap_get_max_buf_list_len, const struct doca_devinfo *devinfo, uint32_t *out)

REFUSED_CALL(doca_ec_matrix_create, struct doca_ec *object, enum doca_ec_matrix_type type,
	     size_t data_blocks, size_t rdnc_blocks, struct doca_ec_matrix **matrix)
REFUSED_CALL(doca_ec_matrix_create_from_raw, struct doca_ec *object, uint8_t *data,
	     size_t data_blocks, size_t rdnc_blocks, struct doca_ec_matrix **matrix)
REFUSED_CALL(doca_ec_matrix_create_update, struct doca_ec *object,
	     const struct doca_ec_matrix *coding, uint32_t *update_indices, size_t n,
	     struct doca_ec_matrix **matrix)
REFUSED_CALL(doca_ec_matrix_create_recover, struct doca_ec *object,
	     const struct doca_ec_matrix *coding, uint32_t *missing_indices, size_t n,
	     struct doca_ec_matrix **matrix)
REFUSED_CALL(doca_ec_matrix_destroy, struct doca_ec_matrix *object)

#define FIELD(name, set, get, type)                                                                \
	REFUSED_SET(doca_ec_task_##name##_set_##set, struct doca_ec_task_##name *task, type value) \
	REFUSED_GET(type, doca_ec_task_##name##_get_##get, const struct doca_ec_task_##name *task)

/* The names of the matrix, the input and the output; the output's getter may have another name. */
#define TASK(name, matrix, in, out, get_out)                                                    \
	REFUSED_CAP(doca_ec_cap_task_##name##_is_supported, const struct doca_devinfo *devinfo) \
	REFUSED_TASK(doca_ec, doca_ec_task_##name, uint32_t)                                    \
	REFUSED_CALL(doca_ec_task_##name##_allocate_init, struct doca_ec *object,               \
		     const struct doca_ec_matrix *by, const struct doca_buf *src,               \
		     struct doca_buf *dst, union doca_data user_data,                           \
		     struct doca_ec_task_##name **task)                                         \
	FIELD(name, matrix, matrix, const struct doca_ec_matrix *)                              \
	FIELD(name, in, in, const struct doca_buf *)                                            \
	FIELD(name, out, get_out, struct doca_buf *)

TASK(galois_mul, coding_matrix, src_buf, dst_buf, dst_buf)
TASK(create, coding_matrix, original_data_blocks, rdnc_blocks, rdnc_blocks)
TASK(update, update_matrix, original_updated_and_rdnc_blocks, updated_rdnc_blocks,
     updated_rdnc_blocks)
TASK(recover, recover_matrix, available_blocks, recovered_data_blocks, recovered_data)
