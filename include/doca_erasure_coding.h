/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Erasure coding by the engine of a device: redundancy blocks, from which lost data blocks are
 * recovered. rdma-core has no interface to this engine, so the library supports it on no device.
 * Each capability function and doca_ec_create() return DOCA_ERROR_NOT_SUPPORTED; programs that
 * look for a capable device find none.
 *
 * No object, matrix or task of this header exists. The other functions return an error, NULL or
 * 0, or do nothing.
 *
 * We do not know which of these functions are experimental. All are declared stable, so that no
 * program gets a warning.
 *
 * Thread safety: all functions may be called from any thread. On any error the outputs keep their
 * values. Semantics: DOCA 3.3, doca_erasure_coding.h.
 */
#ifndef DOCA_ERASURE_CODING_H_
#define DOCA_ERASURE_CODING_H_

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_ec;
struct doca_ec_matrix;
struct doca_ec_task_create;
struct doca_ec_task_galois_mul;
struct doca_ec_task_recover;
struct doca_ec_task_update;
struct doca_task;

/** Kind of a coding matrix. */
enum doca_ec_matrix_type {
	DOCA_EC_MATRIX_TYPE_CAUCHY = 1,	     /**< Cauchy matrix. */
	DOCA_EC_MATRIX_TYPE_VANDERMONDE = 2, /**< Vandermonde matrix. */
};

/**
 * Report the completion of a task that multiplies blocks with a matrix. The library never calls
 * it, because no task exists.
 *
 * @param task the task
 * @param task_user_data the user data of the task
 * @param ctx_user_data the user data of the context
 */
typedef void (*doca_ec_task_galois_mul_completion_cb_t)(struct doca_ec_task_galois_mul *task,
							union doca_data task_user_data,
							union doca_data ctx_user_data);

/**
 * Report the completion of a task that computes redundancy blocks. The library never calls it,
 * because no task exists.
 *
 * @param task the task
 * @param task_user_data the user data of the task
 * @param ctx_user_data the user data of the context
 */
typedef void (*doca_ec_task_create_completion_cb_t)(struct doca_ec_task_create *task,
						    union doca_data task_user_data,
						    union doca_data ctx_user_data);

/**
 * Report the completion of a task that updates redundancy blocks. The library never calls it,
 * because no task exists.
 *
 * @param task the task
 * @param task_user_data the user data of the task
 * @param ctx_user_data the user data of the context
 */
typedef void (*doca_ec_task_update_completion_cb_t)(struct doca_ec_task_update *task,
						    union doca_data task_user_data,
						    union doca_data ctx_user_data);

/**
 * Report the completion of a task that recovers lost blocks. The library never calls it, because
 * no task exists.
 *
 * @param task the task
 * @param task_user_data the user data of the task
 * @param ctx_user_data the user data of the context
 */
typedef void (*doca_ec_task_recover_completion_cb_t)(struct doca_ec_task_recover *task,
						     union doca_data task_user_data,
						     union doca_data ctx_user_data);

/**
 * Create an object for erasure coding. No device supports it.
 *
 * @param dev an open device
 * @param ec not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_create(struct doca_dev *dev, struct doca_ec **ec);

/**
 * Destroy an object for erasure coding. No object exists, because doca_ec_create() refuses.
 *
 * @param ec the object
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_destroy(struct doca_ec *ec);

/**
 * Get the context of an object for erasure coding. No object exists, because doca_ec_create()
 * refuses.
 *
 * @param ec not used
 * @return NULL
 */
DOCA_STABLE struct doca_ctx *doca_ec_as_ctx(struct doca_ec *ec);

/**
 * Get the maximum number of bytes of a block. No device supports this.
 *
 * @param devinfo the device, open or not
 * @param max_block_size number of bytes; not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_cap_get_max_block_size(const struct doca_devinfo *devinfo,
							uint64_t *max_block_size);

/**
 * Get the maximum length of a list of bufs. No device supports this.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len number of bufs; not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_buf_list_len);

/**
 * Create a coding matrix. No object exists, because doca_ec_create() refuses.
 *
 * @param ec the object
 * @param type kind of the matrix
 * @param data_block_count number of data blocks
 * @param rdnc_block_count number of redundancy blocks
 * @param matrix not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_matrix_create(struct doca_ec *ec, enum doca_ec_matrix_type type,
					       size_t data_block_count, size_t rdnc_block_count,
					       struct doca_ec_matrix **matrix);

/**
 * Create a coding matrix from its elements. No object exists, because doca_ec_create() refuses.
 *
 * @param ec the object
 * @param data not read
 * @param data_block_count number of data blocks
 * @param rdnc_block_count number of redundancy blocks
 * @param matrix not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_matrix_create_from_raw(struct doca_ec *ec, uint8_t *data,
							size_t data_block_count,
							size_t rdnc_block_count,
							struct doca_ec_matrix **matrix);

/**
 * Create a matrix that updates redundancy blocks. No object exists, because doca_ec_create()
 * refuses.
 *
 * @param ec the object
 * @param coding_matrix not used
 * @param update_indices not read
 * @param n_updates number of updated blocks
 * @param matrix not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_matrix_create_update(struct doca_ec *ec,
						      const struct doca_ec_matrix *coding_matrix,
						      uint32_t *update_indices, size_t n_updates,
						      struct doca_ec_matrix **matrix);

/**
 * Create a matrix that recovers lost blocks. No object exists, because doca_ec_create() refuses.
 *
 * @param ec the object
 * @param coding_matrix not used
 * @param missing_indices not read
 * @param n_missing number of lost blocks
 * @param matrix not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_matrix_create_recover(struct doca_ec *ec,
						       const struct doca_ec_matrix *coding_matrix,
						       uint32_t *missing_indices, size_t n_missing,
						       struct doca_ec_matrix **matrix);

/**
 * Destroy a matrix. No matrix exists.
 *
 * @param matrix the matrix
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_matrix_destroy(struct doca_ec_matrix *matrix);

/**
 * Check whether the device supports tasks that multiply blocks with a matrix. No device does.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t
doca_ec_cap_task_galois_mul_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure tasks that multiply blocks with a matrix. No object exists, because doca_ec_create()
 * refuses.
 *
 * @param ec the object
 * @param success_cb not called
 * @param error_cb not called
 * @param num_tasks number of tasks
 * @return
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_task_galois_mul_set_conf(
	struct doca_ec *ec, doca_ec_task_galois_mul_completion_cb_t success_cb,
	doca_ec_task_galois_mul_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Get the generic task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_task *doca_ec_task_galois_mul_as_task(struct doca_ec_task_galois_mul *task);

/**
 * Allocate a task to multiply blocks with a matrix. No object exists, because doca_ec_create()
 * refuses.
 *
 * @param ec the object
 * @param coding_matrix not used
 * @param src_buf not used
 * @param dst_buf not used
 * @param user_data not used
 * @param task not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_task_galois_mul_allocate_init(
	struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
	const struct doca_buf *src_buf, struct doca_buf *dst_buf, union doca_data user_data,
	struct doca_ec_task_galois_mul **task);

/**
 * Set the matrix of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param coding_matrix not used
 */
DOCA_STABLE void
doca_ec_task_galois_mul_set_coding_matrix(struct doca_ec_task_galois_mul *task,
					  const struct doca_ec_matrix *coding_matrix);

/**
 * Get the matrix of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE const struct doca_ec_matrix *
doca_ec_task_galois_mul_get_coding_matrix(const struct doca_ec_task_galois_mul *task);

/**
 * Set the source of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param src_buf not used
 */
DOCA_STABLE void doca_ec_task_galois_mul_set_src_buf(struct doca_ec_task_galois_mul *task,
						     const struct doca_buf *src_buf);

/**
 * Get the source of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE const struct doca_buf *
doca_ec_task_galois_mul_get_src_buf(const struct doca_ec_task_galois_mul *task);

/**
 * Set the destination of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param dst_buf not used
 */
DOCA_STABLE void doca_ec_task_galois_mul_set_dst_buf(struct doca_ec_task_galois_mul *task,
						     struct doca_buf *dst_buf);

/**
 * Get the destination of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_buf *
doca_ec_task_galois_mul_get_dst_buf(const struct doca_ec_task_galois_mul *task);

/**
 * Check whether the device supports tasks that compute redundancy blocks. No device does.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_cap_task_create_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure tasks that compute redundancy blocks. No object exists, because doca_ec_create()
 * refuses.
 *
 * @param ec the object
 * @param success_cb not called
 * @param error_cb not called
 * @param num_tasks number of tasks
 * @return
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t
doca_ec_task_create_set_conf(struct doca_ec *ec, doca_ec_task_create_completion_cb_t success_cb,
			     doca_ec_task_create_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Get the generic task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_task *doca_ec_task_create_as_task(struct doca_ec_task_create *task);

/**
 * Allocate a task to compute redundancy blocks. No object exists, because doca_ec_create()
 * refuses.
 *
 * @param ec the object
 * @param coding_matrix not used
 * @param original_data_blocks not used
 * @param rdnc_blocks not used
 * @param user_data not used
 * @param task not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_task_create_allocate_init(
	struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
	const struct doca_buf *original_data_blocks, struct doca_buf *rdnc_blocks,
	union doca_data user_data, struct doca_ec_task_create **task);

/**
 * Set the matrix of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param coding_matrix not used
 */
DOCA_STABLE void doca_ec_task_create_set_coding_matrix(struct doca_ec_task_create *task,
						       const struct doca_ec_matrix *coding_matrix);

/**
 * Get the matrix of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE const struct doca_ec_matrix *
doca_ec_task_create_get_coding_matrix(const struct doca_ec_task_create *task);

/**
 * Set the data blocks of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param original_data_blocks not used
 */
DOCA_STABLE void
doca_ec_task_create_set_original_data_blocks(struct doca_ec_task_create *task,
					     const struct doca_buf *original_data_blocks);

/**
 * Get the data blocks of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE const struct doca_buf *
doca_ec_task_create_get_original_data_blocks(const struct doca_ec_task_create *task);

/**
 * Set the buf of the redundancy blocks of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param rdnc_blocks not used
 */
DOCA_STABLE void doca_ec_task_create_set_rdnc_blocks(struct doca_ec_task_create *task,
						     struct doca_buf *rdnc_blocks);

/**
 * Get the buf of the redundancy blocks of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_buf *
doca_ec_task_create_get_rdnc_blocks(const struct doca_ec_task_create *task);

/**
 * Check whether the device supports tasks that update redundancy blocks. No device does.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_cap_task_update_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure tasks that update redundancy blocks. No object exists, because doca_ec_create()
 * refuses.
 *
 * @param ec the object
 * @param success_cb not called
 * @param error_cb not called
 * @param num_tasks number of tasks
 * @return
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t
doca_ec_task_update_set_conf(struct doca_ec *ec, doca_ec_task_update_completion_cb_t success_cb,
			     doca_ec_task_update_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Get the generic task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_task *doca_ec_task_update_as_task(struct doca_ec_task_update *task);

/**
 * Allocate a task to update redundancy blocks. No object exists, because doca_ec_create()
 * refuses.
 *
 * @param ec the object
 * @param update_matrix not used
 * @param original_updated_and_rdnc_blocks not used
 * @param updated_rdnc_blocks not used
 * @param user_data not used
 * @param task not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t
doca_ec_task_update_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *update_matrix,
				  const struct doca_buf *original_updated_and_rdnc_blocks,
				  struct doca_buf *updated_rdnc_blocks, union doca_data user_data,
				  struct doca_ec_task_update **task);

/**
 * Set the matrix of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param update_matrix not used
 */
DOCA_STABLE void doca_ec_task_update_set_update_matrix(struct doca_ec_task_update *task,
						       const struct doca_ec_matrix *update_matrix);

/**
 * Get the matrix of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE const struct doca_ec_matrix *
doca_ec_task_update_get_update_matrix(const struct doca_ec_task_update *task);

/**
 * Set the old blocks, the new blocks and the redundancy blocks of a task. No task exists. The
 * function does nothing.
 *
 * @param task not used
 * @param original_updated_and_rdnc_blocks not used
 */
DOCA_STABLE void doca_ec_task_update_set_original_updated_and_rdnc_blocks(
	struct doca_ec_task_update *task, const struct doca_buf *original_updated_and_rdnc_blocks);

/**
 * Get the old blocks, the new blocks and the redundancy blocks of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE const struct doca_buf *
doca_ec_task_update_get_original_updated_and_rdnc_blocks(const struct doca_ec_task_update *task);

/**
 * Set the buf of the new redundancy blocks of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param updated_rdnc_blocks not used
 */
DOCA_STABLE void doca_ec_task_update_set_updated_rdnc_blocks(struct doca_ec_task_update *task,
							     struct doca_buf *updated_rdnc_blocks);

/**
 * Get the buf of the new redundancy blocks of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_buf *
doca_ec_task_update_get_updated_rdnc_blocks(const struct doca_ec_task_update *task);

/**
 * Check whether the device supports tasks that recover lost blocks. No device does.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_cap_task_recover_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure tasks that recover lost blocks. No object exists, because doca_ec_create() refuses.
 *
 * @param ec the object
 * @param success_cb not called
 * @param error_cb not called
 * @param num_tasks number of tasks
 * @return
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t
doca_ec_task_recover_set_conf(struct doca_ec *ec, doca_ec_task_recover_completion_cb_t success_cb,
			      doca_ec_task_recover_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Get the generic task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_task *doca_ec_task_recover_as_task(struct doca_ec_task_recover *task);

/**
 * Allocate a task to recover lost blocks. No object exists, because doca_ec_create() refuses.
 *
 * @param ec the object
 * @param recover_matrix not used
 * @param available_blocks not used
 * @param recovered_data_blocks not used
 * @param user_data not used
 * @param task not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_STABLE doca_error_t doca_ec_task_recover_allocate_init(
	struct doca_ec *ec, const struct doca_ec_matrix *recover_matrix,
	const struct doca_buf *available_blocks, struct doca_buf *recovered_data_blocks,
	union doca_data user_data, struct doca_ec_task_recover **task);

/**
 * Set the matrix of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param recover_matrix not used
 */
DOCA_STABLE void
doca_ec_task_recover_set_recover_matrix(struct doca_ec_task_recover *task,
					const struct doca_ec_matrix *recover_matrix);

/**
 * Get the matrix of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE const struct doca_ec_matrix *
doca_ec_task_recover_get_recover_matrix(const struct doca_ec_task_recover *task);

/**
 * Set the blocks that are left of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param available_blocks not used
 */
DOCA_STABLE void doca_ec_task_recover_set_available_blocks(struct doca_ec_task_recover *task,
							   const struct doca_buf *available_blocks);

/**
 * Get the blocks that are left of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE const struct doca_buf *
doca_ec_task_recover_get_available_blocks(const struct doca_ec_task_recover *task);

/**
 * Set the buf of the recovered blocks of a task. No task exists. The function does nothing.
 *
 * @param task not used
 * @param recovered_data_blocks not used
 */
DOCA_STABLE void
doca_ec_task_recover_set_recovered_data_blocks(struct doca_ec_task_recover *task,
					       struct doca_buf *recovered_data_blocks);

/**
 * Get the buf of the recovered blocks of a task. No task exists.
 *
 * @param task not used
 * @return NULL
 */
DOCA_STABLE struct doca_buf *
doca_ec_task_recover_get_recovered_data(const struct doca_ec_task_recover *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ERASURE_CODING_H_ */
